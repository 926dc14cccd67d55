//! Checking an RSA signature with nothing but modulus and exponent.
//!
//! OpenSSL's general interface decodes a key, looks algorithms up and copies the key between providers each time, which takes as long as
//! the operation itself. A verifier sees every key once, so it uses the bare operation, and compares the whole block as RFC 8017, section
//! 8.2.2, describes: nothing of the padding is parsed, so nothing of it can be lax.

use openssl::bn::BigNum;
use openssl::error::ErrorStack;
use openssl::pkey::Public;
use openssl::rsa::{Padding, Rsa};

/// `DigestInfo` of a SHA-256 digest, up to the digest (RFC 8017, section 9.2).
const SHA256_DIGEST_INFO: [u8; 19] = [
    0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04, 0x20,
];

/// The numbers of a public key, big-endian and without leading zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RsaNumbers<'a> {
    pub(crate) modulus: &'a [u8],
    pub(crate) exponent: &'a [u8],
}

impl RsaNumbers<'_> {
    /// Size of the modulus.
    pub(crate) fn bits(self) -> u32 {
        let unused = self.modulus.first().map_or(0, |first| first.leading_zeros());
        u32::try_from(self.modulus.len() * 8).map_or(u32::MAX, |bits| bits - unused)
    }

    /// Whether the exponent is odd and at least 3: with 1, everybody can sign.
    pub(crate) fn exponent_is_sound(self) -> bool {
        self.exponent.last().is_some_and(|last| last % 2 == 1) && *self.exponent != [1] && self.exponent.len() <= 8
    }

    pub(crate) fn load(self) -> Result<Rsa<Public>, ErrorStack> {
        Rsa::from_public_components(BigNum::from_slice(self.modulus)?, BigNum::from_slice(self.exponent)?)
    }
}

/// Whether `signature` is RSASSA-PKCS1-v1_5 of a document with this SHA-256 digest.
pub(crate) fn fits_sha256(key: &Rsa<Public>, digest: &[u8; 32], signature: &[u8]) -> bool {
    let size = usize::try_from(key.size()).unwrap_or_default();
    // OpenSSL would take a shorter one for a number with leading zeros.
    if signature.len() != size {
        return false;
    }
    let mut block = vec![0; size];
    let read = key.public_decrypt(signature, &mut block, Padding::NONE);
    read.is_ok_and(|length| length == size) && is_encoded(&block, digest)
}

/// EMSA-PKCS1-v1_5: `00 01 FF … FF 00`, the digest's name, the digest.
fn is_encoded(block: &[u8], digest: &[u8; 32]) -> bool {
    let Some(filling) = block.len().checked_sub(3 + SHA256_DIGEST_INFO.len() + digest.len()) else {
        return false;
    };
    let (padding, encoded) = block.split_at(3 + filling);
    let (name, stated) = encoded.split_at(SHA256_DIGEST_INFO.len());
    filling >= 8
        && padding.starts_with(&[0x00, 0x01])
        && padding[2..2 + filling].iter().all(|&byte| byte == 0xFF)
        && padding.ends_with(&[0x00])
        && name == SHA256_DIGEST_INFO
        && stated == digest
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use openssl::hash::MessageDigest;
    use openssl::pkey::{PKey, Private};
    use openssl::sha::sha256;
    use openssl::sign::Signer;

    use super::*;

    fn encoded(size: usize, digest: &[u8; 32]) -> Vec<u8> {
        let mut block = vec![0xFF; size];
        block[..2].copy_from_slice(&[0x00, 0x01]);
        let name = size - 51;
        block[name - 1] = 0x00;
        block[name..name + 19].copy_from_slice(&SHA256_DIGEST_INFO);
        block[name + 19..].copy_from_slice(digest);
        block
    }

    fn signed_raw(key: &Rsa<Private>, block: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; block.len()];
        key.private_encrypt(block, &mut signature, Padding::NONE).unwrap();
        signature
    }

    #[test]
    fn what_openssl_signs_fits_and_every_laxness_does_not() {
        let private = Rsa::generate(2048).unwrap();
        let public =
            Rsa::from_public_components(private.n().to_owned().unwrap(), private.e().to_owned().unwrap()).unwrap();
        let digest = sha256(b"message");
        let key = PKey::from_rsa(private.clone()).unwrap();
        let signature = Signer::new(MessageDigest::sha256(), &key)
            .unwrap()
            .sign_oneshot_to_vec(b"message")
            .unwrap();
        assert!(fits_sha256(&public, &digest, &signature));
        assert!(!fits_sha256(&public, &sha256(b"another"), &signature));
        assert!(!fits_sha256(&public, &digest, &signature[1..]));
        assert!(!fits_sha256(&public, &digest, &[&[0], signature.as_slice()].concat()));
        assert!(!fits_sha256(&public, &digest, &[0; 256]));
        assert!(!fits_sha256(&public, &digest, &[0xFF; 256]));

        let good = encoded(256, &digest);
        assert_eq!(signed_raw(&private, &good), signature);
        // Bleichenbacher 2006: a short filling, and the digest in the middle.
        let mut short = encoded(256, &digest);
        short.drain(2..102);
        short.extend([0x55; 100]);
        let mut other_type = good.clone();
        other_type[1] = 0x02;
        let mut hole = good.clone();
        hole[40] = 0xFE;
        let mut other_name = good.clone();
        other_name[256 - 51 + 14] = 0x03;
        for block in [short, other_type, hole, other_name] {
            assert!(!fits_sha256(&public, &digest, &signed_raw(&private, &block)));
        }
    }

    #[test]
    fn sizes_and_exponents_are_judged() {
        let numbers = |modulus, exponent| RsaNumbers { modulus, exponent };
        assert_eq!(numbers(&[0x80; 256], &[3]).bits(), 2048);
        assert_eq!(numbers(&[0x01, 0x00], &[3]).bits(), 9);
        for (exponent, sound) in [
            (&[1, 0, 1][..], true),
            (&[3], true),
            (&[1], false),
            (&[], false),
            (&[2], false),
            (&[1; 9], false),
        ] {
            assert_eq!(
                numbers(&[0x80; 256], exponent).exponent_is_sound(),
                sound,
                "{exponent:?}"
            );
        }
    }
}
