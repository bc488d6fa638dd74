//! What is said of people and cannot be meant: nobody is reached, or nothing ever comes of it.

use std::time::Duration;

use provost_core::{
    glob::Glob,
    people::{Directory, Person, Route, Step},
    time::format_duration,
};

use super::super::{
    channels::ChannelsConfig,
    fields::{Field, Map},
    node::{Kind, Span},
    reader::Reader,
};

/// A step, and where its times stand.
pub(super) struct Placed {
    pub(super) step: Step,
    pub(super) after: Option<Span>,
    pub(super) remind: Option<Span>,
}

impl Reader<'_> {
    /// `others` are those before.
    pub(super) fn lint_person(&mut self, item: Field<'_>, person: &Person, others: &Directory) {
        let name = &person.name;
        if person.addresses.is_empty() {
            let help = "give them an address in `channels`; without one they are told of nothing, and decide \
                        only where they look: in the console or a terminal";
            self.warn(
                item.span(),
                format!("`{name}` is reached on no channel"),
                help,
            );
        }
        for own in &person.addresses {
            let Some(other) = others.person(&own.channel, &own.address) else {
                continue;
            };
            let message = format!(
                "`{name}` and `{}` have one {} address",
                other.name, own.channel
            );
            let help = format!(
                "give each an address of their own; whoever answers there is taken for `{}`",
                other.name
            );
            self.warn(item.span(), message, help);
        }
    }

    /// What is due when the question is over, or the next step has taken over, never happens.
    pub(super) fn lint_times(&mut self, steps: &[Placed], open: Duration) {
        let mut reminded = Vec::new();
        for (
            at,
            Placed {
                step,
                after,
                remind,
            },
        ) in steps.iter().enumerate()
        {
            let next = steps.get(at + 1).map_or(open, |next| next.step.after);
            if let Some(span) = after.filter(|_| step.after >= open) {
                let help = "escalate sooner, or give the route a longer `timeout`";
                let message = format!(
                    "the question is over by then: it stays open for {}",
                    format_duration(open)
                );
                self.warn(span, message, help);
            }
            if let (Some(span), Some(every)) = (*remind, step.remind) {
                reminded.push((span, step.after + every < next.min(open)));
            }
        }
        reminded.sort();
        // What is said once for all steps is of use if it is for any.
        for spot in reminded.chunk_by(|(a, _), (b, _)| a == b) {
            if let Some((span, _)) = spot.first().filter(|_| !spot.iter().any(|(_, ever)| *ever)) {
                let message = "nobody is ever reminded: the next step, or the end, comes first";
                self.warn(*span, message, "remind sooner, or remove it");
            }
        }
    }

    /// The first route that matches counts: one behind others that match all of it never does.
    pub(super) fn lint_route(&mut self, item: Field<'_>, route: &Route, before: &[Route]) {
        let earlier: Vec<&Route> = before
            .iter()
            .filter(|earlier| !earlier.risky || route.risky)
            .collect();
        let found = |covers: &dyn Fn(&Route) -> bool| {
            let found = earlier.iter().find(|earlier| covers(earlier));
            found.map(|earlier| earlier.name.to_string())
        };
        let by: Option<Vec<String>> = if route.tools.is_empty() {
            found(&takes_all).map(|name| vec![name])
        } else {
            let tools = route.tools.iter();
            tools
                .map(|glob| found(&|route| takes(route, glob)))
                .collect()
        };
        if let Some(mut by) = by {
            by.sort();
            by.dedup();
            let message = format!("the route `{}` never matches", route.name);
            let help = format!(
                "put it before `{}`, where all that it would match goes, or remove it",
                by.join("` and `")
            );
            self.warn(item.span(), message, help);
        }
    }

    pub(super) fn lint_channels(
        &mut self,
        top: &Map<'_>,
        directory: &Directory,
        channels: &ChannelsConfig,
    ) {
        if channels.email.is_some() && !directory.has_any_on("email") {
            let help = "give somebody of `people` an e-mail address: as it is, an agent may name any address for \
                        its own requests, its own mailbox included";
            self.warn_of_channel(top, "email", help);
        }
        if channels.telegram.is_some() && !directory.has_any_on("telegram") {
            let help = "give somebody of `people` the number of their user: as it is, no call is asked there, and \
                        an agent may name any chat for its own requests, which those in `allow` decide";
            self.warn_of_channel(top, "telegram", help);
        }
    }

    fn warn_of_channel(&mut self, top: &Map<'_>, name: &str, help: &str) {
        let Some(Kind::Map(entries)) = top.get("channels").map(|field| &field.node.kind) else {
            return;
        };
        let named = |key: &str| key == name;
        let entry = entries
            .iter()
            .find(|entry| entry.key.scalar().is_some_and(|key| named(&key.text)));
        if let Some(entry) = entry {
            let message = format!("nobody of `people` has an address on `{name}`");
            self.warn(entry.key.span, message, help);
        }
    }
}

fn takes_all(route: &Route) -> bool {
    route.tools.is_empty() || route.tools.iter().any(Glob::is_everything)
}

fn takes(route: &Route, glob: &Glob) -> bool {
    route.tools.is_empty() || route.tools.iter().any(|wide| wide.covers(glob))
}
