//! Writes the content of a file into a new one that opens quickly: keys under PBES2 with AES-256, certificates
//! unencrypted, and an integrity check with SHA-256. OpenSSL's own writer accepts only one key.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openssl::error::ErrorStack;
use openssl::pkey::{PKeyRef, Private};
use openssl::symm::Cipher;
use zeroize::Zeroizing;

use super::P12Error;
use super::container::{self, Bag, MacOf};
use super::contents::Contents;
use super::password::wide;

/// A file with a random password of 256 bits, which needs no iterations against guessing.
pub struct Reencrypted {
    /// The new file.
    pub file: Zeroizing<Vec<u8>>,
    /// Its password.
    pub password: Zeroizing<String>,
}

/// The usual minimum of tools, and OpenSSL's default for keys.
const ITERATIONS: u16 = 2048;

/// Writes the keys and certificates of a file in its order. `random`: 32 bytes for the password, the rest for the salt.
pub(super) fn write(contents: &Contents, random: &[u8; 64]) -> Result<Reencrypted, P12Error> {
    let (secret, salt) = random.split_at(32);
    let password = Zeroizing::new(STANDARD.encode(secret));
    let keys = contents.keys.iter().filter_map(|bag| bag.key.as_deref());
    let certificates = contents.certificates.iter().map(|bag| bag.der.as_slice());
    let file = pkcs12_file(keys, certificates, &password, Some(salt));
    let file = file.map_err(|_| P12Error::Damaged("a key cannot be written"))?;
    Ok(Reencrypted {
        file: Zeroizing::new(file),
        password,
    })
}

/// Writes a file with any number of keys and certificates, keys first. Keys are encrypted unless the password is empty.
/// With a salt, the file has an integrity check.
///
/// # Errors
///
/// Failures of OpenSSL.
pub fn pkcs12_file<'a>(
    keys: impl Iterator<Item = &'a PKeyRef<Private>>,
    certificates: impl Iterator<Item = &'a [u8]>,
    password: &str,
    salt: Option<&[u8]>,
) -> Result<Vec<u8>, ErrorStack> {
    let mut bags = Zeroizing::new(Vec::new());
    for key in keys {
        let (kind, key) = match password {
            "" => (Bag::Key, key.private_key_to_pkcs8()?),
            _ => {
                let key = key.private_key_to_pkcs8_passphrase(Cipher::aes_256_cbc(), password.as_bytes())?;
                (Bag::ShroudedKey, key)
            }
        };
        bags.extend(container::bag(kind, &key));
    }
    for certificate in certificates {
        bags.extend(container::bag(Bag::Certificate, certificate));
    }
    let password = wide(password);
    let mac = salt.map(|salt| MacOf {
        password: &password,
        salt,
        iterations: ITERATIONS,
    });
    container::file(&[&container::part(&bags)], mac.as_ref())
}
