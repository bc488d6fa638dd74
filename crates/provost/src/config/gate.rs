//! How long questions stay open, how often agents may call, and what supervisors may see.

use std::time::Duration;

use provost_core::{gate::Settings, limits::LoopLimit};
use provost_gateway::admission::Limits;

use super::{fields::Map, reader::Reader, secret::Secret};

const DEFAULT_BODY: u64 = 4 * 1024 * 1024;

/// What is read beside [`Settings`].
pub(super) struct Approval {
    pub(super) settings: Settings,
    pub(super) notify_url: Option<Secret>,
}

pub(super) struct Bounds {
    pub(super) repeat: Option<LoopLimit>,
    pub(super) body_bytes: usize,
    pub(super) max_waiting: usize,
    pub(super) doors: Limits,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            repeat: None,
            body_bytes: DEFAULT_BODY as usize,
            max_waiting: Settings::default().max_waiting,
            doors: Limits::default(),
        }
    }
}

impl Reader<'_> {
    pub(super) fn read_approval(&mut self, top: &Map<'_>) -> Approval {
        const KEYS: [&str; 7] = [
            "max_pending_per_agent",
            "timeout_seconds",
            "supervisor_seconds",
            "permit_seconds",
            "claim_seconds",
            "notify_url",
            "channel",
        ];
        let mut settings = Settings::default();
        let Some(map) = top.get("approval").and_then(|field| self.map(field, &KEYS)) else {
            return Approval {
                settings,
                notify_url: None,
            };
        };
        self.read_times(&map, &mut settings);
        let most = map.filled("max_pending_per_agent");
        if let Some(most) = most.and_then(|field| self.number(field, 1, 1_000_000)) {
            settings.max_pending_per_agent = u32::try_from(most).unwrap_or(u32::MAX);
        }
        self.check_channel(&map);
        let notify_url = map
            .filled("notify_url")
            .and_then(|field| self.secret_url(field));
        Approval {
            settings,
            notify_url,
        }
    }

    fn read_times(&mut self, map: &Map<'_>, settings: &mut Settings) {
        // The ancestor takes 0 for its default.
        let most = 10 * 366 * 86_400;
        if let Some(seconds) = map
            .get("timeout_seconds")
            .and_then(|field| self.number(field, 0, most))
            .filter(|n| *n > 0)
        {
            settings.timeout = Duration::from_secs(seconds);
            settings.supervisor_time = settings.supervisor_time.min(settings.timeout / 2);
        }
        for (key, time) in [
            ("supervisor_seconds", &mut settings.supervisor_time),
            ("permit_seconds", &mut settings.permit_time),
            ("claim_seconds", &mut settings.claim_time),
        ] {
            if let Some(seconds) = map.get(key).and_then(|field| self.seconds(field)) {
                *time = seconds;
            }
        }
        if let Some(field) = map
            .get("supervisor_seconds")
            .filter(|_| settings.supervisor_time >= settings.timeout)
        {
            let message = "supervisors have all the time there is: a person is never asked what they leave open";
            self.warn(
                field.span(),
                message,
                "make `supervisor_seconds` shorter than `timeout_seconds`",
            );
        }
    }

    /// The ancestor's key.
    fn check_channel(&mut self, map: &Map<'_>) {
        let Some(field) = map.filled("channel") else {
            return;
        };
        let channels = [("queue", false), ("tty", true), ("tty-fallback", true)];
        if self.choice(field, &channels) == Some(true) {
            let help = "questions wait in the queue: decide them with `provost approvals`";
            self.warn(field.span(), "nobody is asked on a terminal", help);
        }
    }

    pub(super) fn read_grants(&mut self, top: &Map<'_>) -> Option<Duration> {
        let map = self.map(top.get("grants")?, &["max_duration"])?;
        self.duration(map.filled("max_duration")?)
    }

    pub(super) fn read_limits(&mut self, top: &Map<'_>) -> Bounds {
        let mut bounds = Bounds::default();
        let keys = [
            "loop",
            "body_bytes",
            "held_bytes",
            "max_waiting",
            "max_waiting_per_agent",
            "max_requests_per_agent",
            "max_connections_per_address",
        ];
        let Some(map) = top.get("limits").and_then(|field| self.map(field, &keys)) else {
            return bounds;
        };
        if let Some(field) = map.get("body_bytes") {
            bounds.body_bytes = self.number(field, 1024, 1 << 30).unwrap_or(DEFAULT_BODY) as usize;
        }
        if let Some(max) = map
            .get("max_waiting")
            .and_then(|field| self.number(field, 1, 10_000_000))
        {
            bounds.max_waiting = max as usize;
        }
        bounds.repeat = self.read_loop(&map);
        bounds.doors = self.read_doors(&map);
        if let Some(field) = map.get("held_bytes")
            && bounds
                .doors
                .held_bytes
                .is_some_and(|held| held / 2 < bounds.body_bytes)
        {
            self.error(
                field.span(),
                "one agent gets half of `held_bytes`, which is less than one body may have",
                "make it at least twice `body_bytes`",
            );
        }
        bounds
    }

    fn read_doors(&mut self, limits: &Map<'_>) -> Limits {
        let mut read = |key: &'static str, most: u64| {
            let field = limits.get(key)?;
            self.number(field, 1, most).map(|number| number as usize)
        };
        Limits {
            waiting_per_agent: read("max_waiting_per_agent", 10_000_000),
            requests_per_agent: read("max_requests_per_agent", 10_000_000),
            connections_per_address: read("max_connections_per_address", 10_000_000),
            held_bytes: read("held_bytes", 1 << 40),
        }
    }

    /// What is left out is as the ancestor has it: three times in ten seconds.
    fn read_loop(&mut self, limits: &Map<'_>) -> Option<LoopLimit> {
        let map = self.map(limits.get("loop")?, &["max", "window_seconds"])?;
        let max = map
            .get("max")
            .and_then(|field| self.number(field, 1, 1_000_000))
            .unwrap_or(3);
        let window = map
            .get("window_seconds")
            .and_then(|field| self.seconds(field));
        Some(LoopLimit {
            max: max as u32,
            window: window.unwrap_or(Duration::from_secs(10)),
        })
    }

    /// Whether supervisors see what calls hold. `asks_supervisors`: some rule says so.
    pub(super) fn read_supervisor(&mut self, top: &Map<'_>, asks_supervisors: bool) -> bool {
        const KEYS: [&str; 5] = [
            "expose_content",
            "enabled",
            "supervisor_agents",
            "auto_approve",
            "min_approvals",
        ];
        let Some(map) = top
            .get("supervisor")
            .and_then(|field| self.map(field, &KEYS))
        else {
            return true;
        };
        self.check_ancestors_supervisor(&map, asks_supervisors);
        map.get("expose_content")
            .and_then(|field| self.boolean(field))
            .unwrap_or(true)
    }

    /// What the ancestor switches on here is said elsewhere: by rules, keys and grants.
    fn check_ancestors_supervisor(&mut self, map: &Map<'_>, asks_supervisors: bool) {
        let enabled = map
            .get("enabled")
            .and_then(|field| self.boolean(field).map(|value| (field, value)));
        if let Some((field, true)) = enabled.filter(|_| !asks_supervisors) {
            let help = "say `action: supervisor` in the rules that it may decide, and give it a key with `role: supervisor`";
            self.warn(field.span(), "no rule asks a supervisor", help);
        }
        if let Some((field, false)) = enabled.filter(|_| asks_supervisors) {
            let help = "say `action: human_approval` in those rules instead, or remove `enabled`";
            self.warn(
                field.span(),
                "rules with `action: supervisor` ask supervisors all the same",
                help,
            );
        }
        if let Some(field) = map.get("supervisor_agents")
            && !self.texts(field).is_empty()
        {
            let help = "give each of them a key in `auth.keys` with `role: supervisor`";
            self.warn(
                field.span(),
                "`supervisor_agents` makes nobody a supervisor",
                help,
            );
        }
        let auto = map
            .get("auto_approve")
            .and_then(|field| self.boolean(field).map(|value| (field, value)));
        if let Some((field, true)) = auto {
            self.warn(
                field.span(),
                "nothing is approved by what was approved before",
                "make a grant instead: `provost grants`",
            );
        }
        if let Some(field) = map.get("min_approvals")
            && self
                .number(field, 0, u64::from(u32::MAX))
                .is_some_and(|number| number > 0)
            && auto.is_none_or(|(_, value)| value)
        {
            self.warn(
                field.span(),
                "`min_approvals` has no effect",
                "make a grant instead: `provost grants`",
            );
        }
    }
}
