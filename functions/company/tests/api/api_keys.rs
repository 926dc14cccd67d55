//! `/api/v1/client/api-keys`.

use ecf::{Environment, ReceiptType};
use ecf_store::fiscal_day;
use ecf_testkit::request;
use http::Method;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{Api, COMPANY, faults};

const KEYS: &str = "/api/v1/client/api-keys";

async fn make(api: &Api, body: Value) -> Value {
    api.call(Method::POST, KEYS, Some(&body)).await.expect(201)
}

fn one(key: &Value) -> String {
    format!("{KEYS}/{}", key["public_id"].as_str().unwrap())
}

/// The status of a request with a key.
async fn asked(api: &Api, method: Method, path: &str, key: &Value) -> u16 {
    let key = key["key"].as_str().unwrap();
    request(&api.router, method, path, Some(key), None)
        .await
        .status
        .as_u16()
}

#[tokio::test]
async fn a_new_key_is_shown_once_and_works_at_once() {
    let api = Api::start().await;
    let made = make(
        &api,
        json!({ "name": "caja 1", "expires_at": "2026-12-31T00:00:00-04:00" }),
    )
    .await;
    let key = made["key"].as_str().unwrap();
    let prefix = &key[.."ecf_test_".len() + 8];
    let mut listed = json!({
        "public_id": made["public_id"], "prefix": prefix, "name": "caja 1", "environment": "TesteCF", "is_active": true,
        "is_current": false, "created_at": "2026-11-27T16:00:00.000Z", "expires_at": "2026-12-31T04:00:00.000Z",
        "revoked_at": null, "last_used_at": null, "scope": "full", "created_by": api.company.api_key_id.to_string(),
        "requests_per_second": null,
    });
    let mut shown = listed.clone();
    shown["key"] = json!(key);
    shown["only_shown_once"] = json!(true);
    assert_eq!(made, shown);
    assert_eq!(asked(&api, Method::GET, COMPANY, &made).await, 200);

    let list = api.get(KEYS).await.expect(200);
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 2);
    listed["last_used_at"] = json!("2026-11-27T16:00:00.000Z");
    assert!(list.contains(&listed), "{list:?}");
    assert!(
        list.iter()
            .any(|key| key["is_current"] == true && key["name"].is_null())
    );

    api.stack.clock().advance(SignedDuration::from_hours(24 * 34));
    assert_eq!(asked(&api, Method::GET, COMPANY, &made).await, 401);
    listed["is_active"] = json!(false);
    assert!(api.get(KEYS).await.expect(200).as_array().unwrap().contains(&listed));
}

#[tokio::test]
async fn it_is_told_to_the_hour_when_a_key_was_used_last() {
    let api = Api::start().await;
    let key = make(&api, json!({})).await;
    let last_used_at = async || {
        let list = api.get(KEYS).await.expect(200);
        let mut keys = list.as_array().unwrap().iter();
        keys.find(|listed| listed["public_id"] == key["public_id"]).unwrap()["last_used_at"].clone()
    };
    assert_eq!(last_used_at().await, Value::Null);
    for (minutes, told) in [(0, "16:00"), (59, "16:00"), (1, "17:00"), (30, "17:00"), (45, "18:15")] {
        api.stack.clock().advance(SignedDuration::from_mins(minutes));
        assert_eq!(asked(&api, Method::GET, COMPANY, &key).await, 200);
        assert_eq!(last_used_at().await, format!("2026-11-27T{told}:00.000Z"));
    }
    // The day's counters record that the key issued a receipt.
    let (scope, at) = (api.company.scope, "2026-11-27T18:20:00Z".parse().unwrap());
    let id = key["public_id"].as_str().unwrap().parse().unwrap();
    let table = api.stack.table();
    let counted = table.count_created(&scope, fiscal_day(at), ReceiptType::E31, "1.00", Some((&id, at)));
    counted.await.unwrap();
    assert_eq!(last_used_at().await, "2026-11-27T18:20:00.000Z");
    let days = table.day_counts(&scope, fiscal_day(at), fiscal_day(at)).await.unwrap();
    assert_eq!(days[0].created[&ReceiptType::E31], 1);
    // A rejected request does not count as a use.
    assert_eq!(
        asked(&api, Method::DELETE, &format!("{}?allow_self=true", one(&key)), &key).await,
        204
    );
    api.stack.clock().advance(SignedDuration::from_hours(2));
    assert_eq!(asked(&api, Method::GET, COMPANY, &key).await, 401);
    assert_eq!(last_used_at().await, "2026-11-27T18:20:00.000Z");
}

#[tokio::test]
async fn a_key_is_rotated_without_a_pause() {
    let api = Api::start().await;
    let old = make(&api, json!({})).await;
    let new = make(&api, json!({})).await;
    assert_eq!(asked(&api, Method::GET, COMPANY, &old).await, 200);
    assert_eq!(asked(&api, Method::DELETE, &one(&old), &new).await, 204);
    api.stack.clock().advance(SignedDuration::from_secs(60));
    assert_eq!(asked(&api, Method::GET, COMPANY, &old).await, 401);
    assert_eq!(asked(&api, Method::GET, COMPANY, &new).await, 200);

    // Revoking again changes nothing, not even the time.
    let revoked_at = async || {
        let list = api.get(KEYS).await.expect(200);
        let of = list
            .as_array()
            .unwrap()
            .iter()
            .find(|key| key["public_id"] == old["public_id"]);
        of.unwrap()["revoked_at"].clone()
    };
    assert_eq!(revoked_at().await, "2026-11-27T16:00:00.000Z");
    assert_eq!(asked(&api, Method::DELETE, &one(&old), &new).await, 204);
    assert_eq!(revoked_at().await, "2026-11-27T16:00:00.000Z");
}

#[tokio::test]
async fn a_key_revokes_itself_only_when_it_says_so() {
    let api = Api::start().await;
    let key = make(&api, json!({})).await;
    assert_eq!(asked(&api, Method::DELETE, &one(&key), &key).await, 409);
    assert_eq!(asked(&api, Method::GET, COMPANY, &key).await, 200);
    let meant = format!("{}?allow_self=true", one(&key));
    assert_eq!(asked(&api, Method::DELETE, &meant, &key).await, 204);
    api.stack.clock().advance(SignedDuration::from_secs(60));
    assert_eq!(asked(&api, Method::GET, COMPANY, &key).await, 401);
}

#[tokio::test]
async fn a_key_knows_makes_and_revokes_keys_of_its_own_environment_only() {
    let api = Api::start().await;
    let refused = api
        .call(Method::POST, KEYS, Some(&json!({ "environment": "ecf" })))
        .await;
    assert_eq!(
        faults(&refused.expect(422)),
        [("body/environment".to_owned(), "enum".to_owned())]
    );
    let (company, id) = (api.company.scope.company, ecf_store::ApiKeyId::from_random([7; 20]));
    let production = ecf_store::api_keys::NewApiKey {
        company,
        environment: Environment::Ecf,
        rnc: api.company.rnc.clone(),
        id,
        hash: [7; 32],
        prefix: "ecf_prod_0707".to_owned(),
        name: None,
        created_at: api.stack.clock().now(),
        expires_at: None,
        scope: ecf_store::api_keys::KeyScope::Full,
        created_by: None,
    };
    let created = api.stack.table().create_api_key(production).await.unwrap();
    assert_eq!(created, ecf_store::api_keys::ApiKeyCreated::New);
    assert_eq!(api.get(KEYS).await.expect(200).as_array().unwrap().len(), 1);
    for unknown in [id.to_string(), "nonsense".to_owned()] {
        let answer = api.call(Method::DELETE, &format!("{KEYS}/{unknown}"), None).await;
        answer.expect(404);
    }
    let kept = api.stack.table().api_key(&company, &id).await.unwrap().unwrap();
    assert_eq!(kept.revoked_at, None);
}

#[tokio::test]
async fn k1_the_keys_that_a_stolen_key_made_are_listed_and_revoked_with_it() {
    let api = Api::start().await;
    let create = async |by: &Value, body: Value| {
        let key = by["key"].as_str().unwrap();
        request(&api.router, Method::POST, KEYS, Some(key), Some(&body))
            .await
            .expect(201)
    };
    let stolen = make(&api, json!({ "name": "robada" })).await;
    let child = create(&stolen, json!({ "name": "hija" })).await;
    let grandchild = create(&child, json!({ "name": "nieta" })).await;
    let other = make(&api, json!({})).await;
    assert_eq!(child["created_by"], stolen["public_id"]);
    let shown = |key: &Value| {
        json!({
            "public_id": key["public_id"], "prefix": key["prefix"], "name": key["name"], "created_by": key["created_by"],
        })
    };
    // The second key is revoked by hand; the keys that it created still descend from the first.
    let revoke = async |key: &Value, query: &str| {
        let path = format!("{}{query}", one(key));
        api.call(Method::DELETE, &path, None).await
    };
    let answer = revoke(&child, "").await.expect(200);
    let expected = json!({ "revoked_descendants": [], "living_descendants": [shown(&grandchild)] });
    assert_eq!(answer, expected);
    let answer = revoke(&stolen, "").await.expect(200);
    assert_eq!(answer, expected);
    let answer = revoke(&stolen, "?descendants=true").await.expect(200);
    let expected = json!({ "revoked_descendants": [shown(&grandchild)], "living_descendants": [] });
    assert_eq!(answer, expected);
    assert_eq!(
        revoke(&stolen, "?descendants=true").await.status,
        204,
        "nothing is left"
    );
    api.stack.clock().advance(SignedDuration::from_secs(60));
    for (key, status) in [(&stolen, 401), (&child, 401), (&grandchild, 401), (&other, 200)] {
        assert_eq!(asked(&api, Method::GET, COMPANY, key).await, status, "{}", key["name"]);
    }
}

#[tokio::test]
async fn k1_a_key_does_not_revoke_its_ancestor_with_itself_by_mistake() {
    let api = Api::start().await;
    let child = make(&api, json!({})).await;
    let own = api.company.api_key_id;
    let path = format!("{KEYS}/{own}?descendants=true");
    assert_eq!(asked(&api, Method::DELETE, &path, &child).await, 409);
    assert_eq!(asked(&api, Method::GET, COMPANY, &child).await, 200);
    assert_eq!(
        asked(&api, Method::DELETE, &format!("{path}&allow_self=true"), &child).await,
        200
    );
    api.stack.clock().advance(SignedDuration::from_secs(60));
    assert_eq!(asked(&api, Method::GET, COMPANY, &child).await, 401);
}

#[tokio::test]
async fn k1_a_revoked_key_makes_no_other_while_an_instance_still_remembers_it() {
    let api = Api::start().await;
    let stolen = make(&api, json!({})).await;
    assert_eq!(
        asked(&api, Method::GET, COMPANY, &stolen).await,
        200,
        "remembered from here on"
    );
    api.call(Method::DELETE, &one(&stolen), None).await;
    assert_eq!(
        asked(&api, Method::GET, COMPANY, &stolen).await,
        200,
        "within the minute"
    );
    let key = stolen["key"].as_str().unwrap();
    let refused = request(&api.router, Method::POST, KEYS, Some(key), Some(&json!({}))).await;
    assert_eq!(refused.expect(401)["detail"]["code"], "invalid_api_key");
    assert_eq!(api.get(KEYS).await.expect(200).as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn k1_a_key_does_what_its_scope_allows() {
    let api = Api::start().await;
    let contact = json!({ "phone": "809-555-0101" });
    for (scope, reads, writes) in [("read", 200, 403), ("issue", 200, 403), ("full", 200, 200)] {
        let key = make(&api, json!({ "scope": scope })).await;
        assert_eq!(key["scope"], scope);
        assert_eq!(asked(&api, Method::GET, COMPANY, &key).await, reads, "{scope}");
        let key = key["key"].as_str().unwrap();
        let answer = request(&api.router, Method::PATCH, COMPANY, Some(key), Some(&contact)).await;
        assert_eq!(answer.status, writes, "{scope}");
        let more = json!({ "scope": "full" });
        let made = request(&api.router, Method::POST, KEYS, Some(key), Some(&more)).await;
        if writes == 403 {
            let expected =
                format!("this API key has the scope {scope}, and this operation needs full: use a key with that scope");
            for refused in [answer, made] {
                let detail = refused.expect(403)["detail"].clone();
                assert_eq!(
                    (&detail["code"], &detail["message"]),
                    (&json!("scope_insufficient"), &json!(expected))
                );
            }
        }
    }
    let refused = api.call(Method::POST, KEYS, Some(&json!({ "scope": "all" }))).await;
    assert_eq!(
        faults(&refused.expect(422)),
        [("body/scope".to_owned(), "enum".to_owned())]
    );
}

#[tokio::test]
async fn k1_what_touches_production_needs_a_key_of_the_highest_environment_once_there_is_one() {
    let api = Api::start().await;
    let company = api.company.scope.company;
    let contact = json!({ "default_environment": "TesteCF", "phone": "809-555-0101" });
    let patched = async |key: &str| request(&api.router, Method::PATCH, COMPANY, Some(key), Some(&contact)).await;
    patched(&api.company.api_key).await.expect(200);
    let issue = async |environment: Environment, number: u8| {
        let secret = ecf_api::ApiKeySecret::generate(environment, [number; 24]);
        let key = ecf_store::api_keys::NewApiKey {
            company,
            environment,
            rnc: api.company.rnc.clone(),
            id: ecf_store::ApiKeyId::from_random([number; 20]),
            hash: secret.hash(),
            prefix: secret.prefix().to_owned(),
            name: None,
            created_at: api.stack.clock().now(),
            expires_at: Some(api.stack.clock().now() + SignedDuration::from_hours(1)),
            scope: ecf_store::api_keys::KeyScope::Full,
            created_by: None,
        };
        assert_eq!(
            api.stack.table().create_api_key(key).await.unwrap(),
            ecf_store::api_keys::ApiKeyCreated::New
        );
        secret.text().to_owned()
    };
    let certification = issue(Environment::CerteCF, 1).await;
    let refused = patched(&api.company.api_key).await.expect(403);
    let expected = "this API key is of TesteCF, and the company has a working key of CerteCF: this operation changes what holds in every \
                    environment, so it needs a key of CerteCF";
    assert_eq!(
        (&refused["detail"]["code"], &refused["detail"]["message"]),
        (&json!("highest_environment_required"), &json!(expected))
    );
    api.stack.calls().reset();
    patched(&certification).await.expect(200);
    let queries = api.stack.calls().count("Query");
    let production = issue(Environment::Ecf, 2).await;
    for lower in [&api.company.api_key, &certification] {
        patched(lower).await.expect(403);
        let logo = request(
            &api.router,
            Method::DELETE,
            "/api/v1/client/company/design/logo",
            Some(lower),
            None,
        )
        .await;
        logo.expect(403);
        let reads = request(&api.router, Method::GET, COMPANY, Some(lower), None).await;
        reads.expect(200);
    }
    api.stack.calls().reset();
    patched(&production).await.expect(200);
    assert_eq!(
        api.stack.calls().count("Query"),
        queries - 1,
        "the highest of all reads no list of keys"
    );
    // A key that is not valid any more does not count.
    api.stack.clock().advance(SignedDuration::from_hours(1));
    patched(&api.company.api_key).await.expect(200);
}

#[tokio::test]
async fn bad_fields_are_refused_and_no_key_is_made() {
    let api = Api::start().await;
    let body = json!({ "nmae": "caja", "expires_at": "soon" });
    let refused = api.call(Method::POST, KEYS, Some(&body)).await.expect(422);
    let told = |place: &str, kind: &str| (place.to_owned(), kind.to_owned());
    assert_eq!(
        faults(&refused),
        [
            told("body/nmae", "extra_forbidden"),
            told("body/expires_at", "datetime_parsing")
        ]
    );
    let past = json!({ "expires_at": "2026-11-27T16:00:00Z" });
    let refused = api.call(Method::POST, KEYS, Some(&past)).await.expect(422);
    assert_eq!(faults(&refused), [told("body/expires_at", "datetime_future")]);
    assert_eq!(api.get(KEYS).await.expect(200).as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn so_many_keys_work_at_a_time_and_a_revoked_one_makes_room() {
    let api = Api::start().await;
    let mut last = Value::Null;
    for _ in 1..20 {
        last = make(&api, json!({})).await;
    }
    let refused = api.call(Method::POST, KEYS, Some(&json!({}))).await.expect(409);
    assert_eq!(refused["detail"]["code"], "api_key_limit");
    api.call(Method::DELETE, &one(&last), None).await;
    make(&api, json!({})).await;
}
