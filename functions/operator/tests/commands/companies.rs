//! Companies, their keys and their ranges.

use ecf_store::Table;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::{World, refusal};

/// Whether a key is valid, as the functions decide it.
async fn opens(table: &Table, key: &Value) -> bool {
    let hash: [u8; 32] = Sha256::digest(key["key"].as_str().unwrap()).into();
    let known = table.api_key_by_hash(&hash).await.unwrap();
    known.is_some_and(|known| known.revoked_at.is_none())
}

fn newcomer() -> Value {
    json!({ "rnc": "131880681", "name": "Constructora del Cibao SRL", "email": "dgii@cibao.example", "environment": "TesteCF" })
}

#[tokio::test]
async fn a_company_is_created_with_a_key_and_verified_later() {
    let world = World::start().await;
    let created = world.run("create_company", newcomer()).await;
    assert_eq!(created["company"]["verified"], false, "{created}");
    assert!(opens(&world.table(), &created["api_key"]).await);
    let company = &created["company"]["public_id"];

    let wanted = json!({ "company": company, "environment": "ecf" });
    assert_eq!(
        refusal(&world.run("issue_api_key", wanted.clone()).await),
        "not_verified"
    );
    let verified = world.run("verify_company", json!({ "company": company })).await;
    assert_eq!(verified["company"]["verified"], true);
    assert_eq!(
        world.run("verify_company", json!({ "company": company })).await,
        verified
    );
    let key = world.run("issue_api_key", wanted).await;
    assert_eq!(key["api_key"]["environment"], "ecf");
    assert!(opens(&world.table(), &key["api_key"]).await);

    // The RNC belongs to this company by now.
    let second = world.run("create_company", newcomer()).await;
    let second = json!({ "company": second["company"]["public_id"] });
    assert_eq!(refusal(&world.run("verify_company", second).await), "rnc_taken");
    let mut verified = newcomer();
    verified["verified"] = json!(true);
    assert_eq!(refusal(&world.run("create_company", verified).await), "rnc_taken");
}

#[tokio::test]
async fn keys_are_listed_without_their_secret_and_revoked_for_good() {
    let world = World::start().await;
    let issued = world.run_here("issue_api_key", json!({})).await;
    let company = json!({ "company": world.company.scope.company });
    let listed = world.run("list_api_keys", company.clone()).await;
    let keys = listed["api_keys"].as_array().unwrap();
    assert_eq!(keys.len(), 2);
    assert!(
        keys.iter()
            .all(|key| key.get("key").is_none() && key["revoked_at"].is_null())
    );

    let mut revoke = company.clone();
    revoke["key"] = issued["api_key"]["id"].clone();
    assert_eq!(
        world.run("revoke_api_key", revoke.clone()).await,
        json!({ "revoked": revoke["key"], "revoked_descendants": [], "living_descendants": [] })
    );
    assert!(!opens(&world.table(), &issued["api_key"]).await);
    revoke["key"] = json!("0123456789abcdefghjkmnpqrstvwxyz");
    assert_eq!(refusal(&world.run("revoke_api_key", revoke).await), "not_found");
    let past = json!({ "expires_at": "2020-01-01T00:00:00Z" });
    assert_eq!(refusal(&world.run_here("issue_api_key", past).await), "bad_expiry");
}

#[tokio::test]
async fn k1_a_key_is_issued_with_a_scope_and_revoked_with_those_that_it_made() {
    let world = World::start().await;
    let read = world.run_here("issue_api_key", json!({ "scope": "read" })).await;
    assert_eq!(read["api_key"]["scope"], "read");
    let nonsense = world.run_here("issue_api_key", json!({ "scope": "all" })).await;
    assert_eq!(refusal(&nonsense), "bad_command");
    let stolen = world.run_here("issue_api_key", json!({})).await["api_key"].clone();
    let (company, now) = (world.company.scope.company, world.stack.clock().now());
    let child = ecf_store::api_keys::NewApiKey {
        company,
        environment: world.company.scope.environment,
        rnc: world.company.rnc.clone(),
        id: ecf_store::ApiKeyId::from_random([5; 20]),
        hash: [5; 32],
        prefix: "ecf_test_0505".to_owned(),
        name: None,
        created_at: now,
        expires_at: None,
        scope: ecf_store::api_keys::KeyScope::Full,
        created_by: Some(stolen["id"].as_str().unwrap().parse().unwrap()),
    };
    let id = json!(child.id);
    let created = world.table().create_api_key(child).await.unwrap();
    assert_eq!(created, ecf_store::api_keys::ApiKeyCreated::New);
    let revoke = json!({ "company": company, "key": stolen["id"] });
    let revoked = world.run("revoke_api_key", revoke.clone()).await;
    assert_eq!(
        (&revoked["living_descendants"], &revoked["revoked_descendants"]),
        (&json!([id]), &json!([]))
    );
    let mut with_them = revoke;
    with_them["descendants"] = json!(true);
    let revoked = world.run("revoke_api_key", with_them).await;
    assert_eq!(
        (&revoked["living_descendants"], &revoked["revoked_descendants"]),
        (&json!([]), &json!([id]))
    );
}

#[tokio::test]
async fn k3_a_key_gets_a_rate_limit_of_its_own_and_the_deployments_again() {
    let world = World::start().await;
    let (company, key) = (world.company.scope.company, world.company.api_key_id);
    for (rate, kept) in [(json!(200), json!(200)), (json!(null), json!(null))] {
        let arguments = json!({ "company": company, "key": key, "requests_per_second": rate });
        let limited = world.run("limit_api_key", arguments).await;
        assert_eq!(limited["api_key"]["requests_per_second"], kept, "{limited}");
        let listed = world.run("list_api_keys", json!({ "company": company })).await;
        assert_eq!(listed["api_keys"][0]["requests_per_second"], kept);
    }
    for rate in [0, 10_001] {
        let arguments = json!({ "company": company, "key": key, "requests_per_second": rate });
        assert_eq!(refusal(&world.run("limit_api_key", arguments).await), "bad_limit");
    }
    let unknown = json!({ "company": company, "key": "0123456789abcdefghjkmnpqrstvwxyz", "requests_per_second": 1 });
    assert_eq!(refusal(&world.run("limit_api_key", unknown).await), "not_found");
}

#[tokio::test]
async fn a_range_is_opened_once_and_within_bounds() {
    let world = World::start().await;
    let range = json!({ "ecf_type": "31", "range_start": 20_000_000, "range_end": 20_000_099, "valid_until": "2028-12-31", "numbering": "service" });
    let opened = world.run_here("create_range", range.clone()).await;
    assert_eq!(opened["range"]["range_start"], 20_000_000, "{opened}");
    // The same command again changes nothing; an overlapping range is a conflict.
    assert_eq!(world.run_here("create_range", range.clone()).await, opened);
    let mut other = range.clone();
    other["range_end"] = json!(20_000_100);
    assert_eq!(refusal(&world.run_here("create_range", other).await), "range_overlaps");
    for (field, value, code) in [
        ("range_start", json!(0), "bad_range"),
        ("range_end", json!(1), "bad_range"),
        ("range_end", json!(10_000_000_000_u64), "bad_range"),
        ("valid_until", json!(null), "no_expiry"),
    ] {
        let mut wrong = range.clone();
        wrong[field] = value;
        assert_eq!(refusal(&world.run_here("create_range", wrong).await), code, "{field}");
    }
}
