//! What ends, fails or stands still, over all companies and of one.

use ecf::Environment;
use ecf_store::{
    Scope, WebhookId,
    breaker::{Breaker, Cause, Host, OpenBreaker},
    webhooks::{NewWebhook, WebhookCreated},
};
use ecf_testkit::TestCompany;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::{World, refusal};

impl World {
    async fn webhook(&self, scope: &Scope, name: u8) -> WebhookId {
        let id = WebhookId::from_random([name; 20]);
        let new = NewWebhook {
            id,
            url: format!("https://hooks.example/{name}"),
            events: vec!["accepted".to_owned()],
            is_active: true,
            sealed_secret: vec![0; 32],
            created_at: self.stack.clock().now(),
        };
        let created = self.table().create_webhook(scope, new).await.unwrap();
        assert!(matches!(created, WebhookCreated::New(_)));
        id
    }

    async fn newcomer(&self) -> TestCompany {
        let builder = self.stack.company_builder().rnc("101000001");
        builder.without_certificate().without_ranges().build().await
    }
}

fn column<'a>(rows: &'a [Value], member: &str) -> Vec<&'a Value> {
    rows.iter().map(|row| &row[member]).collect()
}

#[tokio::test]
async fn o3_ranges_show_what_is_left_and_which_end() {
    let world = World::start().await;
    let newcomer = world.newcomer().await;
    let range = json!({
        "company": newcomer.scope.company, "environment": "TesteCF", "ecf_type": "31",
        "range_start": 1, "range_end": 100, "valid_until": "2026-12-01", "numbering": "service",
    });
    assert_eq!(world.run("create_range", range).await["error"], Value::Null);
    let ranges = world
        .run("list_ranges", json!({ "company": newcomer.scope.company }))
        .await;
    let [row] = ranges["ranges"].as_array().unwrap().as_slice() else {
        panic!("{ranges}")
    };
    let company = json!(newcomer.scope.company);
    let expected = json!({
        "company": company, "rnc": "101000001", "name": "Ferretería de Prueba SRL", "environment": "TesteCF",
        "ecf_type": "31", "range_start": 1, "range_end": 100, "available": 100, "total": 100,
        "valid_until": "2026-12-01", "state": "active", "numbering": "service",
    });
    assert_eq!(*row, expected);
    // Of all companies only this one has a range that ends.
    let ending = world.walk("list_ranges", json!({ "ending": true }), "ranges").await;
    assert_eq!(ending, std::slice::from_ref(&expected));
    let all = world.walk("list_ranges", json!({}), "ranges").await;
    assert!(all.len() > 10 && all.contains(&expected), "{}", all.len());
    // A second range that does not end continues it.
    let next = json!({
        "company": company, "environment": "TesteCF", "ecf_type": "31",
        "range_start": 101, "range_end": 9_000, "valid_until": "2028-12-31", "numbering": "service",
    });
    assert_eq!(world.run("create_range", next).await["error"], Value::Null);
    let ending = json!({ "ending": true, "company": company });
    assert_eq!(world.run("list_ranges", ending).await["ranges"], json!([]));
    let at = json!({ "company": company, "at": { "partition": 1, "after": null } });
    assert_eq!(refusal(&world.run("list_ranges", at).await), "bad_part");
}

#[tokio::test]
async fn o3_certificates_that_end_soon_are_listed_with_their_company() {
    let world = World::start().await;
    world.newcomer().await;
    let all = world.walk("list_certificates", json!({}), "certificates").await;
    assert_eq!(column(&all, "company"), [&json!(world.company.scope.company)]);
    let days_left = all[0]["days_left"].as_i64().unwrap();
    assert!(days_left > 0, "{all:?}");
    for (days, count) in [(days_left - 1, 0), (days_left + 1, 1)] {
        let arguments = json!({ "expiring_days": days });
        let listed = world.walk("list_certificates", arguments, "certificates").await;
        assert_eq!(listed.len(), count, "{days}");
    }
    let one = world.run("list_certificates", json!({ "limit": 500 })).await;
    assert_eq!(
        (&one["companies"], &one["companies_without_certificate"]),
        (&json!(2), &json!(1))
    );
    let too_far = json!({ "expiring_days": 3_661 });
    assert_eq!(refusal(&world.run("list_certificates", too_far).await), "bad_part");
}

#[tokio::test]
async fn o3_webhooks_that_fail_are_listed_with_their_company() {
    let world = World::start().await;
    let newcomer = world.newcomer().await;
    let (mine, theirs) = (world.company.scope, newcomer.scope);
    world.webhook(&mine, 1).await;
    let failing = world.webhook(&theirs, 2).await;
    let now = world.stack.clock().now();
    world.table().webhook_failed(&theirs, &failing, now).await.unwrap();
    let all = world.walk("list_webhooks", json!({}), "webhooks").await;
    assert_eq!(all.len(), 2);
    let rows = world
        .walk("list_webhooks", json!({ "failing": true }), "webhooks")
        .await;
    assert_eq!(column(&rows, "webhook"), [&json!(failing)]);
    assert_eq!(
        (&rows[0]["company"], &rows[0]["failing_since"]),
        (&json!(theirs.company), &json!(now))
    );
    assert!(!json!(rows).to_string().contains("secret"));
    let of_mine = json!({ "company": mine.company, "failing": true });
    assert_eq!(world.run("list_webhooks", of_mine).await["webhooks"], json!([]));
}

#[tokio::test]
async fn o3_what_waits_is_counted_and_what_waits_too_long_is_named() {
    let world = World::start().await;
    let newcomer = world.stack.company_builder().rnc("101000001").build().await;
    let old = world.signed("E310000000001").await;
    world.stack.clock().advance(SignedDuration::from_hours(49));
    world.stack.signed_receipt(&newcomer, "E310000000001").await;
    let done = world.signed("E310000000002").await;
    world.stack.accept(&done, Vec::new()).await;

    let whole = world.run("find_stuck", json!({})).await;
    assert_eq!(whole["waiting"], json!({ "TesteCF": { "signed": 2 } }), "{whole}");
    assert_eq!((&whole["entries"], &whole["next"]), (&json!(2), &Value::Null));
    let rows = world.walk("find_stuck", json!({}), "stuck").await;
    assert_eq!(column(&rows, "public_id"), [&json!(old.public_id)]);
    assert_eq!(
        (&rows[0]["rnc"], &rows[0]["awaits"], &rows[0]["hours"]),
        (&json!(world.company.rnc), &json!("delivery"), &json!(49))
    );
    let theirs = world
        .run("find_stuck", json!({ "company": newcomer.scope.company }))
        .await;
    assert_eq!(
        (&theirs["waiting"], &theirs["stuck"]),
        (&json!({ "TesteCF": { "signed": 1 } }), &json!([]))
    );
    let mine = world
        .walk("find_stuck", json!({ "company": world.company.scope.company }), "stuck")
        .await;
    assert_eq!(column(&mine, "public_id"), [&json!(old.public_id)]);
    world.stack.write_unknown_due(7, world.stack.clock().now(), 3).await;
    let whole = world.run("find_stuck", json!({})).await;
    assert_eq!(
        (&whole["other"]["unreadable"], &whole["entries"]),
        (&json!(3), &json!(5))
    );
    assert_eq!(
        refusal(&world.run("find_stuck", json!({ "limit": 2_001 })).await),
        "bad_part"
    );
}

#[tokio::test]
async fn o3_a_company_that_cannot_issue_is_told_why() {
    let world = World::start().await;
    let healthy = json!({ "company": world.company.scope.company });
    let answer = world.run("examine_company", healthy.clone()).await;
    assert_eq!(
        (&answer["agrees"], &answer["findings"]),
        (&json!(true), &json!([])),
        "{answer}"
    );

    let newcomer = world.newcomer().await;
    let id = json!({ "company": newcomer.scope.company });
    world.run("deactivate_company", id.clone()).await;
    let findings = async |arguments: Value| {
        let answer = world.run("examine_company", arguments).await;
        let rows = answer["findings"]
            .as_array()
            .unwrap_or_else(|| panic!("{answer}"))
            .clone();
        rows.iter()
            .map(|row| row["finding"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(findings(id.clone()).await, ["inactive", "no_certificate", "no_range"]);
    let mut production = id;
    production["environment"] = json!("ecf");
    let expected = ["inactive", "not_verified", "no_certificate", "no_key", "no_range"];
    assert_eq!(findings(production).await, expected);

    // The authority is away, a webhook fails.
    let (scope, now) = (world.company.scope, world.stack.clock().now());
    let open = Breaker {
        open: Some(OpenBreaker {
            since: now,
            cause: Cause::Failures,
            probe_at: now,
            probing_until: None,
        }),
        ..Breaker::default()
    };
    let (environment, seen) = (Environment::TesteCF, Breaker::default());
    let written = world.table().replace_breaker(environment, Host::Ecf, &seen, open).await;
    assert!(written.unwrap().1);
    let webhook = world.webhook(&scope, 1).await;
    world.table().webhook_failed(&scope, &webhook, now).await.unwrap();
    assert_eq!(findings(healthy).await, ["authority_away", "webhook_fails"]);
    let authority = world.run("show_authority", json!({})).await;
    assert_eq!(authority["agrees"], false);
    let breakers = authority["breakers"].as_array().unwrap();
    assert_eq!(breakers.len(), 6);
    let open: Vec<_> = breakers
        .iter()
        .filter(|breaker| breaker["open"] == json!(true))
        .collect();
    assert_eq!(
        (&open[0]["environment"], &open[0]["host"]),
        (&json!("TesteCF"), &json!("ecf"))
    );
    let nobody = json!({ "company": "0123456789abcdefghjkmnpqrstvwxyz" });
    assert_eq!(refusal(&world.run("examine_company", nobody).await), "not_found");
}
