//! The content and the audience of a notice.

use std::collections::BTreeSet;

use ecf::Environment;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    ids::{CompanyId, Scope},
    table::{FieldEdit, keys},
};

/// A closed list of values of the API.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident => $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
        pub enum $name {
            $(#[serde(rename = $word)] $variant),+
        }

        impl $name {
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }
    };
}

words! {
    /// What a notice is about.
    NoticeCategory {
        TaxauthIncident => "dgii_incident",
        ServiceIncident => "emite_incident",
        Announcement => "announcement",
        ActionRequired => "action_required",
    }
}
words! {
    NoticeSeverity { Info => "info", Warning => "warning", Critical => "critical" }
}
words! {
    /// Drafts and withdrawn notices are visible to the operator only.
    NoticeState {
        Draft => "draft",
        Scheduled => "scheduled",
        Active => "active",
        Expired => "expired",
        Resolved => "resolved",
        Withdrawn => "withdrawn",
    }
}

/// The content of a notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeContent {
    pub category: NoticeCategory,
    pub severity: NoticeSeverity,
    pub title: String,
    pub body: String,
    /// The source of this statement.
    pub source: Option<String>,
    /// The environments that it concerns; the audience decides who sees it.
    pub environments: Vec<Environment>,
    pub starts_at: Option<Timestamp>,
    pub expires_at: Option<Timestamp>,
}

/// The changes of a notice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoticeEdit {
    pub category: Option<NoticeCategory>,
    pub severity: Option<NoticeSeverity>,
    pub title: Option<String>,
    pub body: Option<String>,
    pub source: FieldEdit<String>,
    pub environments: Option<Vec<Environment>>,
    pub starts_at: FieldEdit<Timestamp>,
    pub expires_at: FieldEdit<Timestamp>,
    pub audience: Option<Audience>,
}

/// The audience of a notice. Never shown to its readers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    All,
    /// Companies that work in one of these environments.
    Environments(BTreeSet<Environment>),
    /// These companies, in every environment.
    Companies(BTreeSet<CompanyId>),
}

impl Audience {
    /// Upper bound of the companies. A change writes an entry for each company that gains or loses the notice, and a
    /// transaction has at most a hundred writes.
    pub const MOST_COMPANIES: usize = 24;

    pub fn includes(&self, scope: &Scope) -> bool {
        match self {
            Self::All => true,
            Self::Environments(environments) => environments.contains(&scope.environment),
            Self::Companies(companies) => companies.contains(&scope.company),
        }
    }

    pub(super) fn streams(&self) -> BTreeSet<String> {
        match self {
            Self::All => BTreeSet::from([keys::notices_of_all()]),
            Self::Environments(environments) => {
                environments.iter().copied().map(keys::notices_of_environment).collect()
            }
            Self::Companies(companies) => companies.iter().map(keys::notices_of_company).collect(),
        }
    }
}
