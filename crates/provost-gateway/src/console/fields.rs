//! What a form or a query says: names and values, bounded, in order.

use axum::extract::Request;
use http::{StatusCode, Uri};
use provost_core::{glob::Glob, time::Time};

use super::error::PageError;
use crate::doors::http::input;

#[derive(Debug, Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn of(text: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(text);
        Self(pairs.into_owned().collect())
    }

    pub(super) fn of_query(uri: &Uri) -> Self {
        Self::of(uri.query().unwrap_or_default().as_bytes())
    }

    pub(super) async fn of_body(request: Request, limit: usize) -> Result<Self, PageError> {
        let read = input::read(request, limit).await;
        let bytes = read.map_err(|error| {
            let title = match error.status() {
                StatusCode::PAYLOAD_TOO_LARGE => "That is too much",
                StatusCode::REQUEST_TIMEOUT => "That took too long",
                StatusCode::TOO_MANY_REQUESTS => "Too much at once",
                _ => "The form could not be read",
            };
            PageError::new(error.status(), title, error.words())
        })?;
        Ok(Self::of(&bytes))
    }

    /// Without the space around it; `None` where there is nothing else.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// As it was typed, with the space around it.
    pub(super) fn raw(&self, name: &str) -> Option<&str> {
        self.pairs()
            .find_map(|(has, value)| (has == name).then_some(value))
    }

    /// For a field that is shown again.
    pub(super) fn shown(&self, name: &str) -> String {
        self.text(name).unwrap_or_default().to_owned()
    }

    pub(super) fn all<'a, 'n>(
        &'a self,
        name: &'n str,
    ) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        let named = self.0.iter().filter(move |(has, _)| has == name);
        named
            .map(|(_, value)| value.trim())
            .filter(|value| !value.is_empty())
    }

    /// All of them, as they were sent.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Those with these names.
    pub(super) fn only(&self, names: &[&str]) -> Self {
        let named = self.0.iter().filter(|(name, _)| names.contains(&&**name));
        Self(named.cloned().collect())
    }

    #[must_use]
    pub(super) fn with_number(mut self, name: &str, number: u64) -> Self {
        self.0.push((name.to_owned(), number.to_string()));
        self
    }

    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    pub(super) fn glob(&self, name: &str) -> Result<Option<Glob>, PageError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        Glob::new(text)
            .map(Some)
            .map_err(|error| PageError::bad(format!("“{text}” is no pattern for names: {error}.")))
    }

    /// As a browser writes it (`2026-04-10T14:30`, which is read as UTC), or in full.
    pub(super) fn time(&self, name: &str) -> Result<Option<Time>, PageError> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        Time::parse(text)
            .or_else(|| Time::parse(&format!("{text}:00Z")))
            .or_else(|| Time::parse(&format!("{text}Z")))
            .map(Some)
            .ok_or_else(|| {
                PageError::bad(format!("“{text}” is no time such as 2026-04-10T14:30:00Z."))
            })
    }

    /// The address of a page with these fields, some of them replaced: a value of `None` leaves one out.
    pub(super) fn address(&self, path: &str, replaced: &[(&str, Option<&str>)]) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let is_replaced = |name: &str| replaced.iter().any(|(has, _)| *has == name);
        for (name, value) in self.0.iter().filter(|(name, _)| !is_replaced(name)) {
            query.append_pair(name, value);
        }
        for (name, value) in replaced {
            if let Some(value) = value {
                query.append_pair(name, value);
            }
        }
        match query.finish() {
            query if query.is_empty() => path.to_owned(),
            query => format!("{path}?{query}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_as_browsers_write_them() {
        let fields = Fields::of(b"id=a&id=b&note=+x%0D%0Ay+&empty=+&at=2026-04-10T14%3A30");
        assert_eq!(fields.all("id").collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fields.text("note"), Some("x\r\ny"));
        assert_eq!(fields.text("empty"), None);
        let at = fields.time("at").unwrap().unwrap();
        assert_eq!(at.to_string(), "2026-04-10T14:30:00.000Z");
        assert_eq!(
            Fields::of(b"a=1&b=2").address("/p", &[("b", None), ("c", Some("x y"))]),
            "/p?a=1&c=x+y"
        );
        assert_eq!(Fields::default().address("/p", &[]), "/p");
    }
}
