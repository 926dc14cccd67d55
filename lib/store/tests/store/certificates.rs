//! Summaries of certificates: the active one and the history.

use ecf_store::{
    certificates::{CertificateActivated, CertificateSummary},
    companies::NewCompany,
};

use crate::companies::new_company;
use crate::support::{app, at, bytes, company, noon};

fn summary(of: &str, stored_at: &str) -> CertificateSummary {
    CertificateSummary {
        sha256: bytes(of),
        alias: of.to_owned(),
        subject: "Prueba".to_owned(),
        issuer: "CN=Raiz".to_owned(),
        serial: "0a".to_owned(),
        not_before: at("2026-01-01T00:00:00Z"),
        not_after: at("2027-01-01T00:00:00Z"),
        stored_at: at(stored_at),
    }
}

#[tokio::test]
async fn the_last_one_activated_is_the_active_one_and_all_are_remembered_newest_first() {
    let app = app("history of certificates").await;
    let owner = company("cert-a");
    let new = new_company("cert-a", "101000002", false);
    app.table.create_company(new, None).await.unwrap();
    let first = summary("first", "2026-11-01T00:00:00Z");
    let second = summary("second", "2026-11-02T00:00:00Z");
    for one in [&first, &second, &second] {
        let activated = app.table.activate_certificate(&owner, one, None, noon()).await.unwrap();
        assert_eq!(activated, CertificateActivated::Done);
    }
    let read = app.table.company(&owner).await.unwrap().unwrap();
    assert_eq!((read.certificate.as_ref(), read.verified), (Some(&second), false));
    let history = app.table.certificates(&owner).await.unwrap();
    assert_eq!(history, [second.clone(), first.clone()]);

    let again = summary("first", "2026-11-03T00:00:00Z");
    app.table
        .activate_certificate(&owner, &again, None, noon())
        .await
        .unwrap();
    let history = app.table.certificates(&owner).await.unwrap();
    assert_eq!(history, [again, second]);
    assert_eq!(app.table.certificates(&company("cert-none")).await.unwrap(), []);
}

#[tokio::test]
async fn the_certificate_that_a_company_is_made_with_is_in_its_history() {
    let app = app("certificate of a new company").await;
    let first = summary("first", "2026-11-01T00:00:00Z");
    let new = NewCompany {
        certificate: Some(first.clone()),
        ..new_company("cert-b", "101000003", false)
    };
    app.table.create_company(new, None).await.unwrap();
    let read = app.table.company(&company("cert-b")).await.unwrap().unwrap();
    assert_eq!(read.certificate.as_ref(), Some(&first));
    assert_eq!(app.table.certificates(&company("cert-b")).await.unwrap(), [first]);
}

#[tokio::test]
async fn a_claim_verifies_the_company_unless_another_has_the_rnc() {
    let app = app("claims by certificate").await;
    for name in ["cert-c", "cert-d"] {
        let new = new_company(name, "101000004", false);
        app.table.create_company(new, None).await.unwrap();
    }
    let rnc = "101000004".parse().unwrap();
    let activate = async |name: &str| {
        let one = summary(name, "2026-11-01T00:00:00Z");
        let owner = company(name);
        app.table.activate_certificate(&owner, &one, Some(&rnc), noon()).await
    };
    for _ in 0..2 {
        assert_eq!(activate("cert-c").await.unwrap(), CertificateActivated::Done);
    }
    assert_eq!(activate("cert-d").await.unwrap(), CertificateActivated::RncTaken);
    assert_eq!(activate("cert-none").await.unwrap(), CertificateActivated::NoCompany);

    let claimed = app.table.company_by_rnc(&rnc).await.unwrap();
    assert_eq!(claimed, Some(company("cert-c")));
    let read = async |name: &str| app.table.company(&company(name)).await.unwrap().unwrap();
    assert!(read("cert-c").await.verified);
    let other = read("cert-d").await;
    assert_eq!((other.verified, other.certificate), (false, None));
    assert_eq!(app.table.certificates(&company("cert-d")).await.unwrap(), []);
}
