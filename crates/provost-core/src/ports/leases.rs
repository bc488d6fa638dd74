//! Work that one replica does at a time: it holds a lease, and another may have it when that is over.

use async_trait::async_trait;

use super::store::Result;
use crate::time::Time;

#[async_trait]
pub trait Leases {
    /// Takes or prolongs a lease. `false` while another holds it.
    async fn lease(&self, name: &str, holder: &str, now: Time, until: Time) -> Result<bool>;

    /// Gives a lease back, if it is this one's.
    async fn release(&self, name: &str, holder: &str) -> Result<()>;
}
