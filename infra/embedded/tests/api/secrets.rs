use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::error::ProvideErrorMetadata;
use aws_sdk_secretsmanager::types::{Filter, FilterNameStringType};

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

/// Creates a secret and returns its ARN.
async fn create(client: &Client) -> String {
    let create = client.create_secret().name("company/1").client_request_token(FIRST);
    let created = create.secret_string("one\n").send().await.unwrap();
    created.arn.unwrap()
}

async fn read(client: &Client, id: &str) -> String {
    let answer = client.get_secret_value().secret_id(id).send().await.unwrap();
    answer.secret_string.unwrap()
}

#[tokio::test]
async fn the_last_value_is_the_current_one_by_name_and_by_arn() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    let arn = create(&client).await;
    for id in ["company/1", &arn, &arn[..arn.len() - 7]] {
        assert_eq!(read(&client, id).await, "one\n", "{id}");
    }
    put(&client, SECOND, "two").await;
    let current = client.get_secret_value().secret_id("company/1").send().await.unwrap();
    assert_eq!(current.secret_string(), Some("two"));
    assert_eq!(current.version_id(), Some(SECOND));
    assert_eq!(current.version_stages(), ["AWSCURRENT"]);
}

#[tokio::test]
async fn a_repeated_token_changes_nothing_and_with_other_content_is_refused() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    put(&client, SECOND, "two").await;
    put(&client, THIRD, "three").await;
    put(&client, SECOND, "two").await;
    assert_eq!(read(&client, "company/1").await, "three");
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
async fn a_secret_can_be_encrypted_with_another_key() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    let key = async || {
        client
            .describe_secret()
            .secret_id("company/1")
            .send()
            .await
            .unwrap()
            .kms_key_id
    };
    assert_eq!(key().await, None);
    let update = client.update_secret().secret_id("company/1").kms_key_id("alias/ecf");
    update.send().await.unwrap();
    assert_eq!(key().await.as_deref(), Some("alias/ecf"));
    assert_eq!(read(&client, "company/1").await, "one\n");
}

#[tokio::test]
async fn a_deleted_secret_cannot_be_used_nor_its_name_taken() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    let delete = client.delete_secret().secret_id("company/1").recovery_window_in_days(7);
    delete.send().await.unwrap();
    let error = client.get_secret_value().secret_id("company/1").send().await;
    let error = error.unwrap_err().into_service_error();
    assert!(error.is_invalid_request_exception(), "{error:?}");
    let again = client.create_secret().name("company/1").secret_string("again");
    let error = again.send().await.unwrap_err();
    assert!(error.into_service_error().is_invalid_request_exception());
    let error = client.get_secret_value().secret_id("company/2").send().await;
    assert!(
        error
            .unwrap_err()
            .into_service_error()
            .is_resource_not_found_exception()
    );
}

#[tokio::test]
async fn secrets_are_listed_by_the_beginning_of_their_names_and_page_by_page() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    for name in ["company/1", "company/2", "tokens"] {
        let create = client.create_secret().name(name).secret_string("value");
        create.send().await.unwrap();
    }
    let by_name = Filter::builder().key(FilterNameStringType::Name).values("company/");
    let listed = client.list_secrets().filters(by_name.build()).send().await.unwrap();
    let mut names: Vec<&str> = listed.secret_list().iter().filter_map(|secret| secret.name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["company/1", "company/2"]);
    let page = client.list_secrets().max_results(2).send().await.unwrap();
    assert_eq!(page.secret_list().len(), 2);
    let rest = client
        .list_secrets()
        .next_token(page.next_token().unwrap())
        .send()
        .await
        .unwrap();
    assert_eq!(rest.secret_list().len(), 1);
    assert_eq!(rest.next_token(), None);
}

#[tokio::test]
async fn a_random_password_has_the_length_and_characters_asked_for() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    let password = async || {
        let generate = client
            .get_random_password()
            .password_length(40)
            .exclude_punctuation(true);
        generate.send().await.unwrap().random_password.unwrap()
    };
    let one = password().await;
    assert_eq!(one.len(), 40);
    assert!(one.chars().all(|c| c.is_ascii_alphanumeric()));
    assert!(one.chars().any(|c| c.is_ascii_digit()));
    assert_ne!(one, password().await);
}

#[tokio::test]
async fn what_is_not_embedded_is_refused_by_name() {
    let stack = Stack::start().await;
    let client = stack.secrets();
    create(&client).await;
    let restore = client.restore_secret().secret_id("company/1").send().await.unwrap_err();
    assert_eq!(restore.message(), Some("RestoreSecret is not embedded here"));
    let previous = client
        .get_secret_value()
        .secret_id("company/1")
        .version_stage("AWSPREVIOUS");
    let error = previous.send().await.unwrap_err();
    let message = error.message().unwrap();
    assert!(message.starts_with("unknown field `VersionStage`"), "{message}");
}
