//! Logs and metrics of this process. Spans are the gateway's.

use std::io::IsTerminal as _;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt as _, util::SubscriberInitExt as _};

use crate::config::{LogFormat, Telemetry};

/// Seconds, from a policy's answer to a person's.
const BUCKETS: [f64; 16] = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 5.0, 30.0,
    120.0, 600.0,
];

/// Logs go to stderr. `PROVOST_LOG` overrules the config.
pub(crate) fn start_logging(telemetry: &Telemetry) {
    let default = telemetry.level.unwrap_or("info");
    let asked = std::env::var("PROVOST_LOG").ok();
    let filter = asked.and_then(|asked| EnvFilter::try_new(quiet(&asked)).ok());
    let filter = filter.unwrap_or_else(|| EnvFilter::new(quiet(default)));
    let registry = tracing_subscriber::registry().with(filter);
    let layer = fmt::layer().with_writer(std::io::stderr).with_target(false);
    // Another subscriber is set only in tests: theirs stays.
    let _ = match telemetry.log {
        LogFormat::Text => registry
            .with(layer.with_ansi(std::io::stderr().is_terminal()))
            .try_init(),
        LogFormat::Json => registry.with(layer.json()).try_init(),
    };
}

/// `rmcp` logs whole messages, arguments and all: only who names it gets that.
fn quiet(filter: &str) -> String {
    if filter.contains("rmcp") {
        filter.to_owned()
    } else {
        format!("{filter},rmcp=off")
    }
}

pub(crate) fn start_metrics() -> Option<PrometheusHandle> {
    PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &BUCKETS)
        .ok()?
        .install_recorder()
        .inspect_err(|error| tracing::warn!(%error, "metrics are off"))
        .ok()
}
