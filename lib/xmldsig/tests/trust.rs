//! Which certificates are trusted.

#![expect(clippy::unwrap_used, reason = "tests")]

use jiff::{Timestamp, ToSpan as _};
use openssl::asn1::Asn1Time;
use openssl::hash::MessageDigest;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Rsa;
use openssl::stack::Stack;
use openssl::x509::extension::{BasicConstraints, KeyUsage};
use openssl::x509::{X509, X509NameBuilder};
use test_certificates::{Cipher, Party, file};
use xmldsig::{Authorities, AuthoritiesError, Certificate, CertificateError, Identity, UntrustedError};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn from() -> Timestamp {
    at("2026-01-01T00:00:00Z")
}

fn to() -> Timestamp {
    at("2028-01-01T00:00:00Z")
}

fn now() -> Timestamp {
    at("2026-11-28T12:00:00Z")
}

fn root(name: &str) -> Party {
    Party::authority(name, from(), to(), None).unwrap()
}

fn issued(by: &Party) -> Party {
    by.issue("Firmante", "RNC130000001", from(), to()).unwrap()
}

/// The identity from a P12 file with this key and these certificates.
fn identity(key: &Party, certificates: &[&Party]) -> Identity {
    Identity::from_pkcs12(&file(Some(key), certificates, Cipher::Aes256, "").unwrap(), "", now()).unwrap()
}

fn authorities(parties: &[&Party]) -> Authorities {
    Authorities::from_pem(&pem(parties)).unwrap()
}

fn pem(parties: &[&Party]) -> String {
    let certificates = parties.iter().map(|party| party.certificate_pem().unwrap());
    String::from_utf8(certificates.collect::<Vec<_>>().concat()).unwrap()
}

const NO_ISSUER: &str = "neither the trusted authorities nor the file have its issuer";

fn is_untrusted(result: &Result<(), UntrustedError>, reason: &str) -> bool {
    matches!(result, Err(error) if error.reason.en == reason)
}

#[test]
fn a_certificate_of_a_trusted_authority_is_vouched_for_and_any_other_is_not() {
    let (ours, namesake, other) = (root("Autoridad"), root("Autoridad"), root("Otra"));
    let trusted = authorities(&[&other, &ours]);
    let signer = issued(&ours);
    trusted.vouch_for(&identity(&signer, &[&signer]), now()).unwrap();

    let stranger = issued(&namesake);
    let error = trusted.vouch_for(&identity(&stranger, &[&stranger, &namesake]), now());
    let reason = "no certificate of its issuer's name has the key that signed it, with 2048 bits or more";
    assert!(is_untrusted(&error, reason), "{error:?}");
    let own = Party::new("Firmante", "RNC130000001", from(), to()).unwrap();
    let error = trusted.vouch_for(&identity(&own, &[&own]), now());
    assert_eq!(
        error.unwrap_err().to_string(),
        "no chain leads from the certificate's issuer, C=DO, CN=Firmante, serialNumber=RNC130000001, to a trusted authority: \
         the certificate is its own issuer"
    );
}

#[test]
fn a_link_between_comes_from_the_file_or_is_trusted_itself() {
    let top = root("Raíz");
    let between = Party::authority("Subordinada", from(), to(), Some(&top)).unwrap();
    let signer = issued(&between);
    let (alone, with_link) = (identity(&signer, &[&signer]), identity(&signer, &[&between, &signer]));
    assert!(is_untrusted(&authorities(&[&top]).vouch_for(&alone, now()), NO_ISSUER));
    authorities(&[&top]).vouch_for(&with_link, now()).unwrap();
    authorities(&[&between]).vouch_for(&alone, now()).unwrap();
}

#[test]
fn a_signers_certificate_vouches_for_nobody_else() {
    let top = root("Raíz");
    let signer = issued(&top);
    // Its key can sign anything, but its certificate is not an authority's.
    let forged = signer.issue("Otro", "RNC101000001", from(), to()).unwrap();
    let error = authorities(&[&top]).vouch_for(&identity(&forged, &[&forged, &signer]), now());
    assert!(is_untrusted(&error, NO_ISSUER), "{error:?}");
    let refused = Authorities::from_pem(&pem(&[&top, &signer])).unwrap_err();
    assert!(matches!(&refused, AuthoritiesError::NotAnAuthority { subject } if subject.contains("Firmante")));
}

#[test]
fn every_link_must_be_valid_at_the_time_that_is_asked_about() {
    let top = root("Raíz");
    let signer = issued(&top);
    let (trusted, identity) = (authorities(&[&top]), identity(&signer, &[&signer]));
    trusted.vouch_for(&identity, to() - 1.second()).unwrap();
    for (outside, reason) in [
        (to() + 1.second(), "a certificate of the chain has expired"),
        (from() - 1.second(), "a certificate of the chain is not valid yet"),
    ] {
        let error = trusted.vouch_for(&identity, outside);
        assert!(is_untrusted(&error, reason), "{outside} {error:?}");
    }
    let brief = Party::authority("Breve", from(), now() - 1.second(), None).unwrap();
    let signer = issued(&brief);
    let error = authorities(&[&brief]).vouch_for(&self::identity(&signer, &[&signer]), now());
    let reason = "the trusted authority's own certificate is not valid now";
    assert!(is_untrusted(&error, reason), "{error:?}");
}

fn key(bits: u32) -> PKey<Private> {
    PKey::from_rsa(Rsa::generate(bits).unwrap()).unwrap()
}

/// A certificate of `key`, issued by `issuer`; marked as an authority's when `signs_certificates` is given,
/// with or without certificate signing.
fn certificate(
    name: &str,
    key: &PKey<Private>,
    issuer: (&str, &PKey<Private>),
    signs_certificates: Option<bool>,
    digest: MessageDigest,
) -> X509 {
    let named = |text: &str| {
        let mut name = X509NameBuilder::new().unwrap();
        name.append_entry_by_text("CN", text).unwrap();
        name.build()
    };
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder.set_subject_name(&named(name)).unwrap();
    builder.set_issuer_name(&named(issuer.0)).unwrap();
    builder
        .set_not_before(&Asn1Time::from_unix(from().as_second()).unwrap())
        .unwrap();
    builder
        .set_not_after(&Asn1Time::from_unix(to().as_second()).unwrap())
        .unwrap();
    builder.set_pubkey(key).unwrap();
    let mut usage = KeyUsage::new();
    usage.critical();
    match signs_certificates {
        Some(true) => usage.key_cert_sign(),
        Some(false) => usage.crl_sign(),
        None => usage.digital_signature(),
    };
    builder.append_extension(usage.build().unwrap()).unwrap();
    if signs_certificates.is_some() {
        builder
            .append_extension(BasicConstraints::new().critical().ca().build().unwrap())
            .unwrap();
    }
    builder.sign(issuer.1, digest).unwrap();
    builder.build()
}

#[test]
fn a_link_that_proves_nothing_is_no_link() {
    let (top, weak, strong, signer) = (key(2048), key(1024), key(2048), key(2048));
    let root = certificate("Raíz", &top, ("Raíz", &top), Some(true), MessageDigest::sha256());
    let trusted = Authorities::from_pem(&String::from_utf8(root.to_pem().unwrap()).unwrap()).unwrap();
    let vouch = |link_key: &PKey<Private>, signs, digest| {
        let link = certificate("Enlace", link_key, ("Raíz", &top), Some(signs), digest);
        let leaf = certificate("Firmante", &signer, ("Enlace", link_key), None, MessageDigest::sha256());
        let mut others = Stack::new().unwrap();
        others.push(link).unwrap();
        let file = Pkcs12::builder()
            .pkey(&signer)
            .cert(&leaf)
            .ca(others)
            .build2("")
            .unwrap();
        let identity = Identity::from_pkcs12(&file.to_der().unwrap(), "", now()).unwrap();
        trusted.vouch_for(&identity, now()).map_err(|error| error.reason)
    };
    assert_eq!(vouch(&strong, true, MessageDigest::sha256()), Ok(()));
    for (link_key, signs, digest, reason) in [
        (&strong, true, MessageDigest::sha1(), "such as SHA-1"),
        (&weak, true, MessageDigest::sha256(), "with 2048 bits or more"),
        (
            &strong,
            false,
            MessageDigest::sha256(),
            "neither the trusted authorities nor the file have its issuer",
        ),
    ] {
        let error = vouch(link_key, signs, digest).unwrap_err();
        assert!(error.en.contains(reason), "{}", error.en);
    }
}

#[test]
fn what_names_no_authorities_is_refused() {
    for text in ["", "\n", "no certificate"] {
        assert!(
            matches!(Authorities::from_pem(text), Err(AuthoritiesError::Empty)),
            "{text:?}"
        );
    }
    let whole = pem(&[&root("Raíz")]);
    let cut = whole.replacen("\nM", "\n!", 1);
    let other_head = whole.clone() + &whole.replace("CERTIFICATE", "TRUSTED CERTIFICATE");
    for text in [cut, other_head] {
        assert!(matches!(Authorities::from_pem(&text), Err(AuthoritiesError::NotPem(_))));
    }
}

#[test]
fn an_authoritys_certificate_signs_no_documents() {
    let (top, own) = (root("Raíz"), root("Propia"));
    let error = authorities(&[&top]).vouch_for(&identity(&own, &[&own]), now());
    assert!(
        is_untrusted(&error, "the certificate is an authority's, not a signer's"),
        "{error:?}"
    );
}

/// A certificate whose subject has `count` attributes.
fn certificate_with_attributes(count: usize) -> Vec<u8> {
    let key = key(2048);
    let mut name = X509NameBuilder::new().unwrap();
    for _ in 0..count {
        name.append_entry_by_text("OU", &"x".repeat(60)).unwrap();
    }
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    let (from, to) = (from().as_second(), to().as_second());
    builder.set_not_before(&Asn1Time::from_unix(from).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::from_unix(to).unwrap()).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    builder.build().to_der().unwrap()
}

#[test]
fn s4_a_certificate_larger_than_any_issuers_is_not_read() {
    assert!(Certificate::from_der(&certificate_with_attributes(15)).is_ok());
    let part = |count| match Certificate::from_der(&certificate_with_attributes(count)) {
        Err(CertificateError::TooLarge { part, .. }) => part,
        other => panic!("{other:?}"),
    };
    assert_eq!(part(17), "subject");
    assert_eq!(part(300), "encoding");
}
