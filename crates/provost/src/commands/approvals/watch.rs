//! `provost approvals watch`: told of everything as it happens; at a terminal, asked.

mod desk;

use provost_core::event::Event;
use serde_json::{Value, json};

use crate::{
    client::{Client, ClientError, Feed, Target},
    commands::{
        terminal::{Terminal, interrupted},
        view::{moment, pages, text},
    },
    context::Context,
    exit::Exit,
    output,
};

pub(super) async fn run(context: &Context) -> anyhow::Result<Exit> {
    let client = context.client()?;
    // Listening begins before the list is read, so that nothing falls between the two.
    let feed = Feed::open(client.clone()).await?;
    let terminal = if context.json() {
        None
    } else {
        Terminal::open()
    };
    let watching = async {
        match terminal {
            Some(terminal) => desk::Desk::new(client, feed, terminal).run(context).await,
            None => tell(&client, feed, context.json()).await,
        }
    };
    tokio::select! {
        ended = watching => ended,
        () = interrupted() => Ok(Exit::Ok),
    }
}

async fn pending(client: &Client) -> Result<Vec<Value>, ClientError> {
    let target = Target::new("/approvals").query("status", "pending");
    pages(client, &target, ("x-next-after", "after"), usize::MAX).await
}

/// One line for what waits already, then one for each event.
async fn tell(client: &Client, mut feed: Feed, as_json: bool) -> anyhow::Result<Exit> {
    tell_pending(client, as_json).await?;
    loop {
        let Some(message) = feed.next().await? else {
            // The connection was lost before the first event told a place to go on from.
            tell_pending(client, as_json).await?;
            continue;
        };
        let Ok(event) = serde_json::from_str::<Value>(&message.data) else {
            continue;
        };
        tell_one(&event, as_json)?;
    }
}

async fn tell_pending(client: &Client, as_json: bool) -> anyhow::Result<()> {
    for approval in pending(client).await? {
        let waiting = json!({
            "type": "approval.pending",
            "at": approval.get("created_at"),
            "approval_id": approval.get("id"),
            "agent_id": approval.get("agent_id"),
            "tool": approval.get("tool"),
            "level": approval.get("level"),
            "status": approval.get("status"),
        });
        tell_one(&waiting, as_json)?;
    }
    Ok(())
}

fn tell_one(event: &Value, as_json: bool) -> anyhow::Result<()> {
    if as_json {
        output::json_line(event)
    } else {
        Ok(output::line(output::safe(&sentence(event)))?)
    }
}

/// An event in one line.
fn sentence(event: &Value) -> String {
    let name = |name: &str| text(event, name);
    let what = match name("type") {
        "approval.resolved" => format!("{} {}", name("status"), name("approval_id")),
        "approval.created" | "approval.pending" => format!("pending {}", name("approval_id")),
        "approval.claimed" => format!("claimed {}", name("approval_id")),
        "approval.escalated" => format!("escalated {}", name("approval_id")),
        "grant.created" => format!("granted {}", name("grant_id")),
        "grant.revoked" => format!("revoked {}", name("grant_id")),
        "stop" => format!("stopped {}", name("scope")),
        "resume" => format!("resumed {}", name("scope")),
        "keys.changed" => format!("key changed: {}", name("name")),
        other => other.to_owned(),
    };
    let call = if name("tool").is_empty() {
        String::new()
    } else {
        format!(
            "  {} → {} (for {})",
            name("agent_id"),
            name("tool"),
            name("level")
        )
    };
    let by = if name("by").is_empty() {
        String::new()
    } else {
        format!("  by {}", name("by"))
    };
    format!("{}  {what}{call}{by}", moment(name("at")))
}

/// The approval an event says is open, or no longer open.
fn change(data: &str) -> Option<(String, bool)> {
    let event: Event = serde_json::from_str(data).ok()?;
    let open = matches!(
        event,
        Event::ApprovalCreated(_) | Event::ApprovalEscalated(_)
    );
    let closed = matches!(event, Event::ApprovalResolved(_));
    let about = event.about().filter(|_| open || closed)?;
    Some((about.approval_id.to_string(), open))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_read_as_sentences() {
        for (event, expected) in [
            (
                json!({"type": "approval.created", "at": "2026-04-10T14:30:00.000Z", "approval_id": "3f9a",
                       "agent_id": "claude", "tool": "x", "level": "human", "status": "pending"}),
                "2026-04-10 14:30:00  pending 3f9a  claude → x (for human)",
            ),
            (
                json!({"type": "approval.resolved", "at": "2026-04-10T14:30:00.000Z", "approval_id": "3f9a",
                       "agent_id": "claude", "tool": "x", "level": "human", "status": "denied", "by": "human:alice"}),
                "2026-04-10 14:30:00  denied 3f9a  claude → x (for human)  by human:alice",
            ),
            (
                json!({"type": "stop", "at": "2026-04-10T14:30:00.000Z", "scope": "everything", "by": "admin:a"}),
                "2026-04-10 14:30:00  stopped everything  by admin:a",
            ),
        ] {
            assert_eq!(sentence(&event), expected);
        }
    }

    #[test]
    fn events_open_and_close_approvals() {
        let about =
            r#""approval_id":"a","agent_id":"x","tool":"t","level":"human","status":"pending""#;
        for (data, expected) in [
            (
                format!(r#"{{"id":1,"type":"approval.created",{about}}}"#),
                Some(("a".to_owned(), true)),
            ),
            (
                format!(r#"{{"id":1,"type":"approval.resolved",{about}}}"#),
                Some(("a".to_owned(), false)),
            ),
            (
                format!(r#"{{"id":1,"type":"approval.claimed",{about}}}"#),
                None,
            ),
            (
                r#"{"id":2,"type":"stop","scope":"everything","by":"x"}"#.to_owned(),
                None,
            ),
        ] {
            assert_eq!(change(&data), expected, "{data}");
        }
    }
}
