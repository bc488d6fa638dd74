//! The desk of a person at a terminal: one question at a time, oldest first.
//!
//! A question may be answered elsewhere while it is shown. Whatever is typed then was meant for it, and
//! never counts for the next one.

use std::collections::VecDeque;

use serde_json::Value;

use super::{change, pending};
use crate::{
    client::{Client, ClientError, Feed},
    commands::{
        approvals::{
            Said, detail,
            detail::whole,
            fetch,
            remember::{HowLong, Remembering, offer, told},
            send_decision,
        },
        terminal::Terminal,
        view::{some_text, text},
    },
    context::Context,
    exit::Exit,
    output,
};

/// What may be answered: to be remembered only where the gateway would.
struct Menu {
    /// Each with what it says.
    session: Option<String>,
    always: Option<String>,
}

impl Menu {
    fn of(approval: &Value) -> Self {
        let alone = approval.get("needed").and_then(Value::as_u64).unwrap_or(1) <= 1;
        let is_call = text(approval, "kind") == "call";
        let label = |how_long, plain: &str| match offer(approval, how_long, "narrow") {
            Some(offer) => Some(text(offer, "label").to_owned()),
            // What an agent asks in its own words has one scope only.
            None => (alone && !is_call).then(|| plain.to_owned()),
        };
        let has_session = !text(approval, "session_id").is_empty();
        Self {
            session: label(HowLong::Session, "Allow for this session").filter(|_| has_session),
            always: label(HowLong::Always, "Always allow this"),
        }
    }

    fn question(&self) -> String {
        let lasting = [("e", &self.session), ("l", &self.always)];
        let lasting: String = lasting
            .into_iter()
            .filter_map(|(key, label)| Some(format!("[{key}] {}\n", label.as_deref()?)))
            .collect();
        let keys = match (&self.session, &self.always) {
            (Some(_), Some(_)) => "[e], [l], ",
            (Some(_), None) => "[e], ",
            (None, Some(_)) => "[l], ",
            (None, None) => "",
        };
        let question = format!(
            "{lasting}[a]pprove, {keys}[d]eny, read all of it in [f]ull, [s]kip or [q]uit? "
        );
        output::safe_lines(&question).into_owned()
    }

    fn read(&self, answer: &str) -> Option<Choice> {
        let approve = |remember| Some(Choice::Send("approve", remember));
        match answer {
            "a" | "approve" => approve(None),
            "e" | "session" if self.session.is_some() => approve(Some(HowLong::Session)),
            "l" | "always" if self.always.is_some() => approve(Some(HowLong::Always)),
            "d" | "deny" => Some(Choice::Send("deny", None)),
            "f" | "full" => Some(Choice::Full),
            "s" | "skip" => Some(Choice::Skip),
            "q" | "quit" => Some(Choice::Quit),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Choice {
    Send(&'static str, Option<HowLong>),
    /// Shows all of it.
    Full,
    Skip,
    Quit,
}

pub(super) struct Desk {
    client: Client,
    feed: Feed,
    terminal: Terminal,
    /// Ids of what is open and not yet shown, oldest first.
    queue: VecDeque<String>,
    /// Ids of what was left open.
    skipped: Vec<String>,
}

enum Answered {
    With(String),
    /// Somebody else decided it, or its time ran out.
    Elsewhere,
    Quit,
}

enum Next {
    On,
    Quit,
}

impl Desk {
    pub(super) fn new(client: Client, feed: Feed, terminal: Terminal) -> Self {
        Self {
            client,
            feed,
            terminal,
            queue: VecDeque::new(),
            skipped: Vec::new(),
        }
    }

    pub(super) async fn run(mut self, context: &Context) -> anyhow::Result<Exit> {
        self.look().await?;
        loop {
            if self.queue.is_empty() {
                output::line(
                    "nothing waits; you will be asked as soon as something does (ctrl-c ends)",
                )?;
            }
            while self.queue.is_empty() {
                self.hear().await?;
            }
            let Some(id) = self.queue.pop_front() else {
                continue;
            };
            let approval = match fetch(&self.client, &id, false).await {
                Ok(approval) => approval,
                Err(ClientError::Refused(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            if text(&approval, "status") != "pending" {
                continue;
            }
            if approval.get("you_approved") == Some(&Value::Bool(true)) {
                output::line(format_args!(
                    "{id}: you have approved it, and more people are needed"
                ))?;
                self.skipped.push(id);
                continue;
            }
            if let Next::Quit = self.decide(&approval, context).await? {
                return Ok(Exit::Ok);
            }
        }
    }

    /// Takes in what is open.
    async fn look(&mut self) -> Result<(), ClientError> {
        for approval in pending(&self.client).await? {
            self.enqueue(text(&approval, "id"));
        }
        Ok(())
    }

    fn enqueue(&mut self, id: &str) {
        let known = self
            .queue
            .iter()
            .chain(&self.skipped)
            .any(|known| known == id);
        if !known && !id.is_empty() {
            self.queue.push_back(id.to_owned());
        }
    }

    /// Waits for one event. Returns the approval it closed.
    async fn hear(&mut self) -> Result<Option<String>, ClientError> {
        let Some(message) = self.feed.next().await? else {
            self.look().await?;
            return Ok(None);
        };
        match change(&message.data) {
            Some((id, true)) => {
                self.enqueue(&id);
                Ok(None)
            }
            Some((id, false)) => {
                self.queue.retain(|waiting| *waiting != id);
                Ok(Some(id))
            }
            None => Ok(None),
        }
    }

    async fn decide(&mut self, approval: &Value, context: &Context) -> anyhow::Result<Next> {
        let id = text(approval, "id").to_owned();
        let shown = detail(approval, context.now());
        output::line(format_args!("\n{}\n", shown.text))?;
        // What is cut is asked about once more, unless all of it was read.
        let mut unread = shown.more;
        let menu = Menu::of(approval);
        loop {
            let answer = match self.ask(&id, &menu.question()).await? {
                Answered::With(answer) => answer.to_lowercase(),
                Answered::Elsewhere => return self.decided_elsewhere(&id).await,
                Answered::Quit => return Ok(Next::Quit),
            };
            let (verb, remember) = match menu.read(&answer) {
                Some(Choice::Send(verb, remember)) => (verb, remember),
                Some(Choice::Full) => {
                    let all = fetch(&self.client, &id, true).await;
                    let all = all.as_ref().unwrap_or(approval);
                    output::line(format_args!("\n{}\n", whole(all)))?;
                    unread = 0;
                    continue;
                }
                Some(Choice::Skip) => {
                    self.skipped.push(id);
                    return Ok(Next::On);
                }
                Some(Choice::Quit) => return Ok(Next::Quit),
                None => continue,
            };
            if verb == "approve" && unread > 0 {
                let question = format!(
                    "you have not read {unread} lines of it; approve it all the same? [y]es or [n]o: "
                );
                match self.ask(&id, &question).await? {
                    Answered::With(answer) if matches!(&*answer.to_lowercase(), "y" | "yes") => {}
                    Answered::With(_) => continue,
                    Answered::Elsewhere => return self.decided_elsewhere(&id).await,
                    Answered::Quit => return Ok(Next::Quit),
                }
            }
            let reason = match self.ask(&id, "reason (enter for none): ").await? {
                Answered::With(reason) => reason,
                Answered::Elsewhere => return self.decided_elsewhere(&id).await,
                Answered::Quit => return Ok(Next::Quit),
            };
            let said = Said {
                remember: remember.map(Remembering::narrowly),
                ..Said::because(Some(&*reason).filter(|reason| !reason.is_empty()))
            };
            let session = some_text(approval, "session_id");
            return self.send(&id, verb, said, session).await;
        }
    }

    /// Asks about an approval, for as long as it is open.
    async fn ask(&mut self, id: &str, question: &str) -> anyhow::Result<Answered> {
        self.terminal.clear();
        output::prompt(question)?;
        loop {
            tokio::select! {
                line = self.terminal.line() => {
                    return Ok(line.map_or(Answered::Quit, Answered::With));
                }
                message = self.feed.next() => {
                    let Some(message) = message? else {
                        self.look().await?;
                        continue;
                    };
                    match change(&message.data) {
                        Some((closed, false)) if closed == id => return Ok(Answered::Elsewhere),
                        Some((closed, false)) => self.queue.retain(|waiting| *waiting != closed),
                        Some((opened, true)) if opened != id => self.enqueue(&opened),
                        _ => {}
                    }
                }
            }
        }
    }

    async fn decided_elsewhere(&mut self, id: &str) -> anyhow::Result<Next> {
        let approval = fetch(&self.client, id, false).await?;
        let by = text(&approval, "resolved_by");
        let by = if by.is_empty() {
            String::new()
        } else {
            format!(" by {by}")
        };
        let told = format!(
            "\n{id} is {}{by} meanwhile; enter goes on ",
            text(&approval, "status")
        );
        let answer = self.terminal.ask(&output::safe_lines(&told)).await?;
        Ok(answer.map_or(Next::Quit, |_| Next::On))
    }

    /// `session` is the one that the agent asked in.
    async fn send(
        &self,
        id: &str,
        verb: &str,
        said: Said<'_>,
        session: Option<&str>,
    ) -> anyhow::Result<Next> {
        let for_session = said
            .remember
            .as_ref()
            .is_some_and(Remembering::is_for_session);
        match send_decision(&self.client, id, verb, said).await {
            Ok(decided) => {
                output::line(format_args!("{id} {}", text(&decided, "status")))?;
                if let Some(remembered) = told(&decided, session.filter(|_| for_session)) {
                    output::line(remembered)?;
                }
            }
            // Lost a race, or ran out of time: the gateway says which.
            Err(ClientError::Refused(refusal)) => {
                output::line(output::safe(&format!("{id}: {refusal}")))?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Next::On)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_remembered_is_neither_offered_nor_taken() {
        let offer = |how_long: &str| json!({"remember": how_long, "breadth": "narrow", "label": "Allow: this"});
        let both = [offer("session"), offer("always")];
        let wide = json!({"remember": "always", "breadth": "any", "label": "Allow: all"});
        for (approval, session, always) in [
            (
                json!({"kind": "call", "session_id": "s1", "remember": both}),
                true,
                true,
            ),
            (
                json!({"kind": "call", "remember": [offer("always")]}),
                false,
                true,
            ),
            (
                json!({"kind": "call", "session_id": "s1", "needed": 2}),
                false,
                false,
            ),
            (
                json!({"kind": "call", "session_id": "s1", "remember": [wide]}),
                false,
                false,
            ),
            (
                json!({"kind": "permission", "session_id": "s1"}),
                true,
                true,
            ),
            (json!({"kind": "permission"}), false, true),
            (json!({"kind": "permission", "needed": 2}), false, false),
        ] {
            let menu = Menu::of(&approval);
            let takes = |answer: &str| menu.read(answer).is_some();
            assert_eq!(takes("e"), session, "{approval}");
            assert_eq!(takes("l"), always, "{approval}");
            assert!(takes("a") && takes("d") && takes("f") && takes("s") && takes("q"));
            let question = menu.question();
            assert_eq!(question.contains("[e] Allow"), session, "{question}");
            assert_eq!(question.contains("[l] Al"), always, "{question}");
        }
    }
}
