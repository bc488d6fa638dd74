//! Who is asked about what, and who is asked next.

mod lints;

use std::{collections::HashSet, sync::Arc, time::Duration};

use provost_core::{
    key::Role,
    people::{Address, Directory, Fallback, Person, Route, Step, Watcher},
};
use provost_gateway::channels::email;
use serde_json::json;

use super::{
    channels::ChannelsConfig,
    fields::{Field, Map},
    node::Span,
    reader::Reader,
};
use lints::Placed;

type Groups = Vec<(String, Vec<Arc<str>>)>;

impl Reader<'_> {
    /// `usual` is how long a question stays open where no route says.
    pub(super) fn read_people(
        &mut self,
        top: &Map<'_>,
        channels: &ChannelsConfig,
        usual: Duration,
    ) -> Directory {
        let mut directory = Directory::default();
        if let Some(field) = top.get("people") {
            for item in self.items(field) {
                let person = self.read_person(item, channels);
                let person = person.filter(|person| self.is_new(item, person, &directory));
                if let Some(person) = person {
                    self.lint_person(item, &person, &directory);
                    directory.people.push(person);
                }
            }
        } else if let Some(telegram) = &channels.telegram {
            directory.people = telegram.allow.iter().map(|id| user(*id)).collect();
        }
        let groups = self.read_groups(top, &directory);
        if let Some(field) = top.get("routes") {
            for (at, item) in self.items(field).enumerate() {
                if let Some(route) = self.read_route(item, at, (&directory, &groups), usual) {
                    self.lint_route(item, &route, &directory.routes);
                    directory.routes.push(route);
                }
            }
        }
        self.lint_channels(top, &directory, channels);
        directory.watchers = channels
            .webhooks
            .iter()
            .map(|hook| Watcher {
                at: Address {
                    channel: "webhook".into(),
                    address: json!({"hook": hook.name()}),
                },
            })
            .collect();
        directory
    }

    fn read_person(&mut self, item: Field<'_>, channels: &ChannelsConfig) -> Option<Person> {
        let map = self.map(item, &["name", "role", "channels", "hours"])?;
        let name = self
            .require(&map, "name", "a person")
            .and_then(|field| self.name(field));
        let role = map.filled("role").and_then(|field| {
            let roles = [Role::Human, Role::Admin].map(|role| (role.as_str(), role));
            self.choice(field, &roles)
        });
        let addresses = map
            .get("channels")
            .map(|field| self.read_addresses(field, channels))
            .unwrap_or_default();
        let hours = map.filled("hours").and_then(|field| {
            let text = self.text(field)?;
            text.parse()
                .map_err(|error: provost_core::people::BadHours| {
                    self.error(field.node.span, error.to_string(), "");
                })
                .ok()
        });
        Some(Person {
            name: name?.into(),
            role: role.unwrap_or(Role::Human),
            addresses,
            hours,
        })
    }

    fn is_new(&mut self, item: Field<'_>, person: &Person, directory: &Directory) -> bool {
        let is_new = directory.named(&person.name).is_none();
        if !is_new {
            let message = format!("there are two people called `{}`", person.name);
            self.error(item.span(), message, "give each a name of their own");
        }
        is_new
    }

    fn read_addresses(&mut self, field: Field<'_>, channels: &ChannelsConfig) -> Vec<Address> {
        let Some(map) = self.map(field, &["telegram", "email"]) else {
            return Vec::new();
        };
        let mut addresses = Vec::new();
        if let Some(field) = map.filled("telegram") {
            self.check_configured(field, channels.telegram.is_some());
            let id = self.text(field).and_then(|text| text.parse::<i64>().ok());
            match id {
                Some(id) => addresses.push(Address {
                    channel: "telegram".into(),
                    address: json!({"tg_chat_id": id}),
                }),
                None => self.expected(field, "the number of a user", ""),
            }
        }
        if let Some(field) = map.filled("email") {
            self.check_configured(field, channels.email.is_some());
            let text = self.text(field).unwrap_or_default();
            match email::Address::parse(text) {
                Ok(address) => addresses.push(Address {
                    channel: "email".into(),
                    address: address.to_target(),
                }),
                Err(error) => self.error(field.node.span, error.to_string(), ""),
            }
        }
        addresses
    }

    fn check_configured(&mut self, field: Field<'_>, is_configured: bool) {
        if !is_configured {
            let message = format!("the channel `{}` is not configured", field.name);
            let help = format!("set `channels.{}`, or remove this", field.name);
            self.error(field.span(), message, help);
        }
    }

    fn read_groups(&mut self, top: &Map<'_>, directory: &Directory) -> Groups {
        let Some(field) = top.get("groups") else {
            return Groups::new();
        };
        let mut groups = Groups::new();
        for (name, _, members) in self.pairs(field) {
            let members = self.names(members, directory, &groups);
            groups.push((name.to_owned(), members));
        }
        groups
    }

    /// Names of people and of groups.
    fn names(&mut self, field: Field<'_>, directory: &Directory, groups: &Groups) -> Vec<Arc<str>> {
        let mut names = Vec::new();
        for (text, span) in self.texts(field) {
            let group = groups.iter().find(|(name, _)| name == text);
            if let Some((_, members)) = group {
                names.extend(members.iter().cloned());
            } else if let Some(person) = directory.named(text) {
                names.push(person.name.clone());
            } else {
                let help = "name somebody of `people`, or a group of `groups`";
                self.error(
                    span,
                    format!("there is no person or group called `{text}`"),
                    help,
                );
            }
        }
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        names
    }

    fn read_route(
        &mut self,
        item: Field<'_>,
        at: usize,
        (directory, groups): (&Directory, &Groups),
        usual: Duration,
    ) -> Option<Route> {
        const KEYS: [&str; 9] = [
            "name",
            "tools",
            "risk",
            "ask",
            "remind",
            "escalate",
            "approvals_needed",
            "timeout",
            "default",
        ];
        let map = self.map(item, &KEYS)?;
        let name = match map.filled("name") {
            Some(field) => self.name(field)?,
            None => format!("route-{}", at + 1),
        };
        let tools = map.get("tools").map(|field| self.texts(field));
        let tools = tools.unwrap_or_default();
        let tools = tools
            .into_iter()
            .filter_map(|(text, span)| self.glob(text, span))
            .collect();
        let risky = map.get("risk").and_then(|field| self.boolean(field));
        let needed = map
            .filled("approvals_needed")
            .and_then(|field| self.number(field, 1, 9));
        let fallbacks = [("approve", Fallback::Approve), ("deny", Fallback::Deny)];
        let fallback = map
            .filled("default")
            .and_then(|field| self.choice(field, &fallbacks));
        let timeout = map.filled("timeout").and_then(|field| self.duration(field));
        let steps = self.read_steps(&map, directory, groups);
        self.lint_times(&steps, timeout.unwrap_or(usual));
        let steps: Vec<Step> = steps.into_iter().map(|placed| placed.step).collect();
        if let (Some(needed), Some(field)) = (needed, map.filled("approvals_needed")) {
            self.check_quorum(field, needed, &steps, fallback);
        }
        Some(Route {
            name: name.into(),
            tools,
            risky: risky.unwrap_or(false),
            needed: needed.map_or(1, |needed| u8::try_from(needed).unwrap_or(9)),
            steps,
            timeout,
            fallback,
        })
    }

    fn check_quorum(
        &mut self,
        field: Field<'_>,
        needed: u64,
        steps: &[Step],
        fallback: Option<Fallback>,
    ) {
        let people: HashSet<_> = steps.iter().flat_map(|step| &step.people).collect();
        if (people.len() as u64) < needed {
            let message = format!("{needed} people are needed, and {} are asked", people.len());
            self.error(field.span(), message, "ask more people, or need fewer");
        }
        if needed > 1 && fallback == Some(Fallback::Approve) {
            let message = "`default: approve` is not allowed where several people must approve";
            self.error(field.span(), message, "write `default: deny`");
        }
    }

    fn read_steps(&mut self, map: &Map<'_>, directory: &Directory, groups: &Groups) -> Vec<Placed> {
        let (remind, remind_at) = self.read_remind(map);
        let mut steps = Vec::new();
        if let Some(field) = self.require(map, "ask", "a route") {
            let step = Step {
                after: Duration::ZERO,
                people: self.names(field, directory, groups),
                remind,
            };
            steps.push(Placed {
                step,
                after: None,
                remind: remind_at,
            });
        }
        let Some(field) = map.get("escalate") else {
            return steps;
        };
        for item in self.items(field) {
            let Some(map) = self.map(item, &["after", "to", "remind"]) else {
                continue;
            };
            let after = self
                .require(&map, "after", "an escalation")
                .and_then(|field| self.duration(field));
            let people = self
                .require(&map, "to", "an escalation")
                .map(|field| self.names(field, directory, groups));
            let (own, own_at) = self.read_remind(&map);
            if let (Some(after), Some(people)) = (after, people) {
                let step = Step {
                    after,
                    people,
                    remind: own.or(remind),
                };
                steps.push(Placed {
                    step,
                    after: map.get("after").map(|field| field.span()),
                    remind: own_at.or(remind_at),
                });
            }
        }
        steps.sort_by_key(|placed| placed.step.after);
        steps
    }

    fn read_remind(&mut self, map: &Map<'_>) -> (Option<Duration>, Option<Span>) {
        let field = map.filled("remind");
        let every = field.and_then(|field| self.duration(field));
        (every, field.map(|field| field.span()))
    }
}

/// Somebody of whom nothing is known but that they may decide.
fn user(id: i64) -> Person {
    Person {
        name: format!("telegram:{id}").into(),
        role: Role::Human,
        addresses: vec![Address {
            channel: "telegram".into(),
            address: json!({"tg_chat_id": id}),
        }],
        hours: None,
    }
}
