//! What must hold for any bytes: one function for each target. The fuzzer calls them with bytes of its own making, and the
//! ordinary tests with the corpus (`tests/corpus.rs`, which takes this file in).

use std::sync::OnceLock;

use openssl::x509::X509;
use xmldsig::{
    Certificate, Identity, Limits, Method, P12Problem, PublicKey, canonicalize as canonical, examine, inspect_pkcs12,
    sign_foreign as sign, verify as verified,
};

const METHODS: [Method; 2] = [Method::Inclusive, Method::Exclusive];

/// Whatever is verified verifies again, and its report agrees.
pub fn verify(xml: &[u8]) {
    let limits = Limits::default();
    let report = examine(xml, &limits);
    assert_eq!(report.is_valid(), verified(xml, &limits).is_ok());
    assert_eq!(report.is_valid(), report.into_result().is_ok());
}

/// A canonical form is well-formed, and is its own canonical form.
pub fn canonicalize(xml: &[u8]) {
    let limits = Limits::default();
    for method in METHODS {
        if let Ok(once) = canonical(xml, method, &limits) {
            assert_eq!(canonical(&once, method, &wider(&limits)).as_ref(), Ok(&once));
        }
    }
}

/// Whatever can be signed verifies.
pub fn sign_foreign(xml: &[u8]) {
    static IDENTITY: OnceLock<Identity> = OnceLock::new();
    let identity = IDENTITY.get_or_init(|| {
        let (from, to) = (
            "2020-01-01T00:00:00Z".parse().unwrap(),
            "2040-01-01T00:00:00Z".parse().unwrap(),
        );
        Identity::from_pkcs12(
            &test_certificates::pkcs12("Firma", "1", "", from, to).unwrap(),
            "",
            from,
        )
        .unwrap()
    });
    let limits = Limits::default();
    if let Ok(signed) = sign(xml, identity, &limits) {
        verified(&signed.xml, &wider(&limits)).unwrap();
    }
}

/// No file makes the reader of P12 files panic or work without end, and opening and inspecting agree.
pub fn pkcs12(file: &[u8]) {
    let now = "2026-11-28T00:00:00Z".parse().unwrap();
    let opened = Identity::from_pkcs12(file, "clave", now);
    let inspection = inspect_pkcs12(file, "clave", now);
    let refusal = inspection.problems.iter().find_map(|problem| match problem {
        P12Problem::File(error) => Some(error),
        _ => None,
    });
    assert_eq!(opened.err().as_ref(), refusal);
}

/// A certificate is all of the bytes, stays within the limits, and says in plain values what OpenSSL says.
pub fn certificate(der: &[u8]) {
    let Ok(ours) = Certificate::from_der(der) else { return };
    assert_eq!(ours.der, der);
    assert!(ours.subject.len() <= 1024 && ours.issuer.len() <= 1024 && ours.serial_number.len() <= 128);
    let theirs = X509::from_der(der).unwrap();
    if let (PublicKey::Rsa { bits }, Ok(key)) = (&ours.public_key, theirs.public_key()) {
        assert_eq!(*bits, key.bits());
    }
    let serial = theirs.serial_number().to_bn().unwrap();
    if !serial.is_negative() {
        let printed = serial.to_hex_str().unwrap();
        assert_eq!(
            ours.serial_number.trim_start_matches('0'),
            printed.trim_start_matches('0')
        );
    }
    let seconds = |time: &openssl::asn1::Asn1TimeRef| {
        let since = openssl::asn1::Asn1Time::from_unix(0).unwrap().diff(time).unwrap();
        i64::from(since.days) * 86_400 + i64::from(since.secs)
    };
    assert_eq!(ours.not_before.as_second(), seconds(theirs.not_before()));
    assert_eq!(ours.not_after.as_second(), seconds(theirs.not_after()));
}

/// What we read, libxml2 reads too, and its canonical forms are ours. `false`: left out, because libxml2 is known to differ.
pub fn differential(xml: &[u8], libxml2: impl Fn(&[u8], Method) -> Option<Vec<u8>>) -> bool {
    if is_known_to_differ(xml) {
        return false;
    }
    for method in METHODS {
        let Ok(ours) = canonical(xml, method, &Limits::default()) else {
            continue;
        };
        let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match libxml2(xml, method) {
            Some(theirs) => assert_eq!(show(&theirs), show(&ours), "{method:?}"),
            // It also parses namespaces as URIs, `urn://a:b` for one has an impossible port.
            None => assert!(declares_namespaces(xml), "libxml2 refuses {}", show(xml)),
        }
    }
    true
}

/// Documents with declarations and references are left out: libxml2 2.9 writes an ampersand in a namespace as it is
/// (tests/canonicalization.rs).
fn is_known_to_differ(xml: &[u8]) -> bool {
    declares_namespaces(xml) && xml.contains(&b'&')
}

fn declares_namespaces(xml: &[u8]) -> bool {
    xml.windows(5).any(|window| window == b"xmlns")
}

/// Escaping and a signature make a document larger than what was read.
fn wider(limits: &Limits) -> Limits {
    Limits {
        max_bytes: limits.max_bytes * 10,
        max_depth: limits.max_depth + 8,
        ..*limits
    }
}
