use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::primitives::Blob;
use aws_sdk_secretsmanager::types::{Filter, FilterNameStringType, Tag};

use crate::stack::Stack;

const FIRST: &str = "00000000-0000-0000-0000-000000000001";
const SECOND: &str = "00000000-0000-0000-0000-000000000002";
const THIRD: &str = "00000000-0000-0000-0000-000000000003";

async fn put(client: &Client, token: &str, value: &str) {
    client
        .put_secret_value()
        .secret_id("company/1")
        .client_request_token(token)
        .secret_string(value)
        .send()
        .await
        .unwrap();
}

async fn create(client: &Client) {
    client
        .create_secret()
        .name("company/1")
        .client_request_token(FIRST)
        .secret_string("one")
        .send()
        .await
        .unwrap();
}

/// The value at a stage, if there is one.
async fn at(client: &Client, stage: &str) -> Option<String> {
    let answer = client
        .get_secret_value()
        .secret_id("company/1")
        .version_stage(stage)
        .send()
        .await;
    match answer {
        Ok(answer) => answer.secret_string,
        Err(error) => {
            let error = error.into_service_error();
            assert!(error.is_resource_not_found_exception(), "{error:?}");
            None
        }
    }
}

#[tokio::test]
async fn binary_values_are_kept_byte_for_byte() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    let bytes: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    let created = client
        .create_secret()
        .name("company/1")
        .secret_binary(Blob::new(bytes.clone()))
        .send()
        .await
        .unwrap();
    let read = async |id: &str| {
        let answer = client.get_secret_value().secret_id(id).send().await;
        let answer = answer.unwrap();
        assert!(answer.secret_string().is_none());
        answer.secret_binary.unwrap().into_inner()
    };
    assert_eq!(read("company/1").await, bytes);
    let arn = created.arn().unwrap();
    assert_eq!(read(arn).await, bytes);
    assert_eq!(read(&arn[..arn.len() - 7]).await, bytes, "by partial ARN");
    let other: Vec<u8> = bytes.iter().rev().copied().collect();
    client
        .put_secret_value()
        .secret_id("company/1")
        .secret_binary(Blob::new(other.clone()))
        .send()
        .await
        .unwrap();
    assert_eq!(read("company/1").await, other);
}

#[tokio::test]
async fn a_new_value_becomes_current_and_the_one_before_previous() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    assert_eq!(at(&client, "AWSPREVIOUS").await, None);
    put(&client, SECOND, "two").await;
    assert_eq!(at(&client, "AWSCURRENT").await.unwrap(), "two");
    assert_eq!(at(&client, "AWSPREVIOUS").await.unwrap(), "one");
    client
        .update_secret()
        .secret_id("company/1")
        .client_request_token(THIRD)
        .secret_string("three")
        .send()
        .await
        .unwrap();
    assert_eq!(at(&client, "AWSCURRENT").await.unwrap(), "three");
    assert_eq!(at(&client, "AWSPREVIOUS").await.unwrap(), "two");
    let listed = client
        .list_secret_version_ids()
        .secret_id("company/1")
        .send()
        .await
        .unwrap();
    let ids: Vec<_> = listed
        .versions()
        .iter()
        .map(|version| version.version_id().unwrap())
        .collect();
    assert_eq!(ids, [THIRD, SECOND], "versions without a stage are not listed");
}

#[tokio::test]
async fn a_repeated_token_changes_nothing_and_with_other_content_is_refused() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    put(&client, SECOND, "two").await;
    put(&client, THIRD, "three").await;
    put(&client, SECOND, "two").await;
    assert_eq!(at(&client, "AWSCURRENT").await.unwrap(), "three");
    let error = client
        .put_secret_value()
        .secret_id("company/1")
        .client_request_token(SECOND)
        .secret_string("not two")
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_resource_exists_exception());

    create(&client).await;
    let error = client
        .create_secret()
        .name("company/1")
        .client_request_token(FIRST)
        .secret_string("not one")
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_resource_exists_exception());
}

#[tokio::test]
async fn a_stage_moves_only_from_the_version_that_has_it() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    put(&client, SECOND, "two").await;
    let back = client
        .update_secret_version_stage()
        .secret_id("company/1")
        .version_stage("AWSCURRENT")
        .move_to_version_id(FIRST);
    let error = back.clone().send().await.unwrap_err();
    assert!(error.into_service_error().is_invalid_parameter_exception());
    back.clone().remove_from_version_id(SECOND).send().await.unwrap();
    assert_eq!(at(&client, "AWSCURRENT").await.unwrap(), "one");
    assert_eq!(at(&client, "AWSPREVIOUS").await.unwrap(), "two");

    let remove = async |stage: &str, version: &str| {
        client
            .update_secret_version_stage()
            .secret_id("company/1")
            .version_stage(stage)
            .remove_from_version_id(version)
            .send()
            .await
    };
    assert!(remove("AWSCURRENT", FIRST).await.is_err());
    remove("AWSPREVIOUS", SECOND).await.unwrap();
    assert_eq!(at(&client, "AWSPREVIOUS").await, None);
}

#[tokio::test]
async fn a_staged_value_waits_beside_the_current_one() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    client
        .put_secret_value()
        .secret_id("company/1")
        .client_request_token(SECOND)
        .secret_string("two")
        .version_stages("AWSPENDING")
        .send()
        .await
        .unwrap();
    assert_eq!(at(&client, "AWSCURRENT").await.unwrap(), "one");
    assert_eq!(at(&client, "AWSPENDING").await.unwrap(), "two");
    let described = client.describe_secret().secret_id("company/1").send().await.unwrap();
    let stages = described.version_ids_to_stages().unwrap();
    assert_eq!(stages[FIRST], ["AWSCURRENT"]);
    assert_eq!(stages[SECOND], ["AWSPENDING"]);
    let mismatched = client
        .get_secret_value()
        .secret_id("company/1")
        .version_id(FIRST)
        .version_stage("AWSPENDING")
        .send()
        .await
        .unwrap_err();
    assert!(mismatched.into_service_error().is_invalid_request_exception());
}

#[tokio::test]
async fn a_deleted_secret_can_be_restored_until_it_is_deleted_for_good() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    let delete = || client.delete_secret().secret_id("company/1");
    delete().recovery_window_in_days(7).send().await.unwrap();
    let read = || client.get_secret_value().secret_id("company/1").send();
    let error = read().await.unwrap_err().into_service_error();
    assert!(error.is_invalid_request_exception(), "{error:?}");
    let error = client
        .create_secret()
        .name("company/1")
        .secret_string("again")
        .send()
        .await
        .unwrap_err();
    assert!(error.into_service_error().is_invalid_request_exception());

    client.restore_secret().secret_id("company/1").send().await.unwrap();
    assert_eq!(read().await.unwrap().secret_string(), Some("one"));
    delete().force_delete_without_recovery(true).send().await.unwrap();
    let error = read().await.unwrap_err().into_service_error();
    assert!(error.is_resource_not_found_exception(), "{error:?}");
    create(&client).await;
}

#[tokio::test]
async fn secrets_are_listed_by_name_and_tag() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    for name in ["company/1", "company/2", "tokens"] {
        client
            .create_secret()
            .name(name)
            .secret_string("value")
            .send()
            .await
            .unwrap();
    }
    client
        .tag_resource()
        .secret_id("company/2")
        .tags(Tag::builder().key("state").value("active").build())
        .send()
        .await
        .unwrap();
    let names = async |key: FilterNameStringType, value: &str| {
        let filter = Filter::builder().key(key).values(value).build();
        let listed = client.list_secrets().filters(filter).send().await.unwrap();
        let mut names: Vec<String> = listed
            .secret_list()
            .iter()
            .map(|secret| secret.name().unwrap().to_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        names(FilterNameStringType::Name, "company/").await,
        ["company/1", "company/2"]
    );
    assert_eq!(names(FilterNameStringType::TagKey, "state").await, ["company/2"]);
    let page = client.list_secrets().max_results(2).send().await.unwrap();
    assert_eq!(page.secret_list().len(), 2);
    let rest = client
        .list_secrets()
        .next_token(page.next_token().unwrap())
        .send()
        .await
        .unwrap();
    assert_eq!(rest.secret_list().len(), 1);
}

#[tokio::test]
async fn a_random_password_has_the_length_and_characters_asked_for() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    let password = async || {
        client
            .get_random_password()
            .password_length(40)
            .exclude_punctuation(true)
            .exclude_characters("abc")
            .send()
            .await
            .unwrap()
            .random_password
            .unwrap()
    };
    let one = password().await;
    assert_eq!(one.len(), 40);
    assert!(one.chars().all(|c| c.is_ascii_alphanumeric() && !"abc".contains(c)));
    assert!(one.chars().any(|c| c.is_ascii_digit()));
    assert_ne!(one, password().await);
}
