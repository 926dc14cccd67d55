//! Whose certificates are believed.

#![expect(clippy::unwrap_used, reason = "tests")]

use jiff::{Timestamp, ToSpan as _};
use xmldsig::testing::{Cipher, Party, file};
use xmldsig::{Authorities, AuthoritiesError, Identity, UntrustedError};

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

/// The identity in a P12 file of this key, with these certificates.
fn identity(key: &Party, certificates: &[&Party]) -> Identity {
    Identity::from_pkcs12(&file(Some(key), certificates, Cipher::Aes256, "").unwrap(), "").unwrap()
}

fn authorities(parties: &[&Party]) -> Authorities {
    Authorities::from_pem(&pem(parties)).unwrap()
}

fn pem(parties: &[&Party]) -> String {
    let certificates = parties.iter().map(|party| party.certificate_pem().unwrap());
    String::from_utf8(certificates.collect::<Vec<_>>().concat()).unwrap()
}

fn is_untrusted(result: &Result<(), UntrustedError>) -> bool {
    matches!(result, Err(UntrustedError::NoChain { .. }))
}

#[test]
fn a_certificate_of_a_trusted_authority_is_vouched_for_and_any_other_is_not() {
    let (ours, namesake, other) = (root("Autoridad"), root("Autoridad"), root("Otra"));
    let trusted = authorities(&[&other, &ours]);
    let signer = issued(&ours);
    trusted.vouch_for(&identity(&signer, &[&signer]), now()).unwrap();

    let stranger = issued(&namesake);
    let doubt = trusted.vouch_for(&identity(&stranger, &[&stranger, &namesake]), now());
    assert!(is_untrusted(&doubt), "{doubt:?}");
    let own = Party::new("Firmante", "RNC130000001", from(), to()).unwrap();
    let doubt = trusted.vouch_for(&identity(&own, &[&own]), now());
    assert_eq!(
        doubt.unwrap_err().to_string(),
        "no chain leads from the certificate's issuer, C=DO, CN=Firmante, serialNumber=RNC130000001, to a trusted authority: \
         self-signed certificate"
    );
}

#[test]
fn a_link_between_comes_from_the_file_or_is_trusted_itself() {
    let top = root("Raíz");
    let between = Party::authority("Subordinada", from(), to(), Some(&top)).unwrap();
    let signer = issued(&between);
    let (alone, with_link) = (identity(&signer, &[&signer]), identity(&signer, &[&between, &signer]));
    assert!(is_untrusted(&authorities(&[&top]).vouch_for(&alone, now())));
    authorities(&[&top]).vouch_for(&with_link, now()).unwrap();
    authorities(&[&between]).vouch_for(&alone, now()).unwrap();
}

#[test]
fn a_signers_certificate_vouches_for_nobody_else() {
    let top = root("Raíz");
    let signer = issued(&top);
    // Its key can sign anything, but it is no authority.
    let forged = signer.issue("Otro", "RNC101000001", from(), to()).unwrap();
    let doubt = authorities(&[&top]).vouch_for(&identity(&forged, &[&forged, &signer]), now());
    assert!(is_untrusted(&doubt), "{doubt:?}");
    let refused = Authorities::from_pem(&pem(&[&top, &signer])).unwrap_err();
    assert!(matches!(&refused, AuthoritiesError::NotAnAuthority { subject } if subject.contains("Firmante")));
}

#[test]
fn every_link_must_be_valid_at_the_time_that_is_asked_about() {
    let top = root("Raíz");
    let signer = issued(&top);
    let (trusted, identity) = (authorities(&[&top]), identity(&signer, &[&signer]));
    trusted.vouch_for(&identity, to() - 1.second()).unwrap();
    for outside in [to() + 1.second(), from() - 1.second()] {
        assert!(is_untrusted(&trusted.vouch_for(&identity, outside)), "{outside}");
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
    assert!(matches!(Authorities::from_pem(&cut), Err(AuthoritiesError::NotPem(_))));
}
