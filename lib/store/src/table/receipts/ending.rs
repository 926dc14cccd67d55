//! The write of a final state.

use ecf::ReceiptState;
use jiff::Timestamp;

use super::record::{self, CREATED_AT};
use crate::{
    StoreError,
    ids::{ReceiptId, Scope},
    table::{Table, change::Change, closing::created_since, condition::at_least, item::instant, write::Applied},
};

impl Table {
    /// Writes the step to a final state or to `failed`. Every such step goes through here.
    ///
    /// A receipt of a past day first records a late change, because the counters of its day may be closed.
    pub(super) async fn end(
        &self,
        operation: &'static str,
        scope: &Scope,
        id: &ReceiptId,
        next: ReceiptState,
        change: Change,
        now: Timestamp,
    ) -> Result<Applied, StoreError> {
        if !next.is_final() && next != ReceiptState::Failed {
            return self.settle(operation, scope, id, next, change).await;
        }
        let since = created_since(now);
        let recent = change.clone().when(at_least(CREATED_AT, instant(since)));
        let stored = match self.settle(operation, scope, id, next, recent).await? {
            Applied::Refused(Some(stored)) if stored.instant(CREATED_AT)? < since => stored,
            other => return Ok(other),
        };
        let receipt = record::read(&stored)?;
        if receipt.state.is_final() {
            return Ok(Applied::Refused(Some(stored)));
        }
        self.record_late_change(scope, receipt.day(), now).await?;
        self.settle(operation, scope, id, next, change).await
    }
}
