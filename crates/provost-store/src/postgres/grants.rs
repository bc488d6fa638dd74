//! The grants a batch may use: locked up front in one order, counted here, written back once.

use std::collections::BTreeMap;

use deadpool_postgres::ClientWrapper;
use provost_core::{ids::GrantId, time::Time};

use super::{batch::execute, fault::Fault};

pub(super) struct Grants(BTreeMap<GrantId, Grant>);

/// As it stands in this transaction.
struct Grant {
    uses: i64,
    max_uses: Option<i64>,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    used: bool,
}

impl Grants {
    pub(super) async fn lock(sql: &ClientWrapper, mut ids: Vec<&str>) -> Result<Self, Fault> {
        let mut grants = BTreeMap::new();
        if ids.is_empty() {
            return Ok(Self(grants));
        }
        ids.sort_unstable();
        ids.dedup();
        let find = sql
            .prepare_cached(
                "SELECT id, uses, max_uses, expires_at, revoked_at FROM grants \
                 WHERE id = ANY($1) ORDER BY id FOR UPDATE",
            )
            .await?;
        for row in sql.query(&find, &[&ids]).await? {
            let grant = Grant {
                uses: row.try_get(1)?,
                max_uses: row.try_get(2)?,
                expires_at: row.try_get(3)?,
                revoked_at: row.try_get(4)?,
                used: false,
            };
            grants.insert(GrantId::from(row.try_get::<_, &str>(0)?), grant);
        }
        Ok(Self(grants))
    }

    pub(super) fn permits(&self, id: &GrantId, now: Time) -> bool {
        self.0.get(id).is_some_and(|grant| {
            grant.revoked_at.is_none()
                && grant.expires_at.is_none_or(|at| now.millis() < at)
                && grant.max_uses.is_none_or(|max| grant.uses < max)
        })
    }

    pub(super) fn take_use(&mut self, id: &GrantId) {
        if let Some(grant) = self.0.get_mut(id) {
            grant.uses += 1;
            grant.used = true;
        }
    }

    pub(super) fn revoke(&mut self, id: &GrantId, now: Time) {
        if let Some(grant) = self.0.get_mut(id) {
            grant.revoked_at = Some(now.millis());
        }
    }

    pub(super) fn were_used(&self) -> bool {
        self.0.values().any(|grant| grant.used)
    }

    pub(super) async fn write(&self, sql: &ClientWrapper) -> Result<(), Fault> {
        let used = || self.0.iter().filter(|(_, grant)| grant.used);
        let ids: Vec<&str> = used().map(|(id, _)| id.as_str()).collect();
        let uses: Vec<i64> = used().map(|(_, grant)| grant.uses).collect();
        let update = "UPDATE grants SET uses = u.uses \
             FROM unnest($1::text[], $2::bigint[]) AS u (id, uses) WHERE grants.id = u.id";
        execute(sql, update, &[&ids, &uses]).await?;
        Ok(())
    }
}
