//! Where the gateway listens, keeps its data and reports itself.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use super::{
    fields::{Field, Map},
    reader::Reader,
    secret::Secret,
};

pub(super) const DEFAULT_DATA: &str = "provost-data";
pub(super) const DEFAULT_PORT: u16 = 9090;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// SQLite in the data folder, wherever that is.
    DataFolder,
    Sqlite(PathBuf),
    /// The URL, which may hold a password.
    Postgres(Secret),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Telemetry {
    /// Where spans are sent, in OTLP over HTTP.
    pub(crate) otlp: Option<Secret>,
    pub(crate) log: LogFormat,
    /// `trace`, `debug`, `info`, `warn` or `error`.
    pub(crate) level: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

pub(super) fn default_listen() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, DEFAULT_PORT).into()
}

impl Reader<'_> {
    pub(super) fn read_listen(&mut self, top: &Map<'_>) -> SocketAddr {
        let port = top.get("port").and_then(|port| {
            self.number(port, 0, u64::from(u16::MAX))
                .map(|number| (port, number))
        });
        let listen = top.filled("listen").and_then(|listen| self.address(listen));
        if let (Some((port, _)), Some(_)) = (port, listen) {
            self.error(
                port.span(),
                "`listen` and `port` both say where to listen",
                "remove `port`",
            );
        }
        // The ancestor takes port 0 for its default.
        let from_port = port
            .filter(|(_, number)| *number != 0)
            .map(|(_, number)| number as u16);
        listen
            .or_else(|| from_port.map(|port| (Ipv4Addr::LOCALHOST, port).into()))
            .unwrap_or_else(default_listen)
    }

    pub(super) fn read_data(&mut self, top: &Map<'_>) -> PathBuf {
        let written = top.filled("data").and_then(|data| self.text(data));
        self.resolve(written.unwrap_or(DEFAULT_DATA))
    }

    pub(super) fn read_database(&mut self, top: &Map<'_>) -> Database {
        let Some(field) = top.filled("database") else {
            return Database::DataFolder;
        };
        let Some(secret) = self.secret(field) else {
            return Database::DataFolder;
        };
        let text = secret.expose();
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Database::Postgres(secret);
        }
        let path = text.strip_prefix("sqlite:").unwrap_or(text);
        let path = path.strip_prefix("//").unwrap_or(path);
        if path.is_empty() || path.contains("://") {
            let help =
                "write `postgres://user@host/name`, `sqlite:PATH` or the path of an SQLite file";
            self.error(
                field.span(),
                "`database` names no kind of database we know",
                help,
            );
        }
        Database::Sqlite(self.resolve(path))
    }

    pub(super) fn read_hosts(&mut self, top: &Map<'_>) -> Vec<String> {
        let mut hosts = Vec::new();
        let Some(field) = top.get("hosts") else {
            return hosts;
        };
        for (host, span) in self.texts(field) {
            let good = !host.is_empty()
                && host
                    .chars()
                    .all(|c| c.is_alphanumeric() || "-._:[]".contains(c));
            if good {
                hosts.push(host.to_ascii_lowercase());
            } else {
                self.error(
                    span,
                    format!("`{host}` is not the name of a host"),
                    "write it as `gateway.example.com`",
                );
            }
        }
        hosts
    }

    pub(super) fn read_retention(&mut self, top: &Map<'_>) -> Option<Duration> {
        let map = self.map(top.get("retention")?, &["traces"])?;
        self.duration(map.filled("traces")?)
    }

    pub(super) fn read_telemetry(&mut self, top: &Map<'_>) -> Telemetry {
        let mut telemetry = Telemetry {
            otlp: self.read_otel_endpoint(top),
            ..Telemetry::default()
        };
        let section = top
            .get("telemetry")
            .and_then(|field| self.map(field, &["otlp", "log", "level"]));
        let Some(map) = section else { return telemetry };
        if let Some(otlp) = map.filled("otlp") {
            if telemetry.otlp.is_some() {
                self.error(
                    otlp.span(),
                    "`otel_endpoint` and `telemetry.otlp` both say where spans go",
                    "remove `otel_endpoint`",
                );
            }
            telemetry.otlp = self.secret_url(otlp);
        }
        if let Some(log) = map.get("log") {
            let formats = [("text", LogFormat::Text), ("json", LogFormat::Json)];
            telemetry.log = self.choice(log, &formats).unwrap_or_default();
        }
        if let Some(level) = map.get("level") {
            let levels = ["trace", "debug", "info", "warn", "error"].map(|level| (level, level));
            telemetry.level = self.choice(level, &levels);
        }
        telemetry
    }

    /// The ancestor's key.
    fn read_otel_endpoint(&mut self, top: &Map<'_>) -> Option<Secret> {
        let field = top.filled("otel_endpoint")?;
        let text = self.text(field)?;
        // Also with a path behind it, which is not where a secret is: that is `telemetry.otlp`'s.
        if matches!(text, "stdout" | "file") || text.starts_with("file:") {
            let message =
                format!("`otel_endpoint: {text}` has no effect: spans are sent over OTLP only");
            let help = "name a collector (`http://host:4318`), or remove it; `telemetry.log` has logs, `provost \
                        traces export` the record";
            self.warn(field.span(), message, help);
            return None;
        }
        self.secret_url(field)
    }

    /// A URL that is, or may hold, a secret.
    pub(super) fn secret_url(&mut self, field: Field<'_>) -> Option<Secret> {
        let secret = self.secret(field)?;
        let stands_in = self.stands_in(field, &secret);
        (stands_in || self.check_url(field, secret.expose())).then_some(secret)
    }
}
