//! Advisory locks: what operations of several replicas must not do at the same time.

use std::fmt::Write as _;

/// `Prvs`: our advisory locks, among those of whoever else uses the database.
pub(super) const LOCK_SPACE: i32 = 0x5072_7673;
pub(super) const MIGRATION_LOCK: i32 = 1;
const CONTROL_LOCK: i32 = 2;
const APPROVALS_LOCK: i32 = 3;
const MAINTENANCE_LOCK: i32 = 4;

/// What an operation needs to be alone with.
#[derive(Clone, Copy, Default)]
pub(super) struct Locks {
    control: Control,
    /// Approvals of all replicas change one batch after the other. It makes opening one atomic (no
    /// unique index can say "open at this time"), keeps replicas that race for the same approvals from
    /// deadlocking, and costs little: they would wait for one another at the counter of events anyway.
    approvals: bool,
    maintenance: bool,
}

/// A decision is made under the control it names: while it is written, nobody changes it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Control {
    #[default]
    Unused,
    Read,
    Changed,
}

impl Locks {
    pub(super) const NONE: Self = Self {
        control: Control::Unused,
        approvals: false,
        maintenance: false,
    };
    pub(super) const DECISION: Self = Self {
        control: Control::Read,
        ..Self::NONE
    };
    pub(super) const APPROVAL: Self = Self {
        approvals: true,
        ..Self::DECISION
    };
    pub(super) const CONTROL: Self = Self {
        control: Control::Changed,
        ..Self::NONE
    };
    pub(super) const MAINTENANCE: Self = Self {
        maintenance: true,
        ..Self::NONE
    };

    pub(super) fn and(self, other: Self) -> Self {
        Self {
            control: self.control.max(other.control),
            approvals: self.approvals || other.approvals,
            maintenance: self.maintenance || other.maintenance,
        }
    }

    /// Whether it tidies up: nobody waits for it.
    pub(super) fn are_of_maintenance(self) -> bool {
        self.maintenance
    }

    /// Statements that take them, in the one order.
    pub(super) fn sql(self) -> String {
        let mut sql = String::new();
        let mut take = |function: &str, lock: i32| {
            let _ = write!(sql, "SELECT {function}({LOCK_SPACE}, {lock});");
        };
        match self.control {
            Control::Unused => {}
            Control::Read => take("pg_advisory_xact_lock_shared", CONTROL_LOCK),
            Control::Changed => take("pg_advisory_xact_lock", CONTROL_LOCK),
        }
        if self.approvals {
            take("pg_advisory_xact_lock", APPROVALS_LOCK);
        }
        if self.maintenance {
            take("pg_advisory_xact_lock", MAINTENANCE_LOCK);
        }
        sql
    }
}
