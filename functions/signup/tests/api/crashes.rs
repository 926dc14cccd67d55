//! The state after a call to AWS fails midway.

use ecf_testkit::Fault;
use serde_json::json;

use crate::{Api, OWNER, company_with_certificate, id_of, key_of};

#[tokio::test]
async fn without_secrets_manager_there_is_no_company() {
    for (operation, fault) in [("CreateSecret", Fault::NotSent), ("CreateSecret", Fault::AnswerLost)] {
        let api = Api::start().await;
        api.stack.calls().inject(operation, 1, fault);
        let answer = api.register(&company_with_certificate(OWNER)).await;
        assert_eq!(answer.expect(503)["detail"]["code"], "unavailable", "{operation}");
        assert!(answer.header("retry-after").is_some());
        assert_eq!(api.stack.calls().faults_to_come(), 0);
        let rnc = OWNER.parse().unwrap();
        assert_eq!(api.stack.table().company_by_rnc(&rnc).await.unwrap(), None);
        api.register(&company_with_certificate(OWNER)).await.expect(201);
    }
}

#[tokio::test]
async fn k4_a_sign_up_creates_a_secret_with_the_deployments_key_and_replaces_none() {
    let api = Api::start().await;
    let registered = api.register(&company_with_certificate(OWNER)).await.expect(201);
    assert_eq!(api.stack.calls().count("CreateSecret"), 1);
    assert_eq!(api.stack.calls().count("PutSecretValue"), 0);
    let page = api.stack.vault().secrets(None, 100).await.unwrap().unwrap();
    let company = id_of(&registered);
    let own = page.secrets.iter().find(|secret| secret.company == Some(company));
    let key = &api.stack.environment_of("signup")["SECRETS_KMS_KEY"];
    assert_eq!(own.unwrap().kms_key.as_ref(), Some(key));
}

#[tokio::test]
async fn whatever_write_fails_the_same_request_completes_the_sign_up() {
    // Each range is a transaction; the last transaction creates the company.
    let transactions = {
        let api = Api::start().await;
        api.stack.calls().reset();
        api.register(&company_with_certificate(OWNER)).await.expect(201);
        u32::try_from(api.stack.calls().count("TransactWriteItems")).unwrap()
    };
    for nth in [1, transactions / 2, transactions] {
        let api = Api::start().await;
        let mut body = company_with_certificate(OWNER);
        body["idempotency_key"] = json!("9f0c7a52-sign-up-1");
        api.stack.calls().inject("TransactWriteItems", nth, Fault::NotSent);
        api.register(&body).await.expect(503);
        assert_eq!(api.stack.calls().faults_to_come(), 0, "{nth} of {transactions}");
        let registered = api.register(&body).await.expect(201);
        let scope = api.opened_by(key_of(&registered)).await.unwrap();
        assert_eq!(api.stack.table().ranges(&scope, None).await.unwrap().len(), 20);
        let kept = api.stack.table().company(&scope.company).await.unwrap().unwrap();
        assert!(kept.certificate.is_some());
    }
}

#[tokio::test]
async fn a_company_whose_answer_was_lost_on_the_way_from_the_table_is_answered_all_the_same() {
    let api = Api::start().await;
    let transactions = 21;
    api.stack
        .calls()
        .inject("TransactWriteItems", transactions, Fault::AnswerLost);
    let registered = api.register(&company_with_certificate(OWNER)).await.expect(201);
    assert_eq!(api.stack.calls().faults_to_come(), 0);
    assert_eq!(
        api.opened_by(key_of(&registered)).await.unwrap().company,
        id_of(&registered)
    );
}
