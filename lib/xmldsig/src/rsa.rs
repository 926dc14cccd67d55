//! RSA with SHA-256: private keys as files hold them, signing, and checking with nothing but modulus and exponent.
//!
//! AWS-LC computes. It compares the whole block that a signature gives with the one that it should give (RFC 8017, section 8.2.2), so
//! nothing of the padding can be lax; the tests hold it to that.

use aws_lc_rs::digest::{Digest, SHA256};
use aws_lc_rs::error::{KeyRejected, Unspecified};
use aws_lc_rs::rsa::{KeyPair, KeyPairComponents, PublicKeyComponents};
use aws_lc_rs::signature::{ParsedPublicKey, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256};

use crate::ber::{Ber, BerError, INTEGER};

/// AWS-LC takes no longer exponents; nobody uses them.
const MOST_EXPONENT_BITS: u32 = 33;

/// The numbers of a public key, big-endian and without leading zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RsaNumbers<'a> {
    pub(crate) modulus: &'a [u8],
    pub(crate) exponent: &'a [u8],
}

impl<'a> RsaNumbers<'a> {
    /// Reads the two numbers, in this order, as they stand in public and private keys.
    pub(crate) fn read(key: &mut Ber<'a>) -> Result<Self, BerError> {
        Ok(Self {
            modulus: positive(key.expect(INTEGER)?.contents)?,
            exponent: positive(key.expect(INTEGER)?.contents)?,
        })
    }

    /// Size of the modulus.
    pub(crate) fn bits(self) -> u32 {
        bits(self.modulus)
    }

    /// Whether the exponent is odd and at least 3: with 1, everybody can sign.
    pub(crate) fn exponent_is_sound(self) -> bool {
        self.exponent.last().is_some_and(|last| last % 2 == 1)
            && *self.exponent != [1]
            && bits(self.exponent) <= MOST_EXPONENT_BITS
    }

    pub(crate) fn load(self) -> Result<ParsedPublicKey, KeyRejected> {
        let components = PublicKeyComponents {
            n: self.modulus,
            e: self.exponent,
        };
        components.to_parsed_public_key(&RSA_PKCS1_2048_8192_SHA256)
    }
}

fn bits(number: &[u8]) -> u32 {
    let unused = number.first().map_or(0, |first| first.leading_zeros());
    u32::try_from(number.len() * 8).map_or(u32::MAX, |bits| bits - unused)
}

/// A number without the zero that says that it is positive.
///
/// Other readers take further zeros too. They would make a key look longer than it is, and hide an exponent of 1.
fn positive(number: &[u8]) -> Result<&[u8], BerError> {
    match number {
        [] | [0] | [0x80..=0xFF, ..] => Err(BerError("a key with a number that is not positive")),
        [0, 0..=0x7F, ..] => Err(BerError("a key with a number that is not in its shortest form")),
        [0, rest @ ..] => Ok(rest),
        all => Ok(all),
    }
}

/// A number however it was padded, also without the zero that says that it is positive: whether it fits, the others tell.
fn digits(number: &[u8]) -> &[u8] {
    let zeros = number.iter().take_while(|&&digit| digit == 0).count();
    &number[zeros..]
}

/// An `RSAPrivateKey` (RFC 8017, appendix A.1.2) as a file holds it.
pub(crate) struct PrivateNumbers<'a> {
    pub(crate) public: RsaNumbers<'a>,
    /// The private exponent, the two factors, their exponents and their coefficient.
    private: [&'a [u8]; 6],
}

impl<'a> PrivateNumbers<'a> {
    pub(crate) fn read(mut key: Ber<'a>) -> Result<Self, BerError> {
        let mut key = key.sequence()?;
        if key.expect(INTEGER)?.contents != [0] {
            return Err(BerError("a key of more than two factors"));
        }
        let public = RsaNumbers::read(&mut key)?;
        let mut private = [&[][..]; 6];
        for number in &mut private {
            *number = digits(key.expect(INTEGER)?.contents);
        }
        Ok(Self { public, private })
    }

    /// The key, when its numbers belong together.
    pub(crate) fn load(&self) -> Result<KeyPair, KeyRejected> {
        let [d, p, q, d_p, d_q, q_inv] = self.private;
        KeyPair::from_components(&KeyPairComponents {
            public_key: PublicKeyComponents {
                n: self.public.modulus,
                e: self.public.exponent,
            },
            d,
            p,
            q,
            dP: d_p,
            dQ: d_q,
            qInv: q_inv,
        })
    }
}

/// RSASSA-PKCS1-v1_5 of a document with this SHA-256 digest.
pub(crate) fn sign_sha256(key: &KeyPair, digest: &[u8; 32]) -> Result<Vec<u8>, Unspecified> {
    let mut signature = vec![0; key.public_modulus_len()];
    let digest = Digest::import_less_safe(digest, &SHA256)?;
    key.sign_digest(&RSA_PKCS1_SHA256, &digest, &mut signature)?;
    Ok(signature)
}

/// Whether `signature` is RSASSA-PKCS1-v1_5 of a document with this SHA-256 digest.
pub(crate) fn fits_sha256(key: &ParsedPublicKey, digest: &[u8; 32], signature: &[u8]) -> bool {
    Digest::import_less_safe(digest, &SHA256).is_ok_and(|digest| key.verify_digest_sig(&digest, signature).is_ok())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use openssl::bn::{BigNum, BigNumContext};
    use openssl::hash::MessageDigest;
    use openssl::pkey::{PKey, Private};
    use openssl::rsa::{Padding, Rsa};
    use openssl::sha::sha256;
    use openssl::sign::Signer;

    use super::*;

    /// `DigestInfo` of a SHA-256 digest, up to the digest (RFC 8017, section 9.2).
    const SHA256_DIGEST_INFO: [u8; 19] = [
        0x30, 0x31, 0x30, 0x0d, 0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00, 0x04,
        0x20,
    ];

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
        let (modulus, exponent) = (private.n().to_vec(), private.e().to_vec());
        let public = RsaNumbers {
            modulus: &modulus,
            exponent: &exponent,
        };
        let public = public.load().unwrap();
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
    fn a_key_signs_whichever_factor_comes_first_and_only_when_its_numbers_belong_together() {
        let key = Rsa::generate(2048).unwrap();
        let (n, e, d) = (key.n().to_vec(), key.e().to_vec(), key.d().to_vec());
        let (p, q) = (key.p().unwrap(), key.q().unwrap());
        let mut context = BigNumContext::new().unwrap();
        let mut p_inv = BigNum::new().unwrap();
        p_inv.mod_inverse(p, q, &mut context).unwrap();
        let (p, q, p_inv) = (p.to_vec(), q.to_vec(), p_inv.to_vec());
        let (d_p, d_q) = (key.dmp1().unwrap().to_vec(), key.dmq1().unwrap().to_vec());
        let q_inv = key.iqmp().unwrap().to_vec();
        let public = RsaNumbers {
            modulus: &n,
            exponent: &e,
        };
        let digest = sha256(b"message");
        let numbers = |private| PrivateNumbers { public, private };
        for private in [[&d, &p, &q, &d_p, &d_q, &q_inv], [&d, &q, &p, &d_q, &d_p, &p_inv]] {
            let key = numbers(private.map(Vec::as_slice)).load().unwrap();
            let signature = sign_sha256(&key, &digest).unwrap();
            assert!(fits_sha256(&public.load().unwrap(), &digest, &signature));
        }
        let mut other = d.clone();
        *other.last_mut().unwrap() ^= 2;
        for private in [
            [&other, &p, &q, &d_p, &d_q, &q_inv],
            [&d, &p, &q, &d_q, &d_p, &q_inv],
            [&d, &p, &p, &d_p, &d_p, &q_inv],
        ] {
            assert!(numbers(private.map(Vec::as_slice)).load().is_err());
        }
    }

    #[test]
    fn a_keys_number_is_positive_and_in_its_shortest_form() {
        assert_eq!(positive(&[0x00, 0x80]).unwrap(), [0x80]);
        assert_eq!(positive(&[0x01, 0x00, 0x01]).unwrap(), [1, 0, 1]);
        // The last is an exponent of 1, with which everybody can sign.
        for number in [
            &[][..],
            &[0x00],
            &[0x80],
            &[0xFF, 0x01],
            &[0x00, 0x00, 0x80],
            &[0x00, 0x7F],
            &[0x00, 0x00, 0x01],
        ] {
            assert!(positive(number).is_err(), "{number:?}");
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
            (&[1, 0, 0, 0, 1], true),
            (&[2, 0, 0, 0, 1], false),
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
