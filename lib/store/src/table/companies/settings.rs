//! A company's settings for its receipts. An absent attribute means the default, so that items from before a setting
//! existed keep their meaning.

use std::{fmt, str::FromStr};

use ecf::rules::OnConditional;

use crate::{
    StoreError,
    table::{
        change::{Change, FieldEdit},
        item::{Stored, flag, number, text},
    },
};

const ON_CONDITIONAL: &str = "on_conditional";
const HOLD_NOTES: &str = "hold_notes";
const HOLD_NOTES_HOURS: &str = "hold_notes_hours";
const CERTIFICATE_OWNER: &str = "certificate_owner";
const SEQUENCE_ALERT_REMAINING: &str = "seq_alert_remaining";
const SEQUENCE_ALERT_DAYS: &str = "seq_alert_days";
const DELIVER_45: &str = "deliver_45";
const APPROVE_ACCEPTED_ONLY: &str = "approve_accepted_only";
const RECEPTION_TOKEN: &str = "reception_token";

/// A company's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompanySettings {
    /// The treatment of a document that the authority would accept only conditionally, unless the request has its own;
    /// `None` means the environment's default.
    pub on_conditional: Option<OnConditional>,
    /// Whether a note is held until the verdict on its invoice.
    pub hold_notes: bool,
    /// How long a note waits for the successor of a rejected invoice, in hours.
    pub hold_notes_hours: u16,
    /// The treatment of a certificate whose owner is neither the company nor its delegate.
    pub certificate_owner: CertificateOwner,
    /// A warning is published when a range has this number of numbers left, or fewer.
    pub sequence_alert_remaining: u32,
    /// A warning is published this number of days before a range expires.
    pub sequence_alert_days: u16,
    /// Whether other issuers must authenticate before they send documents.
    pub reception_token: bool,
    /// Whether receipts of type 45 are sent to their buyers too.
    pub deliver_45: bool,
    /// Whether only receipts that the authority accepted may be approved or rejected.
    pub approve_accepted_only: bool,
}

impl Default for CompanySettings {
    fn default() -> Self {
        Self {
            on_conditional: None,
            hold_notes: true,
            hold_notes_hours: 72,
            certificate_owner: CertificateOwner::Warn,
            sequence_alert_remaining: 100,
            sequence_alert_days: 30,
            reception_token: false,
            deliver_45: false,
            approve_accepted_only: true,
        }
    }
}

/// The treatment of an uploaded certificate whose owner is neither the company nor its delegate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CertificateOwner {
    /// The certificate is accepted with a warning.
    Warn,
    Refuse,
}

/// A text that is neither of the two.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("certificate_owner {given:?} is not one of warn, refuse")]
pub struct UnknownCertificateOwner {
    /// The given text.
    pub given: String,
}

impl CertificateOwner {
    pub const ALL: [Self; 2] = [Self::Warn, Self::Refuse];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Refuse => "refuse",
        }
    }
}

impl FromStr for CertificateOwner {
    type Err = UnknownCertificateOwner;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|word| word.as_str() == text)
            .ok_or_else(|| UnknownCertificateOwner { given: text.to_owned() })
    }
}

impl fmt::Display for CertificateOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The changes of a company's settings. A cleared setting has its default again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SettingsChanges {
    pub on_conditional: FieldEdit<OnConditional>,
    pub hold_notes: FieldEdit<bool>,
    pub hold_notes_hours: FieldEdit<u16>,
    pub certificate_owner: FieldEdit<CertificateOwner>,
    pub sequence_alert_remaining: FieldEdit<u32>,
    pub sequence_alert_days: FieldEdit<u16>,
    pub reception_token: FieldEdit<bool>,
    pub deliver_45: FieldEdit<bool>,
    pub approve_accepted_only: FieldEdit<bool>,
}

impl SettingsChanges {
    pub(super) fn onto(self, change: Change) -> Change {
        change
            .edit(ON_CONDITIONAL, self.on_conditional.map(text))
            .edit(HOLD_NOTES, self.hold_notes.map(flag))
            .edit(HOLD_NOTES_HOURS, self.hold_notes_hours.map(number))
            .edit(CERTIFICATE_OWNER, self.certificate_owner.map(text))
            .edit(SEQUENCE_ALERT_REMAINING, self.sequence_alert_remaining.map(number))
            .edit(SEQUENCE_ALERT_DAYS, self.sequence_alert_days.map(number))
            .edit(RECEPTION_TOKEN, self.reception_token.map(flag))
            .edit(DELIVER_45, self.deliver_45.map(flag))
            .edit(APPROVE_ACCEPTED_ONLY, self.approve_accepted_only.map(flag))
    }
}

/// The settings on a company's item.
pub(super) fn read(stored: &Stored) -> Result<CompanySettings, StoreError> {
    let default = CompanySettings::default();
    Ok(CompanySettings {
        on_conditional: stored.opt_parse(ON_CONDITIONAL)?,
        hold_notes: stored.opt_flag(HOLD_NOTES)?.unwrap_or(default.hold_notes),
        hold_notes_hours: stored.opt_parse(HOLD_NOTES_HOURS)?.unwrap_or(default.hold_notes_hours),
        certificate_owner: stored
            .opt_parse(CERTIFICATE_OWNER)?
            .unwrap_or(default.certificate_owner),
        sequence_alert_remaining: stored
            .opt_parse(SEQUENCE_ALERT_REMAINING)?
            .unwrap_or(default.sequence_alert_remaining),
        sequence_alert_days: stored
            .opt_parse(SEQUENCE_ALERT_DAYS)?
            .unwrap_or(default.sequence_alert_days),
        reception_token: stored.opt_flag(RECEPTION_TOKEN)?.unwrap_or(default.reception_token),
        deliver_45: stored.opt_flag(DELIVER_45)?.unwrap_or(default.deliver_45),
        approve_accepted_only: stored
            .opt_flag(APPROVE_ACCEPTED_ONLY)?
            .unwrap_or(default.approve_accepted_only),
    })
}
