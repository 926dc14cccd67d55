//! RSA with SHA-256: signing and verifying. OpenSSL compares the whole decrypted block with the expected one (RFC 8017,
//! section 8.2.2), so no lax padding is accepted; the tests check that.

use openssl::bn::{BigNum, BigNumContext, BigNumRef};
use openssl::error::ErrorStack;
use openssl::md::Md;
use openssl::pkey::{PKeyRef, Private, Public};
use openssl::pkey_ctx::PkeyCtx;
use openssl::rsa::RsaRef;

/// OpenSSL's limit for the exponents of large keys. Longer ones are not in use.
const MOST_EXPONENT_BITS: i32 = 64;

/// Whether the public exponent is odd and at least 3. With 1, anybody could sign.
pub(crate) fn exponent_is_sound(key: &PKeyRef<Public>) -> bool {
    key.rsa().is_ok_and(|key| {
        let exponent = key.e();
        exponent.is_odd() && (2..=MOST_EXPONENT_BITS).contains(&exponent.num_bits())
    })
}

/// Whether the numbers of a private key have lengths that fit its size. OpenSSL computes with numbers of any length, so
/// a signature with an oversized number would take unbounded time.
pub(crate) fn numbers_belong_together(key: &RsaRef<Private>) -> Result<bool, ErrorStack> {
    let (Some(p), Some(q), Some(dp), Some(dq), Some(qi)) = (key.p(), key.q(), key.dmp1(), key.dmq1(), key.iqmp())
    else {
        return Ok(false);
    };
    let bits = BigNumRef::num_bits;
    let are_short = bits(key.d()) <= bits(key.n())
        && bits(key.e()) <= MOST_EXPONENT_BITS
        && bits(p) + bits(q) <= bits(key.n()) + 1
        && bits(dp) <= bits(p)
        && bits(dq) <= bits(q)
        && bits(qi) <= bits(p);
    if !are_short {
        return Ok(false);
    }
    let mut product = BigNum::new()?;
    product.checked_mul(p, q, &mut *BigNumContext::new()?)?;
    Ok(product == *key.n())
}

/// Signs a document with this SHA-256 digest (RSASSA-PKCS1-v1_5).
pub(crate) fn sign_sha256(key: &PKeyRef<Private>, digest: &[u8; 32]) -> Result<Vec<u8>, ErrorStack> {
    let mut context = PkeyCtx::new(key)?;
    context.sign_init()?;
    context.set_signature_md(Md::sha256())?;
    let mut signature = Vec::with_capacity(key.size());
    context.sign_to_vec(digest, &mut signature)?;
    Ok(signature)
}

/// Whether `signature` is valid for a document with this SHA-256 digest (RSASSA-PKCS1-v1_5).
pub(crate) fn fits_sha256(key: &PKeyRef<Public>, digest: &[u8; 32], signature: &[u8]) -> bool {
    let fits = || -> Result<bool, ErrorStack> {
        let mut context = PkeyCtx::new(key)?;
        context.verify_init()?;
        context.set_signature_md(Md::sha256())?;
        context.verify(digest, signature)
    };
    fits().unwrap_or(false)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use openssl::hash::MessageDigest;
    use openssl::pkey::PKey;
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

    fn public(key: &Rsa<Private>) -> PKey<Public> {
        let key = Rsa::from_public_components(key.n().to_owned().unwrap(), key.e().to_owned().unwrap());
        PKey::from_rsa(key.unwrap()).unwrap()
    }

    fn signed_raw(key: &Rsa<Private>, block: &[u8]) -> Vec<u8> {
        let mut signature = vec![0; block.len()];
        key.private_encrypt(block, &mut signature, Padding::NONE).unwrap();
        signature
    }

    #[test]
    fn what_openssl_signs_fits_and_every_laxness_does_not() {
        let private = Rsa::generate(2048).unwrap();
        let public = public(&private);
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
        // Bleichenbacher 2006: a short padding, and the digest in the middle.
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
    fn a_key_signs_whichever_factor_comes_first() {
        let key = Rsa::generate(2048).unwrap();
        let (p, q) = (key.p().unwrap(), key.q().unwrap());
        let mut p_inv = BigNum::new().unwrap();
        p_inv.mod_inverse(p, q, &mut BigNumContext::new().unwrap()).unwrap();
        let own = |number: &BigNumRef| number.to_owned().unwrap();
        let turned = Rsa::from_private_components(
            own(key.n()),
            own(key.e()),
            own(key.d()),
            own(q),
            own(p),
            own(key.dmq1().unwrap()),
            own(key.dmp1().unwrap()),
            p_inv,
        );
        let digest = sha256(b"message");
        let signature = sign_sha256(&PKey::from_rsa(turned.unwrap()).unwrap(), &digest).unwrap();
        assert!(fits_sha256(&public(&key), &digest, &signature));
    }

    #[test]
    fn exponents_are_judged() {
        let modulus = Rsa::generate(2048).unwrap();
        for (exponent, sound) in [
            (&[1, 0, 1][..], true),
            (&[3], true),
            (&[1], false),
            (&[0], false),
            (&[2], false),
            (&[1, 0, 0, 0, 1], true),
            (&[0xFF; 8], true),
            (&[1; 9], false),
        ] {
            let exponent = BigNum::from_slice(exponent).unwrap();
            let key = Rsa::from_public_components(modulus.n().to_owned().unwrap(), exponent.to_owned().unwrap());
            // An exponent that OpenSSL rejects is not sound either.
            let found = key.and_then(PKey::from_rsa).is_ok_and(|key| exponent_is_sound(&key));
            assert_eq!(found, sound, "{exponent:?}");
        }
    }
}
