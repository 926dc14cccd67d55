//! Companies and their receipts are found, each with its owner.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use ecf_testkit::{TestCompany, TestStack};
use serde_json::{Value, json};

use crate::{World, refusal};

const OTHER_RNC: &str = "101000001";
const NOBODY: &str = "0123456789abcdefghjkmnpqrstvwxyz";

impl World {
    /// A second company.
    async fn other(&self) -> TestCompany {
        self.stack.company_builder().rnc(OTHER_RNC).verified().build().await
    }

    /// All parts of an answer's list, one company a part.
    pub(crate) async fn walk(&self, command: &str, mut arguments: Value, list: &str) -> Vec<Value> {
        let mut rows = Vec::new();
        arguments["limit"] = json!(1);
        for _ in 0..40 {
            let part = self.run(command, arguments.clone()).await;
            rows.extend(part[list].as_array().unwrap_or_else(|| panic!("{part}")).clone());
            if part["next"].is_null() {
                return rows;
            }
            arguments["at"] = part["next"].clone();
        }
        panic!("{command} does not end: {arguments}");
    }

    /// Makes a company like one from before the list.
    async fn unlist(&self, stack: &TestStack) {
        let (client, table) = (&stack.clients().dynamodb, stack.provisioned().table_name());
        let all = client.scan().table_name(table).send().await.unwrap().items.unwrap();
        let is_entry =
            |item: &&std::collections::HashMap<String, AttributeValue>| item["pk"].as_s().unwrap().starts_with("cl#");
        for item in all.iter().filter(is_entry) {
            let delete = client.delete_item().table_name(table);
            let delete = delete.key("pk", item["pk"].clone()).key("sk", item["sk"].clone());
            delete.send().await.unwrap();
        }
    }
}

fn values<'a>(rows: &'a [Value], member: &str) -> BTreeSet<&'a str> {
    rows.iter().map(|row| row[member].as_str().unwrap()).collect()
}

#[tokio::test]
async fn o3_companies_are_found_by_rnc_and_all_of_them_in_parts() {
    let world = World::start().await;
    let other = world.other().await;
    let (mine, theirs) = (world.company.scope.company.to_string(), other.scope.company.to_string());
    let found = world.run("list_companies", json!({ "rnc": OTHER_RNC })).await;
    assert_eq!(
        values(found["companies"].as_array().unwrap(), "public_id"),
        [&*theirs].into()
    );
    assert_eq!(found["next"], Value::Null);
    let nobody = world.run("list_companies", json!({ "rnc": "401506254" })).await;
    assert_eq!(nobody["companies"], json!([]));

    let all = world.walk("list_companies", json!({}), "companies").await;
    assert_eq!(all.len(), 2);
    assert_eq!(values(&all, "public_id"), [&*mine, &*theirs].into());
    for limit in [0, 501] {
        let refused = world.run("list_companies", json!({ "limit": limit })).await;
        assert_eq!(refusal(&refused), "bad_part");
    }
}

#[tokio::test]
async fn o3_companies_from_before_the_list_are_added_once() {
    let world = World::start().await;
    let other = world.other().await;
    world.unlist(&world.stack).await;
    assert_eq!(
        world.walk("list_companies", json!({}), "companies").await,
        [] as [Value; 0]
    );
    // A verified company is found without the list.
    let found = world.run("list_companies", json!({ "rnc": OTHER_RNC })).await;
    assert_eq!(found["companies"][0]["public_id"], json!(other.scope.company));

    let mut added = Vec::new();
    let mut arguments = json!({ "limit": 7 });
    let mut parts = 0;
    loop {
        let part = world.run("fill_in_companies", arguments.clone()).await;
        assert_eq!(part["listed"], 0, "{part}");
        added.extend(part["added"].as_array().unwrap().clone());
        parts += 1;
        if part["next"].is_null() {
            break;
        }
        arguments["at"] = part["next"].clone();
    }
    assert!(parts > 2, "{parts}");
    assert_eq!(added.len(), 2, "{added:?}");
    let again = world.run("fill_in_companies", json!({})).await;
    assert_eq!((&again["added"], &again["listed"]), (&json!([]), &json!(2)));
    assert_eq!(world.walk("list_companies", json!({}), "companies").await.len(), 2);
    let found = world.run("list_companies", json!({ "rnc": OTHER_RNC })).await;
    assert_eq!(found["companies"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn o3_a_receipt_is_found_by_each_of_its_names_with_its_owner() {
    let world = World::start().await;
    let other = world.other().await;
    let mine = world.signed("E310000000001").await;
    let theirs = world.stack.signed_receipt(&other, "E310000000001").await;
    let theirs = world.stack.accept(&theirs, Vec::new()).await;
    let (me, them) = (world.company.scope.company, other.scope.company);

    // Both have the number; each row names its company.
    let rows = world
        .walk("find_receipts", json!({ "encf": "E310000000001" }), "receipts")
        .await;
    assert_eq!(rows.len(), 2);
    for (receipt, rnc) in [(&mine, world.company.rnc.as_str()), (&theirs, OTHER_RNC)] {
        let id = json!(receipt.public_id);
        let row = rows.iter().find(|row| row["public_id"] == id).unwrap();
        assert_eq!(
            (&row["company"], &row["rnc"]),
            (&json!(receipt.scope.company), &json!(rnc))
        );
        assert_eq!(row["environment"], "TesteCF");
    }
    let track = world
        .walk("find_receipts", json!({ "track_id": "track-1" }), "receipts")
        .await;
    assert_eq!(values(&track, "company"), [&*them.to_string()].into());

    // One company's search never has another's receipt.
    for sought in [json!({ "encf": "E310000000001" }), json!({ "receipt": mine.public_id })] {
        let mut sought = sought;
        sought["company"] = json!(me);
        let found = world.run("find_receipts", sought).await;
        assert_eq!(found["receipts"].as_array().unwrap().len(), 1);
        assert_eq!(found["receipts"][0]["public_id"], json!(mine.public_id));
    }
    for sought in [
        json!({ "receipt": theirs.public_id, "company": me }),
        json!({ "track_id": "track-1", "company": me }),
        json!({ "external_id": "SO-1" }),
    ] {
        assert_eq!(world.run("find_receipts", sought).await["receipts"], json!([]));
    }
    for (wrong, code) in [
        (json!({}), "bad_search"),
        (json!({ "track_id": "a", "external_id": "b" }), "bad_search"),
        (json!({ "track_id": "a", "company": NOBODY }), "not_found"),
        (json!({ "track_id": "a", "limit": 501 }), "bad_part"),
        (json!({ "encf": "E31" }), "bad_command"),
    ] {
        assert_eq!(refusal(&world.run("find_receipts", wrong).await), code);
    }
}

#[tokio::test]
async fn k6_a_key_is_found_by_its_hash_and_shows_its_last_use() {
    use sha2::{Digest as _, Sha256};
    let world = World::start().await;
    let now = world.stack.clock().now();
    let (company, key) = (world.company.scope.company, world.company.api_key_id);
    world.table().record_key_use(&company, &key, now).await.unwrap();
    let sha256 = hex::encode(Sha256::digest(&world.company.api_key));
    let found = world.run("find_api_key", json!({ "sha256": sha256 })).await;
    assert_eq!(found["company"]["public_id"], json!(company));
    assert_eq!(
        (&found["api_key"]["id"], &found["api_key"]["last_used_at"]),
        (&json!(key), &json!(now))
    );
    let listed = world.run("list_api_keys", json!({ "company": company })).await;
    assert_eq!(listed["api_keys"][0]["last_used_at"], json!(now));
    assert_eq!(
        refusal(&world.run("find_api_key", json!({ "sha256": "00".repeat(32) })).await),
        "not_found"
    );
    assert_eq!(
        refusal(&world.run("find_api_key", json!({ "sha256": "ecf_test_x" })).await),
        "bad_hash"
    );
}
