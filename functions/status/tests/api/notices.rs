//! Notices, as companies see them.

use std::collections::BTreeSet;

use axum::Router;
use ecf::Environment;
use ecf_store::{
    NoticeId, Table,
    notices::{Audience, NoticeCategory, NoticeChange, NoticeChanged, NoticeContent, NoticeEdit, NoticeSeverity},
};
use ecf_testkit::{Answer, TestCompany, TestStack, request};
use http::Method;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use status::App;

struct World {
    stack: TestStack,
    router: Router,
    here: TestCompany,
    other: TestCompany,
}

impl World {
    async fn start() -> Self {
        let stack = TestStack::start().await;
        let app = App::from_env(&stack.env("status"), &stack.clients_of("status"), stack.clock().clone()).unwrap();
        let here = stack
            .company_builder()
            .without_ranges()
            .without_certificate()
            .build()
            .await;
        let other = stack
            .company_builder()
            .environment(Environment::CerteCF)
            .without_ranges()
            .without_certificate()
            .build()
            .await;
        Self {
            router: status::router(app),
            here,
            other,
            stack,
        }
    }

    fn table(&self) -> Table {
        self.stack.table()
    }

    fn now(&self) -> Timestamp {
        self.stack.clock().now()
    }

    async fn publish(&self, title: &str, audience: Audience) -> NoticeId {
        let id = NoticeId::from_random(ecf_runtime::random());
        self.table()
            .draft_notice(id, content(title), audience, self.now())
            .await
            .unwrap();
        self.change(&id, NoticeChange::Publish).await;
        id
    }

    async fn change(&self, id: &NoticeId, change: NoticeChange) {
        let changed = self.table().change_notice(id, &change, self.now()).await.unwrap();
        assert!(matches!(changed, NoticeChanged::Done(_)), "{changed:?}");
    }

    async fn get(&self, company: &TestCompany, path: &str) -> Answer {
        let path = format!("/api/v1/notices/{path}");
        request(&self.router, Method::GET, &path, Some(&company.api_key), None).await
    }

    /// The changes after a cursor: operation and title or id of each, the next cursor and whether there are more.
    async fn changes(&self, company: &TestCompany, limit: usize, cursor: Option<&str>) -> (Vec<String>, String, bool) {
        let cursor = cursor.map(|cursor| format!("&cursor={cursor}")).unwrap_or_default();
        let body = self
            .get(company, &format!("changes?limit={limit}{cursor}"))
            .await
            .expect(200);
        let told = |change: &Value| {
            let notice = &change["notice"];
            let what = notice["title"]
                .as_str()
                .unwrap_or_else(|| notice["id"].as_str().unwrap());
            format!("{} {what}", change["operation"].as_str().unwrap())
        };
        (
            body["changes"].as_array().unwrap().iter().map(told).collect(),
            body["next_cursor"].as_str().unwrap().to_owned(),
            body["has_more"].as_bool().unwrap(),
        )
    }
}

fn content(title: &str) -> NoticeContent {
    NoticeContent {
        category: NoticeCategory::Announcement,
        severity: NoticeSeverity::Info,
        title: title.to_owned(),
        body: "Texto".to_owned(),
        source: None,
        environments: vec![Environment::TesteCF],
        starts_at: None,
        expires_at: None,
    }
}

fn only(company: &TestCompany) -> Audience {
    Audience::Companies(BTreeSet::from([company.scope.company]))
}

fn to(audience: Audience) -> NoticeChange {
    NoticeChange::Edit(Box::new(NoticeEdit {
        audience: Some(audience),
        ..NoticeEdit::default()
    }))
}

#[tokio::test]
async fn the_feed_begins_with_what_is_in_force_and_goes_on_with_changes() {
    let world = World::start().await;
    let first = world.publish("uno", Audience::All).await;
    let body = world.get(&world.here, "changes").await.expect(200);
    let change = &body["changes"][0];
    let expected = json!({
        "schema_version": 1,
        "changes": [{
            "event_id": change["event_id"],
            "operation": "upsert",
            "company_id": world.here.scope.company,
            "notice": {
                "id": first, "revision": 2, "category": "announcement", "severity": "info", "title": "uno", "body": "Texto",
                "state": "active", "source": null, "environments": ["TesteCF"], "starts_at": null, "expires_at": null,
                "resolved_at": null, "resolution_note": null, "updated_at": "2026-11-27T16:00:00.000Z",
            },
        }],
        "next_cursor": body["next_cursor"],
        "has_more": false,
        "checked_at": "2026-11-27T16:00:00.000Z",
    });
    assert_eq!(body, expected);
    let cursor = body["next_cursor"].as_str().unwrap();
    assert_eq!(
        world.changes(&world.here, 100, Some(cursor)).await.0,
        Vec::<String>::new()
    );

    world.publish("dos", Audience::All).await;
    world
        .change(
            &first,
            NoticeChange::Resolve {
                note: Some("Listo".into()),
            },
        )
        .await;
    let (told, next, more) = world.changes(&world.here, 100, Some(cursor)).await;
    assert_eq!((told, more), (vec!["upsert dos".into(), "upsert uno".into()], false));
    let shown = world.get(&world.here, &first.to_string()).await.expect(200);
    assert_eq!(
        (&shown["state"], &shown["resolution_note"]),
        (&json!("resolved"), &json!("Listo"))
    );
    // A new reader does not get notices that are over.
    assert_eq!(world.changes(&world.here, 100, None).await.0, ["upsert dos"]);
    world.change(&first, NoticeChange::Withdraw).await;
    assert_eq!(
        world.changes(&world.here, 100, Some(&next)).await.0,
        [format!("revoke {first}")]
    );
    world.get(&world.here, &first.to_string()).await.expect(404);
}

#[tokio::test]
async fn pages_end_where_the_next_begins_whatever_changes_meanwhile() {
    let world = World::start().await;
    let mut ids = Vec::new();
    for title in ["a", "b", "c", "d", "e"] {
        ids.push(world.publish(title, Audience::All).await);
    }
    let (told, next, more) = world.changes(&world.here, 2, None).await;
    assert_eq!((told, more), (vec!["upsert a".into(), "upsert b".into()], true));
    // One that was delivered already, and one that was not: each is delivered again with its change.
    for place in [0, 3] {
        world.change(&ids[place], NoticeChange::Resolve { note: None }).await;
    }
    let (told, next, more) = world.changes(&world.here, 2, Some(&next)).await;
    assert_eq!((told, more), (vec!["upsert c".into(), "upsert e".into()], true));
    let (told, _, more) = world.changes(&world.here, 2, Some(&next)).await;
    assert_eq!((told, more), (vec!["upsert a".into(), "upsert d".into()], false));
}

#[tokio::test]
async fn a_notice_is_seen_by_its_audience_alone() {
    let world = World::start().await;
    let mine = world.publish("mine", only(&world.here)).await;
    let test = Audience::Environments(BTreeSet::from([Environment::TesteCF]));
    let ours = world.publish("ours", test).await;
    world.publish("all", Audience::All).await;
    assert_eq!(
        world.changes(&world.here, 100, None).await.0,
        ["upsert mine", "upsert ours", "upsert all"]
    );
    assert_eq!(world.changes(&world.other, 100, None).await.0, ["upsert all"]);
    for id in [mine, ours] {
        assert_eq!(
            world.get(&world.other, &id.to_string()).await.expect(404)["detail"]["code"],
            "not_found"
        );
        let shown = world.get(&world.here, &id.to_string()).await.expect(200);
        assert!(!shown.to_string().contains("audience"), "{shown}");
    }
    let draft = NoticeId::from_random([9; 20]);
    world
        .table()
        .draft_notice(draft, content("draft"), Audience::All, world.now())
        .await
        .unwrap();
    world.get(&world.here, &draft.to_string()).await.expect(404);
}

#[tokio::test]
async fn who_loses_a_notice_is_told_to_forget_it_and_who_keeps_it_is_not() {
    let world = World::start().await;
    let id = world.publish("para todos", Audience::All).await;
    let (_, here, _) = world.changes(&world.here, 100, None).await;
    let (_, other, _) = world.changes(&world.other, 100, None).await;
    world.change(&id, to(only(&world.here))).await;
    assert_eq!(
        world.changes(&world.here, 100, Some(&here)).await.0,
        ["upsert para todos"]
    );
    let body = world
        .get(&world.other, &format!("changes?cursor={other}"))
        .await
        .expect(200);
    assert_eq!(body["changes"][0]["operation"], "revoke");
    assert_eq!(body["changes"][0]["notice"], json!({ "id": id }));
    world.get(&world.other, &id.to_string()).await.expect(404);
    // A slow reader never sees the notice that it lost, and gets it again when it is for all.
    assert_eq!(world.changes(&world.other, 100, None).await.0, Vec::<String>::new());
    world.change(&id, to(Audience::All)).await;
    assert_eq!(
        world.changes(&world.other, 100, Some(&other)).await.0,
        ["upsert para todos"]
    );
}

#[tokio::test]
async fn the_state_follows_the_clock() {
    let world = World::start().await;
    let id = NoticeId::from_random([7; 20]);
    let new = NoticeContent {
        starts_at: Some(world.now() + SignedDuration::from_hours(1)),
        expires_at: Some(world.now() + SignedDuration::from_hours(2)),
        ..content("ventana")
    };
    world
        .table()
        .draft_notice(id, new, Audience::All, world.now())
        .await
        .unwrap();
    world.change(&id, NoticeChange::Publish).await;
    for (state, in_force) in [("scheduled", 1), ("active", 1), ("expired", 0)] {
        assert_eq!(
            world.get(&world.here, &id.to_string()).await.expect(200)["state"],
            state
        );
        assert_eq!(world.changes(&world.here, 100, None).await.0.len(), in_force, "{state}");
        world.stack.clock().advance(SignedDuration::from_hours(1));
    }
}

#[tokio::test]
async fn a_cursor_is_refused_when_it_is_old_foreign_or_none() {
    let world = World::start().await;
    world.publish("uno", Audience::All).await;
    let (_, cursor, _) = world.changes(&world.here, 100, None).await;
    for (company, cursor) in [(&world.here, "ayer"), (&world.other, cursor.as_str())] {
        let refused = world
            .get(company, &format!("changes?cursor={cursor}"))
            .await
            .expect(422);
        assert_eq!(refused["detail"][0]["loc"], json!(["query", "cursor"]));
    }
    for limit in ["0", "101", "x"] {
        let refused = world
            .get(&world.here, &format!("changes?limit={limit}"))
            .await
            .expect(422);
        assert_eq!(refused["detail"][0]["loc"], json!(["query", "limit"]));
    }
    world.stack.clock().advance(SignedDuration::from_hours(91 * 24));
    let expired = world
        .get(&world.here, &format!("changes?cursor={cursor}"))
        .await
        .expect(409);
    assert_eq!(expired["detail"]["code"], "cursor_expired");
}

#[tokio::test]
async fn a_deployment_without_notices_says_so() {
    let stack = TestStack::with_parameters(&[("NoticesEnabled", "false")]).await;
    let app = App::from_env(&stack.env("status"), &stack.clients_of("status"), stack.clock().clone()).unwrap();
    let router = status::router(app);
    let key = stack
        .company_builder()
        .without_ranges()
        .without_certificate()
        .build()
        .await
        .api_key;
    for path in ["changes", "0123456789abcdefghjkmnpqrstvwxyz"] {
        let path = format!("/api/v1/notices/{path}");
        let answer = request(&router, Method::GET, &path, Some(&key), None).await;
        assert_eq!(answer.expect(503)["detail"]["code"], "notices_disabled");
    }
}
