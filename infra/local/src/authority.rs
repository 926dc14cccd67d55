//! The certification authority of the local system. The system trusts it as a deployment trusts the authorised ones, so
//! certificates take the same code path as in production.

use std::fs;
use std::path::Path;

use ecf::Rnc;
use ecf_runtime::{Clock, Error};
use jiff::{SignedDuration, Timestamp};
use test_certificates::{Cipher, Party};

use crate::folder;

/// The PIN of every P12 that this authority issues.
pub const CERTIFICATE_PIN: &str = "demo";

/// Validity of a certificate: longer than that of the pre-certification numbers.
const LIFE: SignedDuration = SignedDuration::from_hours(24 * 365 * 3);

/// The authority's key and certificate.
pub(crate) struct Authority(Party);

impl Authority {
    /// Opens the authority in this file, or creates it if the file is missing.
    pub(crate) fn open(file: &Path, now: Timestamp) -> Result<Self, Error> {
        if let Ok(pem) = fs::read(file) {
            return Ok(Self(Party::from_pem(&pem)?));
        }
        let (from, until) = validity(now);
        let party = Party::authority("AUTORIDAD LOCAL DE PRUEBAS", from, until, None)?;
        fs::write(file, [party.key_pem()?, party.certificate_pem()?].concat())?;
        Ok(Self(party))
    }

    pub(crate) fn certificate_pem(&self) -> Result<String, Error> {
        Ok(String::from_utf8(self.0.certificate_pem()?)?)
    }

    /// A P12 whose certificate names this taxpayer; its PIN is [`CERTIFICATE_PIN`].
    pub(crate) fn certify(&self, rnc: &Rnc, name: &str, now: Timestamp) -> Result<Vec<u8>, Error> {
        let (from, until) = validity(now);
        let holder = self.0.issue(name, &format!("RNC{rnc}"), from, until)?;
        Ok(test_certificates::file(
            Some(&holder),
            &[&holder],
            Cipher::Aes256,
            CERTIFICATE_PIN,
        )?)
    }
}

fn validity(now: Timestamp) -> (Timestamp, Timestamp) {
    (now - SignedDuration::from_hours(24), now + LIFE)
}

/// `ecf-local certificate`: a P12 for any taxpayer, issued by the authority of the system with this state folder.
///
/// # Errors
///
/// When no system was started with the folder, or the number is not an RNC.
pub fn certificate(rnc: &str, folder: &Path) -> Result<Vec<u8>, Error> {
    let rnc: Rnc = rnc.parse().map_err(|error| format!("'{rnc}' is not an RNC: {error}"))?;
    let file = folder::authority(folder);
    if !file.exists() {
        return Err(format!("{} does not exist; start the system first", file.display()).into());
    }
    let now = Clock::system().now();
    Authority::open(&file, now)?.certify(&rnc, &format!("CONTRIBUYENTE {rnc}"), now)
}
