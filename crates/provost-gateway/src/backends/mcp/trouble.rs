//! How the troubles of a server are told: in one line, without secrets, and in our own words.

use provost_core::ports::ForwardError;
use rmcp::{service::ServiceError, transport::streamable_http_client::StreamableHttpError};

use crate::secret::Secret;

/// What is told of a trouble.
const MAX_TEXT: usize = 400;
/// A value shorter than this hides nothing, and leaving it out would spoil every text.
const SHORTEST_SECRET: usize = 4;

/// A text as one line for people: short, printable, and without anything that must not be told.
pub(super) fn one_line(text: &str, secrets: &[Secret]) -> String {
    let mut text = text.to_owned();
    for secret in secrets {
        if secret.expose().len() >= SHORTEST_SECRET {
            text = text.replace(secret.expose(), "[secret]");
        }
    }
    let mut line = String::with_capacity(text.len().min(MAX_TEXT));
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        if word.is_empty() {
            continue;
        }
        if line.len() + word.len() > MAX_TEXT {
            let room = MAX_TEXT.saturating_sub(line.len());
            line.extend(word.chars().take(room / 4));
            line.push('…');
            break;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Why a request was not answered.
pub(super) fn service(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => error.message.to_string(),
        ServiceError::TransportSend(error) => transport(&*error.error),
        ServiceError::TransportClosed => "the connection was lost".to_owned(),
        other => other.to_string(),
    }
}

/// Why a message was not sent.
pub(super) fn transport(error: &(dyn std::error::Error + 'static)) -> String {
    cause(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// What our own client said, below what `rmcp` makes of it.
pub(super) fn cause<'e>(error: &'e (dyn std::error::Error + 'static)) -> Option<&'e ForwardError> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref::<ForwardError>() {
            return Some(found);
        }
        if let Some(StreamableHttpError::Client(found)) =
            error.downcast_ref::<StreamableHttpError<ForwardError>>()
        {
            return Some(found);
        }
        next = error.source();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn troubles_are_told_in_one_line_without_secrets() {
        let secrets = [Secret::from("hunter2"), Secret::from("y")];
        let told = one_line("bad\n\tkey hunter2\u{7} at x?k=hunter2", &secrets);
        assert_eq!(told, "bad key [secret] at x?k=[secret]");
        assert!(one_line(&"é".repeat(5000), &[]).len() <= MAX_TEXT);
        assert!(one_line(&"word ".repeat(5000), &[]).len() <= MAX_TEXT + 8);
    }
}
