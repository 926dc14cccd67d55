//! Changes of a company's profile. Only the changed attributes are written, so that two concurrent changes of different
//! fields both take effect.

use ecf::Environment;
use jiff::Timestamp;

use super::{
    ADDRESS, Company, DEACTIVATED_AT, DEFAULT_ENVIRONMENT, EMAIL, PHONE, SettingsChanges, TRADE_NAME, UPDATED_AT,
    read_company,
};
use crate::{
    StoreError,
    ids::CompanyId,
    table::{
        Table,
        change::{Change, FieldEdit},
        condition::exists,
        item::{instant, text},
        keys::{self, PK},
        write::Applied,
    },
};

/// The changes of a company.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CompanyChanges {
    /// Every company has one, so it cannot be cleared.
    pub email: Option<String>,
    pub trade_name: FieldEdit<String>,
    pub address: FieldEdit<String>,
    pub phone: FieldEdit<String>,
    pub default_environment: Option<Environment>,
    pub settings: SettingsChanges,
}

impl Table {
    /// Changes a company's profile and settings; `None` when the company does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn update_company(
        &self,
        company: &CompanyId,
        changes: CompanyChanges,
        now: Timestamp,
    ) -> Result<Option<Company>, StoreError> {
        let change = Change::of(keys::company(company))
            .set(UPDATED_AT, instant(now))
            .set_some(EMAIL, changes.email.map(text))
            .edit(TRADE_NAME, changes.trade_name.map(text))
            .edit(ADDRESS, changes.address.map(text))
            .edit(PHONE, changes.phone.map(text))
            .set_some(DEFAULT_ENVIRONMENT, changes.default_environment.map(text));
        self.change_company(company, changes.settings.onto(change)).await
    }

    /// Deactivates a company; the time of the first call stays. `None` when the company does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn deactivate_company(&self, company: &CompanyId, now: Timestamp) -> Result<Option<Company>, StoreError> {
        let change = Change::of(keys::company(company))
            .set(UPDATED_AT, instant(now))
            .set_once(DEACTIVATED_AT, instant(now));
        self.change_company(company, change).await
    }

    /// Reactivates a company; `None` when it does not exist.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn activate_company(&self, company: &CompanyId, now: Timestamp) -> Result<Option<Company>, StoreError> {
        let change = Change::of(keys::company(company))
            .set(UPDATED_AT, instant(now))
            .remove(&[DEACTIVATED_AT]);
        self.change_company(company, change).await
    }

    async fn change_company(&self, company: &CompanyId, change: Change) -> Result<Option<Company>, StoreError> {
        match self.apply("update company", change.when(exists(PK))).await? {
            Applied::Done(stored) => read_company(*company, &stored).map(Some),
            Applied::Refused(_) => Ok(None),
        }
    }
}
