//! `GET /api/v1/ecf/{id}`.

use ecf::Environment;
use ecf_api::ApiKeySecret;
use ecf_runtime::random;
use ecf_store::{ApiKeyId, api_keys::NewApiKey};
use ecf_testkit::request;
use http::Method;

use crate::{Api, payloads::invoice};

#[tokio::test]
async fn a_receipt_is_read_under_both_spellings() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let id = issued["public_id"].as_str().unwrap();
    for path in [format!("/api/v1/ecf/{id}"), format!("/api/v1/eCF/{id}")] {
        assert_eq!(api.get(&path).await.expect(200), issued, "{path}");
    }
    api.jobs().await;
}

#[tokio::test]
async fn an_unknown_id_and_one_that_cannot_be_one_are_not_found() {
    let api = Api::start().await;
    for id in ["0000000000000000000000000000000z", "1", "E310005000000", "%ff", "a%2Fb"] {
        let answer = api.get(&format!("/api/v1/ecf/{id}")).await;
        let body = answer.expect(404);
        assert_eq!(body["detail"]["code"], "not_found", "{id}");
        assert_eq!(
            body["detail"]["message"],
            "there is nothing at this address, or nothing that this key may see"
        );
        assert!(body["detail"]["request_id"].is_string());
    }
}

#[tokio::test]
async fn another_companys_receipt_is_not_found() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let path = format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap());
    let other = api.stack.company_builder().rnc("131880681").build().await;
    let answer = request(&api.router, Method::GET, &path, Some(&other.api_key), None).await;
    assert_eq!(answer.expect(404)["detail"]["code"], "not_found");
    api.get(&path).await.expect(200);
    api.jobs().await;
}

#[tokio::test]
async fn the_same_companys_key_of_another_environment_finds_nothing() {
    let api = Api::start().await;
    let issued = api.issue(&invoice("a")).await.expect(201);
    let path = format!("/api/v1/ecf/{}", issued["public_id"].as_str().unwrap());
    let secret = ApiKeySecret::generate(Environment::CerteCF, random());
    let key = NewApiKey {
        company: api.company.scope.company,
        environment: Environment::CerteCF,
        rnc: api.company.rnc.clone(),
        id: ApiKeyId::from_random(random()),
        hash: secret.hash(),
        prefix: secret.prefix().to_owned(),
        name: None,
        created_at: api.stack.clock().now(),
        expires_at: None,
        scope: ecf_store::api_keys::KeyScope::Full,
        created_by: None,
    };
    let created = api.stack.table().create_api_key(key).await.unwrap();
    assert_eq!(created, ecf_store::api_keys::ApiKeyCreated::New);
    let answer = request(&api.router, Method::GET, &path, Some(secret.text()), None).await;
    assert_eq!(answer.expect(404)["detail"]["code"], "not_found");
    api.jobs().await;
}
