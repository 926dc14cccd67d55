//! Deployments that require an invitation.

use ecf_testkit::Fault;
use futures::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, OWNER, company, company_with_certificate, fault, id_of};

async fn closed() -> Api {
    Api::with(&[("SIGNUP_NEEDS_INVITATION", "true")]).await
}

fn invited(mut body: Value, code: &str) -> Value {
    body["invitation_code"] = json!(code);
    body
}

async fn refused(api: &Api, body: &Value) {
    let refused = api.register(body).await.expect(422);
    let expected = ("body/invitation_code".to_owned(), "value_error".to_owned());
    assert_eq!(fault(&refused), expected);
}

#[tokio::test]
async fn an_invitation_is_good_for_as_many_companies_as_it_says_until_it_expires() {
    let api = closed().await;
    api.invite("sésamo", 2).await;
    refused(&api, &company("130000001")).await;
    for code in ["", "ábrete", "sésam"] {
        refused(&api, &invited(company("130000001"), code)).await;
    }
    let body = invited(company("130000001"), "sésamo");
    for _ in 0..2 {
        api.register(&body).await.expect(201);
    }
    refused(&api, &body).await;
    api.invite("mañana", 2).await;
    api.stack.clock().advance(SignedDuration::from_hours(24));
    refused(&api, &invited(company("130000001"), "mañana")).await;
    // An invitation that is not required is ignored.
    Api::start().await.register(&body).await.expect(201);
}

#[tokio::test]
async fn a_sign_up_that_fails_uses_up_nothing_and_its_repeat_neither() {
    let api = closed().await;
    api.invite("una", 1).await;
    let mut wrong_pin = invited(company_with_certificate(OWNER), "una");
    wrong_pin["pin"] = json!("wrong");
    api.register(&wrong_pin).await.expect(422);
    let mut body = invited(company_with_certificate(OWNER), "una");
    body["idempotency_key"] = json!("9f0c7a52-sign-up-1");
    api.stack.calls().inject("TransactWriteItems", 21, Fault::NotSent);
    api.register(&body).await.expect(503);
    let first = api.register(&body).await.expect(201);
    let repeated = api.register(&body).await.expect(201);
    assert_eq!(id_of(&first), id_of(&repeated));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_the_same_time_only_the_invited_number_come_in() {
    let api = closed().await;
    api.invite("tres", 3).await;
    let bodies: Vec<Value> = (0..8).map(|_| invited(company("130000001"), "tres")).collect();
    let answers = join_all(bodies.iter().map(|body| api.register(body))).await;
    let count = |status: u16| answers.iter().filter(|answer| answer.status == status).count();
    assert_eq!((count(201), count(422)), (3, 5));
}
