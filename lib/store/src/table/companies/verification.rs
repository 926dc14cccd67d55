//! Verification of a company, which makes it the exclusive owner of its RNC.

use ecf::Rnc;
use jiff::Timestamp;

use super::{COMPANY, UPDATED_AT, VERIFIED};
use crate::{
    StoreError,
    ids::CompanyId,
    table::{
        Table,
        change::Change,
        condition::exists,
        item::{NewItem, flag, instant, text},
        keys::{self, PK},
        write::{Part, Transacted},
    },
};

/// The result of verifying a company.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verification {
    /// The company is verified, now or since before.
    Done,
    /// Another verified company has its RNC.
    RncTaken,
    Missing,
}

impl Table {
    /// Marks a company as the verified taxpayer, together with its claim on the RNC. A repeated call has no effect.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn verify_company(
        &self,
        company: &CompanyId,
        rnc: &Rnc,
        now: Timestamp,
    ) -> Result<Verification, StoreError> {
        let verified = Change::of(keys::company(company))
            .set(VERIFIED, flag(true))
            .set(UPDATED_AT, instant(now))
            .when(exists(PK));
        let owner = NewItem::new(&keys::rnc(rnc.as_str()))
            .with(COMPANY, text(company))
            .build();
        let parts = vec![Part::Update(verified), Part::PutNew(owner)];
        match self.transact("verify company", parts).await? {
            Transacted::Done => Ok(Verification::Done),
            Transacted::Refused(refusals) if refusals.first().is_some_and(Option::is_some) => Ok(Verification::Missing),
            Transacted::Refused(_) => Ok(match self.company_by_rnc(rnc).await? {
                Some(owner) if owner == *company => Verification::Done,
                _ => Verification::RncTaken,
            }),
        }
    }
}
