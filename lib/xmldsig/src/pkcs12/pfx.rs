//! The container: authenticated safes, their bags, and what is in them.
//!
//! One walk serves opening and inspecting: it notes what fails and goes on with the next part.

use super::P12Error;
use super::inspection::Protection;
use super::kdf::Work;
use super::mac::Mac;
use super::password::{Forms, Secret};
use super::scheme::{Scheme, unsupported};
use crate::ber::{Ber, BerError, CONTEXT_0, INTEGER, SET, dotted};
use crate::certificate::names;

/// What a file has, as far as the password opens it; everything in the order of the file.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) mac: Option<Protection>,
    /// Whether the password is right; `None` when nothing in the file tells.
    pub(super) password_fits: Option<bool>,
    /// How each encrypted part that is not a key is encrypted.
    pub(super) encryption: Vec<Protection>,
    pub(super) keys: Vec<KeyBag>,
    pub(super) certificates: Vec<CertificateBag>,
    /// What could not be read, and why. Opening stops at the first.
    pub(super) failures: Vec<P12Error>,
}

pub(super) struct KeyBag {
    /// PKCS#8 `PrivateKeyInfo`; `None` when it stays locked.
    pub(super) pkcs8: Option<Secret>,
    pub(super) protection: Option<Protection>,
    pub(super) friendly_name: Option<String>,
}

pub(super) struct CertificateBag {
    pub(super) der: Vec<u8>,
    pub(super) friendly_name: Option<String>,
}

/// A chain has a handful; more is an attempt to keep us busy.
const MOST_BAGS: usize = 64;
const DEEPEST_BAGS: usize = 4;

const DATA: &str = "1.2.840.113549.1.7.1";
const ENCRYPTED_DATA: &str = "1.2.840.113549.1.7.6";
const FRIENDLY_NAME: &str = "1.2.840.113549.1.9.20";

impl From<BerError> for P12Error {
    fn from(error: BerError) -> Self {
        Self::Damaged(error.0)
    }
}

struct Opening<'f> {
    forms: &'f Forms,
    work: &'f mut Work,
    bags: usize,
    contents: Contents,
}

/// Reads a whole file.
pub(super) fn read(der: &[u8], forms: &Forms, work: &mut Work) -> Contents {
    let mut opening = Opening {
        forms,
        work,
        bags: 0,
        contents: Contents::default(),
    };
    if let Err(error) = opening.file(der) {
        opening.fail(error);
    }
    opening.contents
}

impl Opening<'_> {
    fn fail(&mut self, error: P12Error) {
        if !self.contents.failures.contains(&error) {
            self.contents.failures.push(error);
        }
    }

    fn file(&mut self, der: &[u8]) -> Result<(), P12Error> {
        let mut pfx = Ber::new(der).sequence()?;
        if pfx.count()? != 3 {
            return Err(P12Error::Damaged("its version is not 3"));
        }
        let mut content_info = pfx.sequence()?;
        let identifier = dotted(content_info.object_identifier()?);
        if identifier != DATA {
            // Files protected by a public key instead of a password: nobody hands them out.
            return Err(unsupported(identifier));
        }
        let safe = content_info.expect(CONTEXT_0)?.inside().octets()?;
        if !pfx.is_empty()
            && let Err(error) = self.check_mac(pfx.sequence()?, &safe)
        {
            self.fail(error);
        }
        let mut safes = Ber::new(&safe).sequence()?;
        while !safes.is_empty() {
            let part = safes.sequence()?;
            if let Err(error) = self.safe(part) {
                self.fail(error);
            }
        }
        Ok(())
    }

    fn check_mac(&mut self, data: Ber<'_>, safe: &[u8]) -> Result<(), P12Error> {
        let mac = Mac::read(data).inspect_err(|error| self.contents.mac = Protection::of_unsupported(error))?;
        self.contents.mac = Some(mac.protection());
        let fits = mac.fits(safe, self.forms, self.work)?;
        self.contents.password_fits = Some(fits);
        if fits { Ok(()) } else { Err(P12Error::WrongPassword) }
    }

    fn safe(&mut self, mut content_info: Ber<'_>) -> Result<(), P12Error> {
        let identifier = dotted(content_info.object_identifier()?);
        let mut content = content_info.expect(CONTEXT_0)?.inside();
        match identifier.as_str() {
            DATA => self.bags(&content.octets()?, 0),
            ENCRYPTED_DATA => {
                let mut encrypted_data = content.sequence()?;
                encrypted_data.expect(INTEGER)?;
                let mut encrypted = encrypted_data.sequence()?;
                encrypted.object_identifier()?;
                let scheme = Scheme::read(&mut encrypted)
                    .inspect_err(|error| self.contents.encryption.extend(Protection::of_unsupported(error)))?;
                self.contents.encryption.push(scheme.protection());
                let plain = self.decrypt(&scheme, &encrypted.value()?.octets()?)?;
                self.bags(&plain, 0)
            }
            _ => Err(unsupported(identifier)),
        }
    }

    fn bags(&mut self, safe_contents: &[u8], depth: usize) -> Result<(), P12Error> {
        let mut bags = Ber::new(safe_contents).sequence()?;
        while !bags.is_empty() {
            self.bags += 1;
            if self.bags > MOST_BAGS || depth > DEEPEST_BAGS {
                return Err(P12Error::Damaged("it has too many parts"));
            }
            let bag = bags.sequence()?;
            if let Err(error) = self.bag(bag, depth) {
                self.fail(error);
            }
        }
        Ok(())
    }

    fn bag(&mut self, mut bag: Ber<'_>, depth: usize) -> Result<(), P12Error> {
        let identifier = dotted(bag.object_identifier()?);
        let value = bag.expect(CONTEXT_0)?;
        match identifier.as_str() {
            // keyBag: a key without encryption of its own.
            "1.2.840.113549.1.12.10.1.1" => self.contents.keys.push(KeyBag {
                pkcs8: Some(Secret::new(value.contents.to_vec())),
                protection: None,
                friendly_name: friendly_name(bag),
            }),
            // pkcs8ShroudedKeyBag
            "1.2.840.113549.1.12.10.1.2" => {
                let key = self.shrouded_key(value.inside(), friendly_name(bag))?;
                self.contents.keys.push(key);
            }
            // certBag; the only other kind is SDSI, which died out.
            "1.2.840.113549.1.12.10.1.3" => {
                let mut certificate = value.inside().sequence()?;
                if dotted(certificate.object_identifier()?) == "1.2.840.113549.1.9.22.1" {
                    let der = certificate.expect(CONTEXT_0)?.inside().octets()?;
                    self.contents.certificates.push(CertificateBag {
                        der: der.into_owned(),
                        friendly_name: friendly_name(bag),
                    });
                }
            }
            // safeContentsBag: bags in a bag.
            "1.2.840.113549.1.12.10.1.6" => self.bags(value.contents, depth + 1)?,
            // Revocation lists and secrets are of no use here.
            _ => {}
        }
        Ok(())
    }

    /// A key that stays locked is noted with its reason.
    fn shrouded_key(&mut self, value: Ber<'_>, friendly_name: Option<String>) -> Result<KeyBag, P12Error> {
        let mut shrouded = { value }.sequence()?;
        let opened = Scheme::read(&mut shrouded).map(|scheme| {
            let data = shrouded.octets().map_err(P12Error::from);
            (scheme.protection(), data.and_then(|data| self.decrypt(&scheme, &data)))
        });
        let (protection, key) = match opened {
            Ok((protection, key)) => (Some(protection), key),
            Err(error) => (Protection::of_unsupported(&error), Err(error)),
        };
        let pkcs8 = match key {
            Ok(key) => Some(key),
            Err(error) => {
                self.fail(error);
                None
            }
        };
        Ok(KeyBag {
            pkcs8,
            protection,
            friendly_name,
        })
    }

    fn decrypt(&mut self, scheme: &Scheme<'_>, data: &[u8]) -> Result<Secret, P12Error> {
        // A wrong password does not get better with further work.
        if self.contents.password_fits == Some(false) {
            return Err(P12Error::WrongPassword);
        }
        match scheme.decrypt(data, self.forms, self.work)? {
            Some(plain) => {
                self.contents.password_fits = Some(true);
                Ok(plain)
            }
            None if self.contents.password_fits.is_some() => Err(P12Error::Damaged(
                "a part cannot be decrypted although the password is right",
            )),
            None => {
                self.contents.password_fits = Some(false);
                Err(P12Error::WrongPassword)
            }
        }
    }
}

/// The name that a tool gave to a bag, from the attributes that follow its value.
fn friendly_name(mut bag: Ber<'_>) -> Option<String> {
    let mut attributes = bag.expect(SET).ok()?.inside();
    while !attributes.is_empty() {
        let mut attribute = attributes.sequence().ok()?;
        if dotted(attribute.object_identifier().ok()?) == FRIENDLY_NAME {
            let name = attribute.expect(SET).ok()?.inside().value().ok()?;
            return Some(names::text(name));
        }
    }
    None
}
