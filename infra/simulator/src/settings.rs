//! Settings of the control service. They survive a restart.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{data_test::DataTest, dates, environment::Environment};

/// All settings; one JSON row of the database.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// Overrides the delay that the simulator was started with.
    pub(crate) verdict_delay_ms: Option<u64>,
    /// Whether responses use the spellings seen in real traffic instead of the documented ones.
    pub(crate) observed_shapes: bool,
    pub(crate) maintenance: Vec<Window>,
    /// Certificate fingerprint or owner → the RNCs that it may act for. An absent certificate may act for every RNC.
    pub(crate) certificates: BTreeMap<String, BTreeSet<String>>,
    /// The taxpayers that exist; an empty map means that every RNC exists.
    pub(crate) registry: BTreeMap<String, Taxpayer>,
    /// Authorised sequences. A taxpayer without an entry owns the open numbers.
    pub(crate) sequences: Vec<Sequence>,
    /// The data tests of the certification, by taxpayer.
    pub(crate) data_tests: BTreeMap<String, DataTest>,
    /// The directory of electronic taxpayers.
    pub(crate) directory: BTreeMap<String, DirectoryEntry>,
    /// Signs tokens; generated with the database.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) token_key: String,
}

/// A maintenance window, in the shape of the status service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Window {
    /// `PreCertificacion`, `Produccion`, `Certificacion`, or the path segment.
    pub(crate) ambiente: String,
    /// `9:00 AM`.
    pub(crate) hora_inicio: String,
    pub(crate) hora_fin: String,
    /// `dd-MM-yyyy`.
    pub(crate) dias: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Taxpayer {
    pub(crate) nombre: String,
    pub(crate) activo: bool,
    pub(crate) emisor_electronico: bool,
}

impl Default for Taxpayer {
    fn default() -> Self {
        Self {
            nombre: String::new(),
            activo: true,
            emisor_electronico: true,
        }
    }
}

/// An authorised range of numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sequence {
    pub(crate) ambiente: String,
    pub(crate) rnc: String,
    pub(crate) tipo: u8,
    pub(crate) desde: u64,
    pub(crate) hasta: u64,
    /// `dd-MM-yyyy`.
    pub(crate) vencimiento: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct DirectoryEntry {
    pub(crate) nombre: String,
    pub(crate) url_recepcion: String,
    pub(crate) url_aceptacion: String,
    pub(crate) url_opcional: String,
}

impl Settings {
    /// Whether a certificate, or its owner by any of its certificates, may act for a taxpayer.
    pub(crate) fn is_delegated(&self, fingerprint: &str, owner: &str, rnc: &str) -> bool {
        self.delegations(fingerprint, owner)
            .is_none_or(|rncs| rncs.contains(rnc))
    }

    /// Whether the certificate may act for no taxpayer at all. It does not even get a token.
    pub(crate) fn is_barred(&self, fingerprint: &str, owner: &str) -> bool {
        self.delegations(fingerprint, owner).is_some_and(BTreeSet::is_empty)
    }

    fn delegations(&self, fingerprint: &str, owner: &str) -> Option<&BTreeSet<String>> {
        self.certificates
            .get(fingerprint)
            .or_else(|| self.certificates.get(owner))
    }

    /// Whether an environment is in maintenance.
    pub(crate) fn in_maintenance(&self, environment: Environment, now: Timestamp) -> bool {
        self.maintenance.iter().any(|window| window.is_open(environment, now))
    }
}

impl Window {
    fn is_open(&self, environment: Environment, now: Timestamp) -> bool {
        let now = dates::local(now);
        let Some((from, to)) = hour(&self.hora_inicio).zip(hour(&self.hora_fin)) else {
            return false;
        };
        Environment::parse(&self.ambiente) == Some(environment)
            && self.dias.iter().any(|day| dates::parse_date(day) == Some(now.date()))
            && (from..to).contains(&(i32::from(now.hour()) * 60 + i32::from(now.minute())))
    }

    /// Whether the window can ever be open.
    pub(crate) fn is_readable(&self) -> bool {
        Environment::parse(&self.ambiente).is_some()
            && hour(&self.hora_inicio).is_some()
            && hour(&self.hora_fin).is_some()
            && self.dias.iter().all(|day| dates::parse_date(day).is_some())
    }
}

/// Minutes since midnight of a text such as `9:00 AM`. The end of a day is `11:59 PM`, as the authority writes it.
fn hour(text: &str) -> Option<i32> {
    let (clock, half) = text.trim().split_once(' ')?;
    let (hour, minute) = clock.split_once(':')?;
    let (hour, minute): (i32, i32) = (hour.parse().ok()?, minute.parse().ok()?);
    if !(1..=12).contains(&hour) || !(0..60).contains(&minute) {
        return None;
    }
    match half.to_ascii_uppercase().as_str() {
        "AM" => Some(hour % 12 * 60 + minute),
        "PM" => Some((hour % 12 + 12) * 60 + minute),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

    use super::*;

    #[test]
    fn a_window_is_open_on_its_days_between_its_hours_in_santo_domingo() {
        let window = Window {
            ambiente: "PreCertificacion".into(),
            hora_inicio: "9:00 AM".into(),
            hora_fin: "12:00 PM".into(),
            dias: vec!["06-08-2026".into()],
        };
        let at = |instant: &str| window.is_open(Environment::Testecf, instant.parse().unwrap());
        assert!(at("2026-08-06T13:00:00Z"));
        assert!(at("2026-08-06T15:59:59Z"));
        assert!(!at("2026-08-06T16:00:00Z"));
        assert!(!at("2026-08-06T12:59:00Z"));
        assert!(!at("2026-08-07T13:00:00Z"));
        assert!(!window.is_open(Environment::Ecf, "2026-08-06T13:00:00Z".parse().unwrap()));
        assert!(window.is_readable());
        assert!(
            !Window {
                hora_fin: "25:00".into(),
                ..window
            }
            .is_readable()
        );
    }

    #[test]
    fn a_certificate_without_an_entry_acts_for_everybody() {
        let mut settings = Settings::default();
        assert!(settings.is_delegated("f", "o", "131880738"));
        settings
            .certificates
            .insert("o".into(), BTreeSet::from(["131880738".to_owned()]));
        assert!(settings.is_delegated("f", "o", "131880738"));
        assert!(!settings.is_delegated("f", "o", "101672919"));
        settings.certificates.insert("f".into(), BTreeSet::new());
        assert!(settings.is_barred("f", "o"));
    }
}
