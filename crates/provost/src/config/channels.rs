//! The ways to people: Telegram, e-mail and webhooks.

use http::Uri;
use provost_gateway::{
    channels::{
        Allowed, AllowedUrl, SigningKey, email,
        telegram::{self, API_URL, Mode},
        webhook::{Hook, Style},
    },
    secret::Secret,
};

use super::{
    fields::{Field, Map},
    reader::Reader,
};

#[derive(Clone, Default)]
pub(crate) struct ChannelsConfig {
    pub(crate) telegram: Option<telegram::Settings>,
    pub(crate) email: Option<email::Settings>,
    pub(crate) webhooks: Vec<Hook>,
    /// Where the callbacks of requests may go.
    pub(crate) callbacks: Allowed,
    /// Where people reach this gateway.
    pub(crate) public_url: Option<String>,
}

impl std::fmt::Debug for ChannelsConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChannelsConfig").finish_non_exhaustive()
    }
}

/// The events that webhooks may be told of.
const EVENTS: [&str; 2] = ["approval.created", "approval.resolved"];

impl Reader<'_> {
    pub(super) fn read_channels(&mut self, top: &Map<'_>) -> ChannelsConfig {
        let public_url = top.filled("public_url").and_then(|field| self.url(field));
        let mut channels = ChannelsConfig {
            public_url,
            ..ChannelsConfig::default()
        };
        let Some(map) = top.get("channels").and_then(|field| {
            self.guarded_map(field, &["telegram", "email", "webhooks", "callbacks"])
        }) else {
            return channels;
        };
        channels.telegram = map
            .get("telegram")
            .and_then(|field| self.read_telegram(field));
        let link = channels.public_url.as_deref();
        channels.email = map
            .get("email")
            .and_then(|field| self.read_email(field, link));
        if let Some(field) = map.get("webhooks") {
            for item in self.items(field) {
                channels.webhooks.extend(self.read_webhook(item));
            }
        }
        if let Some(field) = map.get("callbacks") {
            channels.callbacks = self.read_callbacks(field);
        }
        channels
    }

    fn read_callbacks(&mut self, field: Field<'_>) -> Allowed {
        let map = self.map(field, &["allow"]);
        let Some(allow) = map.and_then(|map| map.get("allow")) else {
            return Allowed::default();
        };
        let mut urls = Vec::new();
        for (text, span) in self.texts(allow) {
            match AllowedUrl::parse(text) {
                Ok(url) => urls.push(url),
                Err(error) => {
                    let help =
                        "write it as `https://host/path`, with `/*` at the end for all below";
                    self.error(span, format!("`{text}`: {error}"), help);
                }
            }
        }
        Allowed::only(urls)
    }

    fn read_telegram(&mut self, field: Field<'_>) -> Option<telegram::Settings> {
        const KEYS: [&str; 5] = ["token", "api_url", "mode", "webhook_secret", "allow"];
        let map = self.guarded_map(field, &KEYS)?;
        let token = self
            .require(&map, "token", "Telegram")
            .and_then(|field| self.read_token(field));
        let api_url = match map.filled("api_url") {
            Some(field) => self.url(field)?,
            None => API_URL.to_owned(),
        };
        let allow = map.get("allow").map(|field| self.user_ids(field));
        Some(telegram::Settings {
            mode: self.read_mode(&map)?,
            token: token?,
            api_url,
            allow: allow.unwrap_or_default(),
        })
    }

    fn read_token(&mut self, field: Field<'_>) -> Option<Secret> {
        let token = self.secret(field)?;
        if self.stands_in(field, &token) {
            return Some(token);
        }
        if let Err(why) = telegram::check_token(&token) {
            let help = "copy it whole from the message in which @BotFather gave it to you";
            self.error(field.node.span, why, help);
            return None;
        }
        Some(token)
    }

    fn read_mode(&mut self, map: &Map<'_>) -> Option<Mode> {
        let by_webhook = map
            .filled("mode")
            .map(|field| self.choice(field, &[("poll", false), ("webhook", true)]));
        let secret = map.filled("webhook_secret");
        if by_webhook.flatten().unwrap_or(false) {
            let field = self.require(map, "webhook_secret", "`mode: webhook`")?;
            let secret = self.secret(field)?;
            return Some(Mode::Webhook { secret });
        }
        if let Some(field) = secret {
            self.cover(field.node);
            let help = "write `mode: webhook`, or remove it";
            self.error(
                field.span(),
                "`webhook_secret` is for `mode: webhook`",
                help,
            );
        }
        Some(Mode::Poll)
    }

    fn user_ids(&mut self, field: Field<'_>) -> Vec<i64> {
        let mut ids = Vec::new();
        for (text, span) in self.texts(field) {
            match text.parse() {
                Ok(id) if id > 0 => ids.push(id),
                _ => {
                    let message = format!("`{text}` is not the id of a user of Telegram");
                    self.error(
                        span,
                        message,
                        "it is a number; @userinfobot tells you yours",
                    );
                }
            }
        }
        ids
    }

    fn read_email(&mut self, field: Field<'_>, link: Option<&str>) -> Option<email::Settings> {
        let map = self.guarded_map(field, &["smtp", "from", "imap", "require_from"])?;
        let smtp = self.require(&map, "smtp", "e-mail").and_then(|field| {
            self.mail_setting(field, "smtps://unset.invalid", email::Smtp::parse)
        });
        let from = self.require(&map, "from", "e-mail").and_then(|field| {
            let text = self.text(field)?;
            let read = email::Sender::parse(text);
            self.fits(field, read)
        });
        let imap = map.filled("imap").map(|field| {
            self.mail_setting(
                field,
                "imaps://user:password@unset.invalid/INBOX",
                email::Imap::parse,
            )
        });
        let require_from = map
            .get("require_from")
            .and_then(|field| self.boolean(field))
            .unwrap_or(false);
        let link_base = link.and_then(|link| email::LinkBase::parse(link).ok());
        Some(email::Settings {
            smtp: smtp?,
            from: from?,
            imap: match imap {
                Some(imap) => Some(imap?),
                None => None,
            },
            require_from,
            link_base,
        })
    }

    /// The address of a mail server, which holds a password. `sample` stands in where it is not known.
    fn mail_setting<T>(
        &mut self,
        field: Field<'_>,
        sample: &str,
        read: impl Fn(&str) -> Result<T, email::BadSetting>,
    ) -> Option<T> {
        let text = self.secret(field)?;
        let known = !self.stands_in(field, &text);
        let read = read(if known { text.expose() } else { sample });
        self.fits(field, read)
    }

    fn fits<T>(&mut self, field: Field<'_>, read: Result<T, email::BadSetting>) -> Option<T> {
        read.map_err(|error| self.error(field.node.span, error.to_string(), ""))
            .ok()
    }

    fn read_webhook(&mut self, item: Field<'_>) -> Option<Hook> {
        const STYLES: [(&str, Style); 3] = [
            ("standard", Style::Standard),
            ("slack", Style::Slack),
            ("ntfy", Style::Ntfy),
        ];
        let map = self.guarded_map(item, &["url", "secret", "events", "kind"])?;
        let url = self
            .require(&map, "url", "a webhook")
            .and_then(|field| self.hook_url(field));
        let secret = map.filled("secret").and_then(|field| self.secret(field));
        let events = map.get("events").map(|field| self.read_events(field));
        let style = map
            .filled("kind")
            .and_then(|field| self.choice(field, &STYLES));
        let wants = |event: &str| {
            let events = events.as_ref();
            events.is_none_or(|events| events.iter().any(|wanted| wanted == event))
        };
        Some(Hook {
            url: url?,
            key: secret.map(|secret| SigningKey::read(secret.expose())),
            created: wants("approval.created"),
            resolved: wants("approval.resolved"),
            style: style.unwrap_or_default(),
        })
    }

    /// It may be a secret itself, and be given as one.
    fn hook_url(&mut self, field: Field<'_>) -> Option<Secret> {
        let url = self.secret(field)?;
        let uri: Option<Uri> = url.expose().parse().ok();
        let is_web = uri.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some()
        });
        if !is_web && !self.stands_in(field, &url) {
            let help = "write it as `https://host/path`, or `env:NAME`";
            self.error(field.node.span, "`url` is not a URL", help);
            return None;
        }
        Some(url)
    }

    fn read_events(&mut self, field: Field<'_>) -> Vec<String> {
        let texts = self.texts(field);
        for (text, span) in &texts {
            if !EVENTS.contains(text) {
                let help = format!("they are {}", EVENTS.join(", "));
                self.error(*span, format!("unknown event `{text}`"), help);
            }
        }
        texts.into_iter().map(|(text, _)| text.to_owned()).collect()
    }
}
