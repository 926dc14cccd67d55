//! `GET /api/v1/client/certificates`.

use ecf::Environment;
use ecf_testkit::{P12_PIN, request, test_p12};
use http::Method;
use jiff::SignedDuration;
use serde_json::json;

use crate::{Api, CERTIFICATES};

#[tokio::test]
async fn the_list_is_a_bare_array_with_what_the_upload_answered_of_the_certificate() {
    let api = Api::start().await;
    assert_eq!(api.get(CERTIFICATES).await.expect(200), json!([]));
    let mut uploaded = api.upload(test_p12(), P12_PIN).await.expect(201);
    for of_the_upload in ["warnings", "signs_everywhere_from"] {
        uploaded.as_object_mut().unwrap().remove(of_the_upload);
    }
    assert_eq!(api.get(CERTIFICATES).await.expect(200), json!([uploaded]));

    api.stack.clock().advance(SignedDuration::from_hours(24 * 766));
    let later = api.get(CERTIFICATES).await.expect(200);
    assert_eq!(
        (&later[0]["days_until_expiry"], &later[0]["is_active"]),
        (&json!(-1), &json!(true))
    );
}

#[tokio::test]
async fn another_company_sees_nothing_of_it() {
    let api = Api::start().await;
    api.upload(test_p12(), P12_PIN).await.expect(201);
    let builder = api
        .stack
        .company_builder()
        .rnc("131880681")
        .environment(Environment::CerteCF);
    let other = builder.without_ranges().without_certificate().build().await;
    let listed = request(&api.router, Method::GET, CERTIFICATES, Some(&other.api_key), None).await;
    assert_eq!(listed.expect(200), json!([]));
}
