//! `check_secrets`.

use ecf_store::{CertificateFile, CompanyId, Vault};
use ecf_testkit::{Fault, P12_PIN, test_p12};
use serde_json::{Value, json};

use crate::{World, refusal};

/// A certificate as earlier versions stored it: not encrypted with the deployment's own key.
async fn stored_without_key(world: &World, number: u8) -> CompanyId {
    let prefix = world.stack.environment_of("operator")["SECRET_PREFIX"].clone();
    let vault = Vault::new(world.stack.clients().secretsmanager.clone(), prefix);
    let company = CompanyId::from_random([number; 20]);
    let file = CertificateFile::verbatim(test_p12(), P12_PIN);
    vault.store_certificate(&company, &file).await.unwrap();
    company
}

/// All parts, one secret at a time.
async fn parts(world: &World, repair: bool) -> Vec<Value> {
    let (mut answers, mut at) = (Vec::new(), Value::Null);
    loop {
        let arguments = json!({ "at": at, "limit": 1, "repair": repair });
        let answer = world.run("check_secrets", arguments).await;
        at = answer["next"].clone();
        answers.push(answer);
        if at.is_null() {
            return answers;
        }
    }
}

fn all(answers: &[Value], member: &str) -> Vec<String> {
    let lists = answers.iter().flat_map(|answer| answer["found"][member].as_array());
    let mut all: Vec<String> = lists.flatten().map(|one| one.as_str().unwrap().to_owned()).collect();
    all.sort();
    all
}

#[tokio::test]
async fn k2_certificates_without_the_deployments_key_are_found_and_moved_to_it() {
    let world = World::start().await;
    let none: [String; 0] = [];
    let before = world.run("check_secrets", json!({})).await;
    assert_eq!(before["found"]["other_key"], json!([]), "{before}");
    assert_eq!(before["agrees"], json!(true));

    let mut old = Vec::new();
    for number in 1..=3 {
        old.push(stored_without_key(&world, number).await.to_string());
    }
    old.sort();
    let names: Vec<String> = old.iter().map(|id| format!("company/{id}")).collect();
    let found = parts(&world, false).await;
    assert_eq!(all(&found, "other_key"), names);
    assert_eq!(all(&found, "moved"), none);
    // A check without repair moves nothing.
    let moved = parts(&world, true).await;
    assert_eq!(all(&moved, "moved"), old);
    assert_eq!(all(&moved, "other_key"), none);
    // The second repair has nothing left to move, and each certificate can still be read.
    let again = parts(&world, true).await;
    assert_eq!(all(&again, "moved"), none);
    assert_eq!(all(&again, "other_key"), none);
    assert!(again.len() > 3, "a part had more than one secret");
    for id in old {
        let company: CompanyId = id.parse().unwrap();
        let kept = world.stack.vault().certificate(&company).await.unwrap().unwrap();
        assert_eq!(*kept.file.p12, test_p12());
    }
}

#[tokio::test]
async fn k2_a_move_that_fails_is_taken_up_again() {
    let world = World::start().await;
    for number in 1..=3 {
        stored_without_key(&world, number).await;
    }
    let calls = world.stack.calls();
    calls.inject("UpdateSecret", 2, Fault::NotSent);
    let failed = world.run("check_secrets", json!({ "repair": true })).await;
    assert_eq!(refusal(&failed), "try_again");
    let rest = world.run("check_secrets", json!({ "repair": true })).await;
    assert_eq!(rest["found"]["moved"].as_array().unwrap().len(), 2, "{rest}");
    assert_eq!(rest["agrees"], json!(true));
}

#[tokio::test]
async fn a_secret_that_the_operator_made_by_hand_is_reported_and_not_moved() {
    let world = World::start().await;
    let operators = ecf_store::OperatorSecret::PortalSecret;
    world.stack.store_secret(operators, "by hand").await;
    let answer = world.run("check_secrets", json!({ "repair": true })).await;
    assert_eq!(answer["found"]["other_key"], json!(["portal-secret"]));
    assert_eq!(
        (&answer["agrees"], &answer["found"]["moved"]),
        (&json!(false), &json!([]))
    );
}

#[tokio::test]
async fn a_part_has_between_one_and_a_hundred_secrets() {
    let world = World::start().await;
    for limit in [0, 101] {
        let answer = world.run("check_secrets", json!({ "limit": limit })).await;
        assert_eq!(refusal(&answer), "bad_part");
    }
    let answer = world.run("check_secrets", json!({ "at": "elsewhere" })).await;
    assert_eq!(refusal(&answer), "bad_part");
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .starts_with("at is not a position")
    );
}
