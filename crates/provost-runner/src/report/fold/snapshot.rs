//! The snapshot as a report carries it.

use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use serde_json::value::RawValue;

use super::{Fold, Latest, cut};
use crate::report::{End, State, permissions::Permissions};

/// A view: it is written straight into the report.
pub(crate) struct Snapshot<'a> {
    fold: &'a Fold,
    state: State,
    through: u64,
    dropped: u64,
    permissions: &'a Permissions,
    end: Option<&'a End>,
}

impl Fold {
    pub(in crate::report) fn snapshot<'a>(
        &'a self,
        state: State,
        through: u64,
        dropped: u64,
        permissions: &'a Permissions,
        end: Option<&'a End>,
    ) -> Snapshot<'a> {
        Snapshot {
            fold: self,
            state,
            through,
            dropped,
            permissions,
            end,
        }
    }
}

#[derive(Serialize)]
struct Usage<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<&'a RawValue>,
}

impl<'a> Usage<'a> {
    fn of(latest: &'a Latest) -> Option<Self> {
        let (used, size) = (latest.used.as_deref(), latest.window.as_deref());
        (used.is_some() || size.is_some()).then_some(Self { used, size })
    }
}

struct Each<F>(F);

impl<F: Fn() -> I, I: Iterator<Item = T>, T: Serialize> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

impl Serialize for Snapshot<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let latest = &self.fold.latest;
        let mut map = to.serialize_struct("Snapshot", 20)?;
        map.serialize_field("schemaVersion", &1)?;
        map.serialize_field("state", &self.state)?;
        map.serialize_field("notificationCount", &self.fold.count)?;
        map.serialize_field("throughSequence", &self.through)?;
        map.serialize_field("messages", &Each(|| self.fold.messages.list()))?;
        map.serialize_field("toolCalls", &Each(|| self.fold.tools.list()))?;
        let values = [
            ("plan", &latest.plan),
            ("mode", &latest.mode),
            ("configOptions", &latest.config_options),
            ("cost", &latest.cost),
            ("title", &latest.title),
            ("commands", &latest.commands),
        ];
        for (name, value) in values {
            if let Some(value) = value {
                map.serialize_field(name, value)?;
            }
        }
        if let Some(usage) = Usage::of(latest) {
            map.serialize_field("usage", &usage)?;
        }
        map.serialize_field("pendingPermissions", &self.permissions.first())?;
        map.serialize_field("settledPermissions", &self.permissions.settled())?;
        map.serialize_field("droppedReports", &self.dropped)?;
        match self.end {
            Some(End::Complete { stop_reason, .. }) => {
                map.serialize_field("stopReason", cut(stop_reason, 256))?;
            }
            Some(End::Failed(failure)) => map.serialize_field("error", &failure.in_short())?,
            None => {}
        }
        let truncated = self.fold.truncated || self.permissions.more_than_named();
        map.serialize_field("truncated", &truncated)?;
        map.end()
    }
}
