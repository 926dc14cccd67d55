//! The signature of a delivery: HMAC-SHA256 over the raw body.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::secret::WebhookSecret;

const PREFIX: &str = "sha256=";

/// The value of `X-ECF-Signature` for a body: `sha256=` and 64 lower-case hexadecimal digits.
#[must_use]
pub fn sign(secret: &WebhookSecret, body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose().as_bytes()).expect("HMAC takes keys of any length");
    mac.update(body);
    format!("{PREFIX}{}", hex::encode(mac.finalize().into_bytes()))
}

/// Whether `header` is the signature of `body`, prefix included. Compares in constant time.
#[must_use]
pub fn verify(secret: &WebhookSecret, body: &[u8], header: &str) -> bool {
    sign(secret, body).as_bytes().ct_eq(header.as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors that integrators can check their code against: secret, body, header.
    const VECTORS: [(&str, &str, &str); 3] = [
        (
            "whsec_0123456789abcdef",
            "",
            "sha256=9101c81cbdec90388ec2e519bdded7537ccff107f273e34c0c01d86ce31dd5ae",
        ),
        (
            "whsec_0123456789abcdef",
            r#"{"event":"accepted","encf":"E310000000001","status":"accepted"}"#,
            "sha256=2f4d1e4836bb54622f33fc83a6361cc1699711b64bef7711f6f2e396fd703b39",
        ),
        (
            "clave con eñe y espacios",
            r#"{"event":"rejected","mensaje":"Año inválido: ñ, á, 🧾"}"#,
            "sha256=f28423f54fbe79191b4ba27d886a9ff0eff180bd86e1d0ecaf0867897b33eedb",
        ),
    ];

    #[test]
    fn the_published_vectors_verify() {
        for (secret, body, header) in VECTORS {
            let secret = WebhookSecret::parse(secret).unwrap();
            assert_eq!(sign(&secret, body.as_bytes()), header);
            assert!(verify(&secret, body.as_bytes(), header));
        }
    }

    #[test]
    fn anything_but_the_exact_header_is_refused() {
        let secret = WebhookSecret::parse("whsec_0123456789abcdef").unwrap();
        let body = b"{\"event\":\"accepted\"}";
        let header = sign(&secret, body);
        let digits = header.strip_prefix("sha256=").unwrap();
        assert!(verify(&secret, body, &header));
        for wrong in [
            digits.to_owned(),
            format!("sha256={}", digits.to_uppercase()),
            format!("sha1={digits}"),
            format!("{header} "),
            header[..header.len() - 1].to_owned(),
            String::new(),
        ] {
            assert!(!verify(&secret, body, &wrong), "{wrong}");
        }
        assert!(
            !verify(&secret, b"{ \"event\":\"accepted\"}", &header),
            "re-serialized bodies do not verify"
        );
        let other = WebhookSecret::parse("whsec_0123456789abcdee").unwrap();
        assert!(!verify(&other, body, &header));
    }
}
