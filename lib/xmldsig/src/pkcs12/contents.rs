//! The content of a file, as far as the password opens it.
//!
//! One pass serves opening and inspecting: it records a failure and continues with the next part. It lists the parts
//! and their parameters; OpenSSL opens the parts, one at a time and only after their iterations are counted.

use std::sync::LazyLock;

use bcder::Tag;
use bytes::Bytes;
use openssl::pkcs12::{ParsedPkcs12_2, Pkcs12};
use openssl::pkey::{PKey, Private};
use openssl::provider::Provider;
use openssl::x509::X509Ref;

use super::P12Error;
use super::algorithms::{Encryption, Pbes2, Work, algorithm_identifier, unsupported};
use super::container::{self, Bag, MacOf};
use super::inspection::Protection;
use super::mac::Mac;
use super::password::{Forms, WideForm};
use super::structure::{Malformed, contents, count, identifier, octets, tag, values};

/// The content in the order of the file.
#[derive(Default)]
pub(super) struct Contents {
    pub(super) mac: Option<Protection>,
    /// Whether the password is right; `None` when nothing in the file depends on it.
    pub(super) password_fits: Option<bool>,
    /// The encryption of each encrypted part, keys excluded.
    pub(super) encryption: Vec<Protection>,
    pub(super) keys: Vec<KeyBag>,
    pub(super) certificates: Vec<CertificateBag>,
    /// Why parts could not be read. Opening stops at the first failure.
    pub(super) failures: Vec<P12Error>,
}

pub(super) struct KeyBag {
    /// `None` when it cannot be decrypted or read.
    pub(super) key: Option<PKey<Private>>,
    pub(super) protection: Option<Protection>,
    pub(super) friendly_name: Option<String>,
}

pub(super) struct CertificateBag {
    pub(super) der: Vec<u8>,
    pub(super) friendly_name: Option<String>,
}

/// Upper bound of the bags in a file, against files that only take time. A chain has a handful.
const MOST_BAGS: usize = 64;
const DEEPEST_BAGS: usize = 4;

const DATA: &str = "1.2.840.113549.1.7.1";
const ENCRYPTED_DATA: &str = "1.2.840.113549.1.7.6";
const FRIENDLY_NAME: &str = "1.2.840.113549.1.9.20";

impl From<Malformed> for P12Error {
    fn from(_: Malformed) -> Self {
        Self::Damaged("a part of it cannot be read")
    }
}

struct Opening<'f> {
    forms: &'f Forms,
    work: Work,
    bags: usize,
    contents: Contents,
}

/// Reads a whole file.
pub(super) fn read(der: &[u8], forms: &Forms) -> Contents {
    let mut opening = Opening {
        forms,
        work: Work::new(),
        bags: 0,
        contents: Contents::default(),
    };
    if let Err(error) = opening.file(&Bytes::copy_from_slice(der)) {
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

    fn file(&mut self, der: &Bytes) -> Result<(), P12Error> {
        let parts = values(der, Tag::SEQUENCE)?;
        let [version, authenticated, mac @ ..] = parts.as_slice() else {
            return Err(P12Error::Damaged("it lacks its contents"));
        };
        if count(version)? != 3 {
            return Err(P12Error::Damaged("its version is not 3"));
        }
        let (kind, content) = content_info(authenticated)?;
        if kind != DATA {
            // Files protected by a public key instead of a password, which are not in use.
            return Err(unsupported(kind));
        }
        let safe = octets(&content, Tag::OCTET_STRING)?;
        if let Some(mac) = mac.first()
            && let Err(error) = self.check_mac(mac, &safe)
        {
            self.fail(error);
        }
        for part in values(&safe, Tag::SEQUENCE)? {
            self.count_bag(0)?;
            if let Err(error) = self.part(&part) {
                self.fail(error);
            }
        }
        Ok(())
    }

    fn check_mac(&mut self, data: &Bytes, safe: &[u8]) -> Result<(), P12Error> {
        let mac = Mac::read(data).inspect_err(|error| self.contents.mac = Protection::of_unsupported(error))?;
        self.contents.mac = Some(mac.protection());
        let fits = mac.fits(safe, self.forms, &mut self.work)?;
        self.contents.password_fits = Some(fits);
        if fits { Ok(()) } else { Err(P12Error::WrongPassword) }
    }

    fn part(&mut self, part: &Bytes) -> Result<(), P12Error> {
        let (kind, content) = content_info(part)?;
        match kind.as_str() {
            DATA => self.bags(&octets(&content, Tag::OCTET_STRING)?, 0),
            ENCRYPTED_DATA => self.encrypted_part(part, &content),
            _ => Err(unsupported(kind)),
        }
    }

    /// Reads the certificates of an encrypted part.
    ///
    /// The iterations of a key inside cannot be counted before they run. OpenSSL reads only the first key of a file, so
    /// a key of ours is placed first and the key inside is never read.
    fn encrypted_part(&mut self, part: &Bytes, content: &Bytes) -> Result<(), P12Error> {
        static FIRST_KEY: LazyLock<Option<Vec<u8>>> = LazyLock::new(|| {
            let key = PKey::generate_ed25519().and_then(|key| key.private_key_to_pkcs8());
            key.ok().map(|key| container::part(&container::bag(Bag::Key, &key)))
        });
        let damaged = P12Error::Damaged("an encrypted part without its contents");
        let data = values(content, Tag::SEQUENCE)?;
        let [_version, encrypted, ..] = data.as_slice() else {
            return Err(damaged);
        };
        let encrypted = values(encrypted, Tag::SEQUENCE)?;
        let [_kind, algorithm, encrypted, ..] = encrypted.as_slice() else {
            return Err(damaged);
        };
        let encryption = Encryption::read(algorithm)
            .inspect_err(|error| self.contents.encryption.extend(Protection::of_unsupported(error)))?;
        self.contents.encryption.push(encryption.protection.clone());
        let first_key = FIRST_KEY.as_deref().ok_or(damaged.clone())?;
        let found = self.decrypt(&encryption, |attempt| match attempt {
            Attempt::Text(form) => open(&[first_key, part], form),
            Attempt::Bytes { pbes2, password, form } => {
                let encrypted = octets(encrypted, Tag::CTX_0).ok()?;
                let bags = pbes2.decrypt(&encrypted, password)?;
                open(&[first_key, &container::data(&bags)], form)
            }
        })?;
        // OpenSSL keeps the order of the certificates, because none belongs to our key.
        for certificate in found.ca.iter().flatten() {
            self.count_bag(0)?;
            self.contents.certificates.push(CertificateBag {
                der: certificate.to_der().map_err(|_| damaged.clone())?,
                friendly_name: alias(certificate),
            });
        }
        Ok(())
    }

    fn bags(&mut self, safe_contents: &Bytes, depth: usize) -> Result<(), P12Error> {
        for bag in values(safe_contents, Tag::SEQUENCE)? {
            self.count_bag(depth)?;
            if let Err(error) = self.bag(&bag, depth) {
                self.fail(error);
            }
        }
        Ok(())
    }

    fn count_bag(&mut self, depth: usize) -> Result<(), P12Error> {
        self.bags += 1;
        if self.bags > MOST_BAGS || depth > DEEPEST_BAGS {
            return Err(P12Error::Damaged("it has too many parts"));
        }
        Ok(())
    }

    fn bag(&mut self, bag: &Bytes, depth: usize) -> Result<(), P12Error> {
        let empty = P12Error::Damaged("a bag without its contents");
        let bag = values(bag, Tag::SEQUENCE)?;
        let [kind, value, attributes @ ..] = bag.as_slice() else {
            return Err(empty);
        };
        let value = values(value, Tag::CTX_0)?.into_iter().next().ok_or(empty.clone())?;
        let friendly_name = || attributes.first().and_then(friendly_name);
        match identifier(kind)?.as_str() {
            // keyBag: an unencrypted key.
            "1.2.840.113549.1.12.10.1.1" => {
                let key = private_key(&value).map_err(|error| self.fail(error)).ok();
                self.contents.keys.push(KeyBag {
                    key,
                    protection: None,
                    friendly_name: friendly_name(),
                });
            }
            // pkcs8ShroudedKeyBag
            "1.2.840.113549.1.12.10.1.2" => self.shrouded_key(&value, friendly_name())?,
            // certBag; the only other kind is SDSI, which died out.
            "1.2.840.113549.1.12.10.1.3" => {
                let certificate = values(&value, Tag::SEQUENCE)?;
                let [kind, certificate, ..] = certificate.as_slice() else {
                    return Err(empty);
                };
                if identifier(kind)? == "1.2.840.113549.1.9.22.1" {
                    let certificate = values(certificate, Tag::CTX_0)?.into_iter().next().ok_or(empty)?;
                    self.contents.certificates.push(CertificateBag {
                        der: octets(&certificate, Tag::OCTET_STRING)?.into(),
                        friendly_name: friendly_name(),
                    });
                }
            }
            // safeContentsBag: nested bags.
            "1.2.840.113549.1.12.10.1.6" => self.bags(&value, depth + 1)?,
            // Revocation lists and secrets are not used.
            _ => {}
        }
        Ok(())
    }

    /// Records a key, and the reason if it cannot be decrypted.
    fn shrouded_key(&mut self, value: &Bytes, friendly_name: Option<String>) -> Result<(), P12Error> {
        let shrouded = values(value, Tag::SEQUENCE)?;
        let [algorithm, encrypted, ..] = shrouded.as_slice() else {
            return Err(P12Error::Damaged("a key without its contents"));
        };
        let encrypted = octets(encrypted, Tag::OCTET_STRING)?;
        let (protection, key) = match Encryption::read(algorithm) {
            Ok(encryption) => {
                let key = self.decrypted_key(&encryption, value, &encrypted);
                (Some(encryption.protection), key)
            }
            Err(error) => (Protection::of_unsupported(&error), Err(error)),
        };
        let key = key.map_err(|error| self.fail(error)).ok();
        self.contents.keys.push(KeyBag {
            key,
            protection,
            friendly_name,
        });
        Ok(())
    }

    /// Decrypts a key. With PBES2, the kind of key is checked before OpenSSL reads it.
    fn decrypted_key(
        &mut self,
        encryption: &Encryption,
        value: &Bytes,
        encrypted: &[u8],
    ) -> Result<PKey<Private>, P12Error> {
        let Some(pbes2) = &encryption.pbes2 else {
            self.work.spend_on_key(encrypted.len())?;
            let part = container::part(&container::bag(Bag::ShroudedKey, value));
            return self.decrypt(encryption, |attempt| match attempt {
                Attempt::Text(form) => open(&[&part], form)?.pkey,
                Attempt::Bytes { .. } => None,
            });
        };
        self.decrypt(encryption, |attempt| {
            let password = match attempt {
                Attempt::Text(form) => form.text.as_bytes(),
                Attempt::Bytes { password, .. } => password,
            };
            let key = Bytes::from_owner(pbes2.decrypt(encrypted, password)?);
            // With a wrong password the result is random, and seldom looks like a key.
            values(&key, Tag::SEQUENCE).is_ok().then(|| private_key(&key))
        })?
    }

    /// Tries each form of the password; the iterations are counted before each attempt.
    fn decrypt<T>(
        &mut self,
        encryption: &Encryption,
        attempt: impl Fn(Attempt<'_>) -> Option<T>,
    ) -> Result<T, P12Error> {
        // After a wrong password, further attempts are pointless.
        if self.contents.password_fits == Some(false) {
            return Err(P12Error::WrongPassword);
        }
        if encryption.is_legacy && !legacy_ciphers_are_loaded() {
            let name = encryption.protection.algorithm.clone();
            return Err(P12Error::UnsupportedCipher { name });
        }
        let forms = self.forms;
        let texts = forms.wide.iter().map(Attempt::Text);
        let attempts: Vec<Attempt<'_>> = match (&encryption.pbes2, forms.wide.first(), &forms.latin_1) {
            (None, ..) => texts.collect(),
            (Some(pbes2), Some(form), Some(password)) => {
                let bytes = Attempt::Bytes { pbes2, password, form };
                texts.take(1).chain([bytes]).collect()
            }
            (Some(_), ..) => texts.take(1).collect(),
        };
        for one in attempts {
            self.work.spend(encryption.cost)?;
            if let Some(found) = attempt(one) {
                self.contents.password_fits = Some(true);
                return Ok(found);
            }
        }
        if self.contents.password_fits.is_some() {
            return Err(P12Error::Damaged(
                "a part cannot be decrypted although the password is right",
            ));
        }
        self.contents.password_fits = Some(false);
        Err(P12Error::WrongPassword)
    }
}

/// One form of the password.
#[derive(Clone, Copy)]
enum Attempt<'a> {
    Text(&'a WideForm),
    /// Bytes that are not valid UTF-8.
    Bytes {
        pbes2: &'a Pbes2,
        password: &'a [u8],
        /// Any form; the file in this attempt is not encrypted.
        form: &'a WideForm,
    },
}

/// Opens these parts of a file with OpenSSL.
///
/// An integrity check with one iteration lets OpenSSL decide whether an empty password means the empty string or no
/// password.
fn open(parts: &[&[u8]], form: &WideForm) -> Option<ParsedPkcs12_2> {
    let mac = MacOf {
        password: &form.bytes,
        salt: &[0; 8],
        iterations: 1,
    };
    let file = container::file(parts, Some(&mac)).ok()?;
    Pkcs12::from_der(&file).ok()?.parse2(&form.text).ok()
}

/// Reads a key as PKCS#8, if its kind is one that OpenSSL reads without unbounded computation.
fn private_key(pkcs8: &Bytes) -> Result<PKey<Private>, P12Error> {
    let damaged = P12Error::Damaged("the private key cannot be read");
    let parts = values(pkcs8, Tag::SEQUENCE)?;
    let [_version, algorithm, ..] = parts.as_slice() else {
        return Err(damaged);
    };
    let (kind, parameters) = algorithm_identifier(algorithm)?;
    let is_bounded = match kind.as_str() {
        // RSA, RSA-PSS, X25519, X448, Ed25519, Ed448
        "1.2.840.113549.1.1.1" | "1.2.840.113549.1.1.10" => true,
        "1.3.101.110" | "1.3.101.111" | "1.3.101.112" | "1.3.101.113" => true,
        // Only on a named curve.
        "1.2.840.10045.2.1" => parameters.is_some_and(|curve| identifier(&curve).is_ok()),
        _ => false,
    };
    if !is_bounded {
        return Err(P12Error::NotRsa);
    }
    PKey::private_key_from_pkcs8(pkcs8).map_err(|_| damaged)
}

/// Loads OpenSSL's legacy provider, which has RC2, with the first file that needs it. It stays loaded beside the
/// default provider.
fn legacy_ciphers_are_loaded() -> bool {
    static LEGACY: LazyLock<Option<Provider>> = LazyLock::new(|| Provider::try_load(None, "legacy", true).ok());
    LEGACY.is_some()
}

/// The kind of a `ContentInfo`, and its content.
fn content_info(value: &Bytes) -> Result<(String, Bytes), P12Error> {
    let empty = P12Error::Damaged("a part without its contents");
    let info = values(value, Tag::SEQUENCE)?;
    let [kind, content, ..] = info.as_slice() else {
        return Err(empty);
    };
    let content = values(content, Tag::CTX_0)?.into_iter().next().ok_or(empty)?;
    Ok((identifier(kind)?, content))
}

/// The name that a tool gave to a bag.
fn friendly_name(attributes: &Bytes) -> Option<String> {
    let attributes = values(attributes, Tag::SET).ok()?;
    attributes.iter().find_map(|attribute| {
        let attribute = values(attribute, Tag::SEQUENCE).ok()?;
        let [kind, names, ..] = attribute.as_slice() else {
            return None;
        };
        if identifier(kind).ok()? != FRIENDLY_NAME {
            return None;
        }
        let name = values(names, Tag::SET).ok()?.into_iter().next()?;
        let text = contents(&name, tag(&name).ok()?).ok()?;
        let (units, _) = text.as_chunks::<2>();
        let units = units.iter().map(|unit| u16::from_be_bytes(*unit));
        Some(match tag(&name).ok()? {
            Tag::BMP_STRING => char::decode_utf16(units)
                .map(|character| character.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect(),
            _ => String::from_utf8_lossy(&text).into_owned(),
        })
    })
}

/// The name that a tool gave to a certificate, as reported by OpenSSL.
fn alias(certificate: &X509Ref) -> Option<String> {
    certificate
        .alias()
        .map(|name| String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::{Duration, Instant};

    use openssl::hash::MessageDigest;
    use openssl::pkcs5::pbkdf2_hmac;
    use openssl::symm::{Cipher, encrypt};

    use super::container::{CONTEXT_0, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, der};
    use super::*;

    const PASSWORD: &str = "clave";
    const SALT: [u8; 16] = [7; 16];

    fn algorithm(identifier: &[u8], parameters: &[u8]) -> Vec<u8> {
        der(SEQUENCE, &[&der(OBJECT_IDENTIFIER, identifier), parameters].concat())
    }

    /// AES-256 with a key from PBKDF2 with HMAC-SHA-1.
    fn pbes2(iterations: &[u8]) -> Vec<u8> {
        let kdf = der(SEQUENCE, &[der(OCTET_STRING, &SALT), der(INTEGER, iterations)].concat());
        let kdf = algorithm(&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 12], &kdf);
        let aes = algorithm(&[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42], &der(OCTET_STRING, &SALT));
        let scheme = der(SEQUENCE, &[kdf, aes].concat());
        algorithm(&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 13], &scheme)
    }

    /// A part that is encrypted with one iteration.
    fn encrypted_part(bags: &[u8]) -> Vec<u8> {
        let mut key = [0; 32];
        pbkdf2_hmac(PASSWORD.as_bytes(), &SALT, 1, MessageDigest::sha1(), &mut key).unwrap();
        let encrypted = encrypt(Cipher::aes_256_cbc(), &key, Some(&SALT), &der(SEQUENCE, bags)).unwrap();
        let data = der(OBJECT_IDENTIFIER, &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1]);
        let content = [data, pbes2(&[1]), der(0x80, &encrypted)].concat();
        let content = der(SEQUENCE, &[der(INTEGER, &[0]), der(SEQUENCE, &content)].concat());
        let kind = der(OBJECT_IDENTIFIER, &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 6]);
        der(SEQUENCE, &[kind, der(CONTEXT_0, &content)].concat())
    }

    /// A DSA key with a modulus and a private exponent of `bytes` bytes, from which OpenSSL computes the public key
    /// when it reads them.
    fn dsa_key(bytes: usize) -> Vec<u8> {
        let number = |bytes: usize| der(INTEGER, &[vec![0x5A; bytes - 1], vec![0x5B]].concat());
        let parameters = [number(bytes), number(20), der(INTEGER, &[3])].concat();
        let dsa = algorithm(&[0x2A, 0x86, 0x48, 0xCE, 0x38, 4, 1], &der(SEQUENCE, &parameters));
        let key = [der(INTEGER, &[0]), dsa, der(OCTET_STRING, &number(bytes))].concat();
        der(SEQUENCE, &key)
    }

    fn encrypted_with_pbes2(key: &[u8]) -> Vec<u8> {
        let mut secret = [0; 32];
        pbkdf2_hmac(PASSWORD.as_bytes(), &SALT, 1, MessageDigest::sha1(), &mut secret).unwrap();
        let encrypted = encrypt(Cipher::aes_256_cbc(), &secret, Some(&SALT), key).unwrap();
        der(SEQUENCE, &[pbes2(&[1]), der(OCTET_STRING, &encrypted)].concat())
    }

    #[test]
    fn a_key_that_takes_long_to_read_is_not_read() {
        let key = dsa_key(10_000);
        let legacy = [
            algorithm(
                &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 1, 3],
                &der(SEQUENCE, &[der(OCTET_STRING, &SALT), der(INTEGER, &[1])].concat()),
            ),
            der(OCTET_STRING, &vec![0; 20_000]),
        ];
        let start = Instant::now();
        for (bag, expected) in [
            (container::bag(Bag::Key, &key), "not_rsa"),
            (container::bag(Bag::ShroudedKey, &encrypted_with_pbes2(&key)), "not_rsa"),
            // The kind of key is known only after OpenSSL has read it.
            (
                container::bag(Bag::ShroudedKey, &der(SEQUENCE, &legacy.concat())),
                "too_many_iterations",
            ),
        ] {
            let file = container::file(&[&container::part(&bag)], None).unwrap();
            let failures = read(&file, &Forms::of(PASSWORD)).failures;
            let codes: Vec<_> = failures.iter().map(P12Error::code).collect();
            assert_eq!(codes, [expected]);
        }
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }

    #[test]
    fn an_integrity_check_with_a_key_of_no_length_is_refused() {
        let hmac = algorithm(&[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 2, 9], &[]);
        let kdf = [
            der(OCTET_STRING, &SALT),
            der(INTEGER, &[0, 0x80, 0, 0, 0]),
            der(INTEGER, &[0]),
            hmac.clone(),
        ];
        let kdf = algorithm(
            &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 12],
            &der(SEQUENCE, &kdf.concat()),
        );
        let pbmac1 = algorithm(
            &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 14],
            &der(SEQUENCE, &[kdf, hmac].concat()),
        );
        let stated = der(SEQUENCE, &[pbmac1, der(OCTET_STRING, &[0; 32])].concat());
        let mac = der(
            SEQUENCE,
            &[stated, der(OCTET_STRING, &SALT), der(INTEGER, &[1])].concat(),
        );
        let data = container::data(&der(SEQUENCE, &[]));
        let file = der(SEQUENCE, &[der(INTEGER, &[3]), data, mac].concat());
        let failures = read(&file, &Forms::of(PASSWORD)).failures;
        let codes: Vec<_> = failures.iter().map(P12Error::code).collect();
        assert_eq!(codes, ["damaged"]);
    }

    #[test]
    fn the_parts_of_a_file_are_counted() {
        let parts: Vec<Vec<u8>> = (0..=u8::try_from(MOST_BAGS).unwrap())
            .map(|last| der(SEQUENCE, &der(OBJECT_IDENTIFIER, &[0x2A, last])))
            .collect();
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let file = container::file(&parts, None).unwrap();
        let failures = read(&file, &Forms::of(PASSWORD)).failures;
        assert!(failures.len() <= 3, "{failures:?}");
    }

    #[test]
    fn no_iterations_are_run_that_were_not_counted() {
        let endless = [pbes2(&[0x7F, 0xFF, 0xFF, 0xFF]), der(OCTET_STRING, &[0; 32])].concat();
        let bag = container::bag(Bag::ShroudedKey, &der(SEQUENCE, &endless));
        let start = Instant::now();
        let visible = container::file(&[&container::part(&bag)], None).unwrap();
        let failures = read(&visible, &Forms::of(PASSWORD)).failures;
        assert!(
            matches!(failures.as_slice(), [P12Error::TooManyIterations { .. }]),
            "{failures:?}"
        );
        // In an encrypted part, the number of bags is known only after decryption.
        let hidden = container::file(&[&encrypted_part(&bag)], None).unwrap();
        let found = read(&hidden, &Forms::of(PASSWORD));
        assert_eq!((found.password_fits, found.failures), (Some(true), vec![]));
        assert!(found.keys.is_empty() && found.certificates.is_empty());
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    }
}
