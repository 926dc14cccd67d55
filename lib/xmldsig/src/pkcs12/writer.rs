//! Writes what a file holds into a new one that is quick to open: keys under PBES2 with AES-256, certificates as they are, and an
//! integrity check with SHA-256.

use aes::Aes256;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use cbc::Encryptor;
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeEncrypt, KeyIvInit};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::P12Error;
use super::kdf::{self, Digest, Purpose, Work};
use super::password::Forms;
use super::pfx::Contents;
use crate::ber::{CONTEXT_0, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE};

/// A file whose password nobody chose: 256 random bits, which no number of rounds makes harder to guess.
pub struct Reencrypted {
    /// The new file.
    pub file: Zeroizing<Vec<u8>>,
    /// Its password.
    pub password: Zeroizing<String>,
}

/// As many rounds as tools write at least.
const ITERATIONS: u32 = 2048;

const DATA: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 7, 1];
const X509_CERTIFICATE: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 9, 22, 1];
const PBKDF2: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 12];
const PBES2: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 5, 13];
const HMAC_SHA256: &[u8] = &[0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 2, 9];
const AES_256_CBC: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 1, 42];
const SHA256: &[u8] = &[0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];
const NULL: &[u8] = &[0x05, 0x00];

/// The last number of a bag's identifier (RFC 7292, section 4.2).
const SHROUDED_KEY: u8 = 2;
const CERTIFICATE: u8 = 3;

/// Writes the keys and certificates of a file, in its order. `random` is as long as password and salts need.
pub(super) fn write(contents: &Contents, random: &[u8; 64]) -> Result<Reencrypted, P12Error> {
    let (secret, seed) = random.split_at(32);
    let password = Zeroizing::new(STANDARD.encode(secret));
    let forms = Forms::of(&password);
    let (Some(wide), Some(narrow)) = (forms.wide.first(), forms.narrow.first()) else {
        return Err(P12Error::Damaged("a password without a form"));
    };
    let mut work = Work::new();
    let mut bags = Vec::new();
    let keys = contents.keys.iter().filter_map(|key| key.pkcs8.as_ref());
    for (number, pkcs8) in keys.enumerate() {
        let salts = [salt(seed, "key", number), salt(seed, "iv", number)];
        bags.extend(bag(SHROUDED_KEY, &shrouded(pkcs8, narrow, salts, &mut work)?));
    }
    for certificate in &contents.certificates {
        let value = der(CONTEXT_0, &der(OCTET_STRING, &certificate.der));
        let value = der(SEQUENCE, &[der(OBJECT_IDENTIFIER, X509_CERTIFICATE), value].concat());
        bags.extend(bag(CERTIFICATE, &value));
    }
    let safe = der(SEQUENCE, &data(&der(SEQUENCE, &bags)));
    let mac = mac(&safe, wide, &salt(seed, "mac", 0), &mut work)?;
    let file = der(SEQUENCE, &[der(INTEGER, &[3]), data(&safe), mac].concat());
    Ok(Reencrypted {
        file: Zeroizing::new(file),
        password,
    })
}

/// `EncryptedPrivateKeyInfo` under PBES2 (RFC 8018).
fn shrouded(pkcs8: &[u8], password: &[u8], [salt, iv]: [[u8; 16]; 2], work: &mut Work) -> Result<Vec<u8>, P12Error> {
    let key = kdf::pbkdf2(Digest::Sha256, password, &salt, ITERATIONS, 32, work)?;
    let cipher = Encryptor::<Aes256>::new_from_slices(&key, &iv)
        .map_err(|_| P12Error::Damaged("a cipher with impossible parameters"))?;
    let encrypted = cipher.encrypt_padded_vec::<Pkcs7>(pkcs8);
    let prf = algorithm(HMAC_SHA256, NULL);
    let kdf = der(SEQUENCE, &[der(OCTET_STRING, &salt), iterations(), prf].concat());
    let parameters = [algorithm(PBKDF2, &kdf), algorithm(AES_256_CBC, &der(OCTET_STRING, &iv))];
    let scheme = algorithm(PBES2, &der(SEQUENCE, &parameters.concat()));
    Ok(der(SEQUENCE, &[scheme, der(OCTET_STRING, &encrypted)].concat()))
}

/// `MacData` (RFC 7292, section 4).
fn mac(safe: &[u8], password: &[u8], salt: &[u8], work: &mut Work) -> Result<Vec<u8>, P12Error> {
    let digest = Digest::Sha256;
    let length = digest.output_size();
    let key = kdf::pkcs12(digest, Purpose::Mac, password, salt, ITERATIONS, length, work)?;
    let code = der(OCTET_STRING, &digest.hmac(&key, safe));
    let stated = der(SEQUENCE, &[algorithm(SHA256, NULL), code].concat());
    Ok(der(SEQUENCE, &[stated, der(OCTET_STRING, salt), iterations()].concat()))
}

/// Salts that differ from key to key and from purpose to purpose.
fn salt(seed: &[u8], purpose: &str, number: usize) -> [u8; 16] {
    let hash = Sha256::new()
        .chain_update(seed)
        .chain_update(purpose)
        .chain_update(number.to_be_bytes())
        .finalize();
    std::array::from_fn(|at| hash[at])
}

fn iterations() -> Vec<u8> {
    // 2048 is positive in two bytes.
    let [.., high, low] = ITERATIONS.to_be_bytes();
    der(INTEGER, &[high, low])
}

fn algorithm(identifier: &[u8], parameters: &[u8]) -> Vec<u8> {
    der(SEQUENCE, &[&der(OBJECT_IDENTIFIER, identifier), parameters].concat())
}

fn bag(kind: u8, value: &[u8]) -> Vec<u8> {
    let identifier = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1, 12, 10, 1, kind];
    der(
        SEQUENCE,
        &[der(OBJECT_IDENTIFIER, &identifier), der(CONTEXT_0, value)].concat(),
    )
}

/// `ContentInfo` of plain data.
fn data(contents: &[u8]) -> Vec<u8> {
    let contents = der(CONTEXT_0, &der(OCTET_STRING, contents));
    der(SEQUENCE, &[der(OBJECT_IDENTIFIER, DATA), contents].concat())
}

/// A value with its tag and its length, which has as few bytes as possible.
fn der(tag: u8, contents: &[u8]) -> Vec<u8> {
    let length = contents.len().to_be_bytes();
    let length = &length[length.iter().take_while(|byte| **byte == 0).count()..];
    let mut value = vec![tag];
    match length {
        [] => value.push(0),
        [short @ 0..0x80] => value.push(*short),
        long => {
            // A length has eight bytes at most.
            value.push(0x80 | u8::try_from(long.len()).unwrap_or_default());
            value.extend_from_slice(long);
        }
    }
    value.extend_from_slice(contents);
    value
}
