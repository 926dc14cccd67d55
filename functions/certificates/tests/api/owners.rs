//! The owner of a certificate.

use ecf_testkit::{P12_PIN, RNC, test_p12};

use crate::{Api, CERTIFICATES, fault, is, p12_of, warnings};

#[tokio::test]
async fn anothers_certificate_is_taken_with_a_warning_unless_its_holder_is_named() {
    let api = Api::start().await;
    let uploaded = api.upload(test_p12(), P12_PIN).await.expect(201);
    assert_eq!(warnings(&uploaded), ["owner"]);
    let msg = uploaded["warnings"][0]["msg"].as_str().unwrap();
    assert!(msg.contains("IDCDO-00100000001") && msg.contains(RNC), "{msg}");

    let named = [("pin", P12_PIN), ("delegate", "00100000001")];
    let uploaded = api.post_p12(CERTIFICATES, test_p12(), &named).await.expect(201);
    assert_eq!(warnings(&uploaded), [""; 0]);
    let other = [("pin", P12_PIN), ("delegate", "00200000002")];
    let refused = api.post_p12(CERTIFICATES, test_p12(), &other).await.expect(422);
    assert_eq!(fault(&refused), is("body/delegate", "owner"));
}

#[tokio::test]
async fn where_the_deployment_says_so_anothers_certificate_is_refused() {
    let api = Api::with(&[("CERTIFICATE_OWNER", "refuse")]).await;
    let refused = api.upload(test_p12(), P12_PIN).await.expect(422);
    assert_eq!(fault(&refused), is("body/certificate", "owner"));
    assert_eq!(api.listed().await, []);
    assert_eq!(api.stack.calls().requests_to("Secrets Manager"), 0);
    let named = [("pin", P12_PIN), ("delegate", "00100000001")];
    api.post_p12(CERTIFICATES, test_p12(), &named).await.expect(201);
    let own = p12_of("RNC130000001", "2026-01-01", "2028-01-01");
    api.upload(&own, P12_PIN).await.expect(201);
}

#[tokio::test]
async fn the_taxpayers_own_certificate_verifies_its_company_unless_another_is_verified() {
    let api = Api::start().await;
    let own = p12_of("IDCDO-130000001", "2026-01-01", "2028-01-01");
    let table = api.stack.table();
    let company = api.company.scope.company;
    let verified = async || table.company(&company).await.unwrap().unwrap().verified;

    api.upload(test_p12(), P12_PIN).await.expect(201);
    assert!(!verified().await, "a delegate's certificate proves nothing");
    let uploaded = api.upload(&own, P12_PIN).await.expect(201);
    assert!(verified().await && warnings(&uploaded).is_empty());
    let rnc = RNC.parse().unwrap();
    assert_eq!(table.company_by_rnc(&rnc).await.unwrap(), Some(company));

    let namesake = api
        .stack
        .company_builder()
        .without_ranges()
        .without_certificate()
        .build();
    let second = Api {
        company: namesake.await,
        router: api.router.clone(),
        stack: api.stack,
    };
    let uploaded = second.upload(&own, P12_PIN).await.expect(201);
    assert_eq!(warnings(&uploaded), ["rnc_taken"]);
    assert_eq!(table.company_by_rnc(&rnc).await.unwrap(), Some(company));
}
