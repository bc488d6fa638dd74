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
        approvals::{Said, detail, fetch, send_decision},
        terminal::Terminal,
        view::text,
    },
    context::Context,
    exit::Exit,
    output,
};

const QUESTION: &str = "[a]pprove, [d]eny, [s]kip or [q]uit? ";

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
        output::line(format_args!("\n{}\n", detail(approval, context.now())))?;
        loop {
            let answer = match self.ask(&id, QUESTION).await? {
                Answered::With(answer) => answer.to_lowercase(),
                Answered::Elsewhere => return self.decided_elsewhere(&id).await,
                Answered::Quit => return Ok(Next::Quit),
            };
            let verb = match answer.as_str() {
                "a" | "approve" => "approve",
                "d" | "deny" => "deny",
                "s" | "skip" => {
                    self.skipped.push(id);
                    return Ok(Next::On);
                }
                "q" | "quit" => return Ok(Next::Quit),
                _ => continue,
            };
            let reason = match self.ask(&id, "reason (enter for none): ").await? {
                Answered::With(reason) => reason,
                Answered::Elsewhere => return self.decided_elsewhere(&id).await,
                Answered::Quit => return Ok(Next::Quit),
            };
            return self
                .send(&id, verb, Some(reason).filter(|reason| !reason.is_empty()))
                .await;
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

    async fn send(&self, id: &str, verb: &str, reason: Option<String>) -> anyhow::Result<Next> {
        match send_decision(&self.client, id, verb, Said::because(reason.as_deref())).await {
            Ok(decided) => output::line(format_args!("{id} {}", text(&decided, "status")))?,
            // Lost a race, or ran out of time: the gateway says which.
            Err(ClientError::Refused(refusal)) => {
                output::line(output::safe(&format!("{id}: {refusal}")))?;
            }
            Err(error) => return Err(error.into()),
        }
        Ok(Next::On)
    }
}
