//! Seeds and tokens. Neither is stored: a seed carries its time and our HMAC, a token is a JWT.
//!
//! Both are bound to the address that issued them, so that a token for one company is not valid for another.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ecf_store::{StoreError, Vault};
use hmac::{Hmac, KeyInit, Mac};
use jiff::{SignedDuration, Timestamp};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

/// Lifetime of a seed.
pub(crate) const SEED_VALID: SignedDuration = SignedDuration::from_mins(5);
/// Lifetime of a token.
pub(crate) const TOKEN_VALID: SignedDuration = SignedDuration::from_hours(1);

const NONCE_BYTES: usize = 16;
const TIME_BYTES: usize = 8;
/// The keys of this deployment for seeds and tokens.
pub(crate) struct Seal {
    mac: Hmac<Sha256>,
    token_key: Zeroizing<[u8; 32]>,
}

/// A seed of ours that came back in time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seed {
    pub(crate) nonce: [u8; NONCE_BYTES],
    pub(crate) expires_at: Timestamp,
}

/// The claims of a token.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Claims {
    /// The subject of the certificate that signed the seed.
    sub: String,
    /// The address for which the token is valid.
    aud: String,
    iat: i64,
    exp: i64,
}

impl Seal {
    pub(crate) async fn of(vault: &Vault) -> Result<Self, StoreError> {
        let key = vault.key_for("reception").await?;
        Ok(Self::new(key.as_slice(), vault.key_for("reception-token").await?))
    }

    fn new(key: &[u8], token_key: Zeroizing<[u8; 32]>) -> Self {
        Self {
            mac: Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length"),
            token_key,
        }
    }

    /// The text of a new seed.
    pub(crate) fn seed(&self, nonce: [u8; NONCE_BYTES], address: &str, now: Timestamp) -> String {
        let mut seed = nonce.to_vec();
        seed.extend_from_slice(&now.as_millisecond().to_be_bytes());
        let tag = self.over(&[b"seed", &seed, address.as_bytes()]).finalize().into_bytes();
        seed.extend_from_slice(&tag);
        BASE64_STANDARD.encode(seed)
    }

    /// Validates a returned seed; `None` when it is not ours, belongs to another address, or is too old.
    pub(crate) fn open_seed(&self, valor: &str, address: &str, now: Timestamp) -> Option<Seed> {
        let bytes = BASE64_STANDARD.decode(valor.trim()).ok()?;
        let (seed, tag) = bytes.split_at_checked(NONCE_BYTES + TIME_BYTES)?;
        let mac = self.over(&[b"seed", seed, address.as_bytes()]);
        mac.verify_slice(tag).ok()?;
        let (nonce, millis) = seed.split_first_chunk::<NONCE_BYTES>()?;
        let given_at = Timestamp::from_millisecond(i64::from_be_bytes(millis.try_into().ok()?)).ok()?;
        let expires_at = given_at + SEED_VALID;
        // A seed from the future is accepted, because the clocks of processes differ a little.
        (now < expires_at).then_some(Seed {
            nonce: *nonce,
            expires_at,
        })
    }

    /// Issues a token for the signer of a seed.
    pub(crate) fn token(
        &self,
        subject: &str,
        address: &str,
        now: Timestamp,
    ) -> Result<String, jsonwebtoken::errors::Error> {
        let claims = Claims {
            sub: subject.to_owned(),
            aud: address.to_owned(),
            iat: now.as_second(),
            exp: (now + TOKEN_VALID).as_second(),
        };
        let key = EncodingKey::from_secret(self.token_key.as_slice());
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims, &key)
    }

    /// The subject of a token that is ours, of this address, and not expired.
    pub(crate) fn open_token(&self, token: &str, address: &str, now: Timestamp) -> Option<String> {
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[address]);
        // The library reads the system clock; our time is an argument.
        validation.validate_exp = false;
        let key = DecodingKey::from_secret(self.token_key.as_slice());
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &validation).ok()?.claims;
        (now.as_second() < claims.exp).then_some(claims.sub)
    }

    /// The HMAC over parts, each prefixed with its length.
    fn over(&self, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = self.mac.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac
    }
}

#[cfg(test)]
mod tests {
    use base64::prelude::BASE64_URL_SAFE_NO_PAD;
    use sha2::Digest as _;

    use super::*;

    const HERE: &str = "131880681/testecf";

    fn at(text: &str) -> Timestamp {
        text.parse().expect("an instant")
    }

    #[test]
    fn a_seed_opens_at_its_address_for_five_minutes() {
        let seal = self::seal(b"key");
        let noon = at("2026-11-27T16:00:00Z");
        let seed = seal.seed([7; 16], HERE, noon);
        let opened = Seed {
            nonce: [7; 16],
            expires_at: noon + SEED_VALID,
        };
        assert_eq!(seal.open_seed(&seed, HERE, at("2026-11-27T16:04:59Z")), Some(opened));
        assert_eq!(seal.open_seed(&seed, HERE, at("2026-11-27T16:05:00Z")), None);
        assert_eq!(seal.open_seed(&seed, "131880681/ecf", noon), None);
        assert_eq!(self::seal(b"other").open_seed(&seed, HERE, noon), None);
        assert_eq!(seal.open_seed(&seed[4..], HERE, noon), None);
        assert_eq!(seal.open_seed("", HERE, noon), None);
    }

    fn seal(key: &[u8]) -> Seal {
        Seal::new(key, Zeroizing::new(<[u8; 32]>::from(sha2::Sha256::digest(key))))
    }

    #[test]
    fn s11_a_token_is_a_jwt_and_opens_its_address_for_one_hour() {
        let noon = at("2026-11-27T16:00:00Z");
        let token = seal(b"key").token("IDCDO-00100000001", HERE, noon).expect("a token");
        let header = jsonwebtoken::decode_header(&token).expect("a header");
        assert_eq!(header.alg, Algorithm::HS256);
        let opens = |token: &str, address, now| seal(b"key").open_token(token, address, at(now));
        let last = "2026-11-27T16:59:59Z";
        assert_eq!(opens(&token, HERE, last).as_deref(), Some("IDCDO-00100000001"));
        assert_eq!(opens(&token, HERE, "2026-11-27T17:00:00Z"), None);
        assert_eq!(opens(&token, "131880681/ecf", last), None);
        let forged = seal(b"other").token("IDCDO-00100000001", HERE, noon).expect("a token");
        let signed = token.rsplit_once('.').expect("a dot").0;
        let claims = signed.split_once('.').expect("a dot").1;
        let none = BASE64_URL_SAFE_NO_PAD.encode(r#"{"alg":"none","typ":"JWT"}"#);
        for wrong in [
            forged,
            format!("{signed}."),
            format!("{none}.{claims}."),
            String::new(),
            "a.b.c".to_owned(),
        ] {
            assert_eq!(opens(&wrong, HERE, last), None, "{wrong}");
        }
    }
}
