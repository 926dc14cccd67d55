//! The container: authenticated safes, their bags, and what is in them.

use super::P12Error;
use super::ber::{Ber, CONTEXT_0, INTEGER, dotted};
use super::kdf::Work;
use super::mac::Mac;
use super::password::{Forms, Secret};
use super::scheme::{Scheme, unsupported};

/// Keys and certificates of a file, each in the order of the file.
#[derive(Default)]
pub(super) struct Contents {
    /// PKCS#8 `PrivateKeyInfo`.
    pub(super) keys: Vec<Secret>,
    /// DER of X.509 certificates.
    pub(super) certificates: Vec<Vec<u8>>,
}

/// A chain has a handful; more is an attempt to keep us busy.
const MOST_BAGS: usize = 64;
const DEEPEST_BAGS: usize = 4;

const DATA: &str = "1.2.840.113549.1.7.1";
const ENCRYPTED_DATA: &str = "1.2.840.113549.1.7.6";

struct Opening<'f> {
    forms: &'f Forms,
    work: &'f mut Work,
    /// The password is known to be right.
    mac_fits: bool,
    bags: usize,
    contents: Contents,
}

/// Reads a whole file.
pub(super) fn read(der: &[u8], forms: &Forms, work: &mut Work) -> Result<Contents, P12Error> {
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
    let mac = if pfx.is_empty() {
        None
    } else {
        Some(Mac::read(pfx.sequence()?)?)
    };
    if let Some(mac) = &mac
        && !mac.fits(&safe, forms, work)?
    {
        return Err(P12Error::WrongPassword);
    }
    let mut opening = Opening {
        forms,
        work,
        mac_fits: mac.is_some(),
        bags: 0,
        contents: Contents::default(),
    };
    let mut safes = Ber::new(&safe).sequence()?;
    while !safes.is_empty() {
        opening.safe(safes.sequence()?)?;
    }
    Ok(opening.contents)
}

impl Opening<'_> {
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
                let scheme = Scheme::read(&mut encrypted)?;
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
            self.bag(bags.sequence()?, depth)?;
        }
        Ok(())
    }

    fn bag(&mut self, mut bag: Ber<'_>, depth: usize) -> Result<(), P12Error> {
        let identifier = dotted(bag.object_identifier()?);
        let value = bag.expect(CONTEXT_0)?;
        match identifier.as_str() {
            // keyBag: a key without encryption of its own.
            "1.2.840.113549.1.12.10.1.1" => self.contents.keys.push(Secret::new(value.contents.to_vec())),
            // pkcs8ShroudedKeyBag
            "1.2.840.113549.1.12.10.1.2" => {
                let mut shrouded = value.inside().sequence()?;
                let scheme = Scheme::read(&mut shrouded)?;
                let key = self.decrypt(&scheme, &shrouded.octets()?)?;
                self.contents.keys.push(key);
            }
            // certBag; the only other kind is SDSI, which died out.
            "1.2.840.113549.1.12.10.1.3" => {
                let mut certificate = value.inside().sequence()?;
                if dotted(certificate.object_identifier()?) == "1.2.840.113549.1.9.22.1" {
                    let der = certificate.expect(CONTEXT_0)?.inside().octets()?;
                    self.contents.certificates.push(der.into_owned());
                }
            }
            // safeContentsBag: bags in a bag.
            "1.2.840.113549.1.12.10.1.6" => self.bags(value.contents, depth + 1)?,
            // Revocation lists and secrets are of no use here.
            _ => {}
        }
        Ok(())
    }

    fn decrypt(&mut self, scheme: &Scheme<'_>, data: &[u8]) -> Result<Secret, P12Error> {
        match scheme.decrypt(data, self.forms, self.work)? {
            Some(plain) => Ok(plain),
            None if self.mac_fits => Err(P12Error::Damaged(
                "a part cannot be decrypted although the password is right",
            )),
            None => Err(P12Error::WrongPassword),
        }
    }
}
