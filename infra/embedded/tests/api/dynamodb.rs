use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, Put, ScalarAttributeType,
    TimeToLiveSpecification, TransactWriteItem,
};

use crate::stack::Stack;

pub(crate) async fn create_table(client: &Client, name: &str) {
    client
        .create_table()
        .table_name(name)
        .billing_mode(BillingMode::PayPerRequest)
        .attribute_definitions(
            AttributeDefinition::builder()
                .attribute_name("pk")
                .attribute_type(ScalarAttributeType::S)
                .build()
                .unwrap(),
        )
        .key_schema(
            KeySchemaElement::builder()
                .attribute_name("pk")
                .key_type(KeyType::Hash)
                .build()
                .unwrap(),
        )
        .send()
        .await
        .unwrap();
}

pub(crate) fn text(value: &str) -> AttributeValue {
    AttributeValue::S(value.to_owned())
}

#[tokio::test]
async fn conditional_puts_at_the_same_time_have_one_winner() {
    let stack = Stack::start().await;
    create_table(&stack.dynamodb(), "receipts").await;
    let writers: Vec<_> = (0..16)
        .map(|writer| {
            let client = stack.dynamodb();
            tokio::spawn(async move {
                client
                    .put_item()
                    .table_name("receipts")
                    .item("pk", text("one"))
                    .item("writer", AttributeValue::N(writer.to_string()))
                    .condition_expression("attribute_not_exists(pk)")
                    .send()
                    .await
            })
        })
        .collect();
    let mut winners = 0;
    for writer in writers {
        match writer.await.unwrap() {
            Ok(_) => winners += 1,
            Err(error) => assert!(error.into_service_error().is_conditional_check_failed_exception()),
        }
    }
    assert_eq!(winners, 1);
}

#[tokio::test]
async fn a_cancelled_transaction_gives_the_reason_of_each_item() {
    let stack = Stack::start().await;
    let client = stack.dynamodb();
    create_table(&client, "receipts").await;
    client
        .put_item()
        .table_name("receipts")
        .item("pk", text("taken"))
        .item("owner", text("first"))
        .send()
        .await
        .unwrap();
    let put = |key: &str| {
        let put = Put::builder()
            .table_name("receipts")
            .item("pk", text(key))
            .condition_expression("attribute_not_exists(pk)")
            .return_values_on_condition_check_failure(
                aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure::AllOld,
            )
            .build()
            .unwrap();
        TransactWriteItem::builder().put(put).build()
    };
    let error = client
        .transact_write_items()
        .transact_items(put("free"))
        .transact_items(put("taken"))
        .send()
        .await
        .unwrap_err()
        .into_service_error();
    let aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError::TransactionCanceledException(
        cancelled,
    ) = error
    else {
        panic!("not cancelled: {error:?}");
    };
    let codes: Vec<_> = cancelled
        .cancellation_reasons()
        .iter()
        .map(|reason| reason.code().unwrap())
        .collect();
    assert_eq!(codes, ["None", "ConditionalCheckFailed"]);
    let kept = cancelled.cancellation_reasons()[1].item().unwrap();
    assert_eq!(kept["owner"], text("first"));
    let free = client
        .get_item()
        .table_name("receipts")
        .key("pk", text("free"))
        .send()
        .await
        .unwrap();
    assert!(free.item().is_none(), "a cancelled transaction wrote something");
}

#[tokio::test]
async fn expired_items_are_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let stack = Stack::start_in(folder.path()).await;
    let client = stack.dynamodb();
    create_table(&client, "tokens").await;
    client
        .update_time_to_live()
        .table_name("tokens")
        .time_to_live_specification(
            TimeToLiveSpecification::builder()
                .attribute_name("expires_at")
                .enabled(true)
                .build()
                .unwrap(),
        )
        .send()
        .await
        .unwrap();
    for (key, expires_at) in [("old", "1700000000"), ("new", "4100000000")] {
        client
            .put_item()
            .table_name("tokens")
            .item("pk", text(key))
            .item("expires_at", AttributeValue::N(expires_at.to_owned()))
            .send()
            .await
            .unwrap();
    }
    // The sweep runs every 30 seconds, first at the start.
    stack.embedded.shutdown().await;
    let stack = Stack::start_in(folder.path()).await;
    let client = stack.dynamodb();
    let exists = async |key: &str| {
        let request = client.get_item().table_name("tokens").key("pk", text(key));
        request.send().await.unwrap().item.is_some()
    };
    let mut tries = 0;
    while exists("old").await {
        tries += 1;
        assert!(tries < 2_000, "the expired item stays");
    }
    assert!(exists("new").await);
}
