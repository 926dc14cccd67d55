use ecf_language::say;
use ecf_store::{
    DeliveryId, WebhookId,
    deliveries::Delivery,
    webhooks::{NewWebhook, WEBHOOK_LIMIT, Webhook, WebhookChanges, WebhookCreated},
};
use jiff::{SignedDuration, Timestamp};

use crate::support::{App, app, bytes, noon};

fn hook(name: &str) -> NewWebhook {
    NewWebhook {
        id: WebhookId::from_random(bytes(name)),
        url: format!("https://erp.example/{name}"),
        events: vec!["rejected".to_owned(), "accepted".to_owned()],
        is_active: true,
        sealed_secret: b"sealed".to_vec(),
        created_at: noon(),
    }
}

impl App {
    async fn hook(&self, name: &str) -> Webhook {
        match self.table.create_webhook(&self.scope, hook(name)).await.unwrap() {
            WebhookCreated::New(webhook) => *webhook,
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_subscription_lives_within_its_company_and_environment() {
    let app = app("subscription").await;
    let webhook = app.hook("one").await;
    assert_eq!(webhook.events, ["rejected", "accepted"]);
    assert_eq!(
        app.table.webhook(&app.scope, &webhook.id).await.unwrap(),
        Some(webhook.clone())
    );
    assert_eq!(
        app.table.webhooks(&app.scope).await.unwrap(),
        std::slice::from_ref(&webhook)
    );
    for scope in app.foreign_scopes() {
        assert_eq!(app.table.webhook(&scope, &webhook.id).await.unwrap(), None);
        assert_eq!(app.table.webhooks(&scope).await.unwrap(), []);
        let changes = WebhookChanges {
            is_active: Some(false),
            ..WebhookChanges::default()
        };
        assert_eq!(
            app.table
                .update_webhook(&scope, &webhook.id, changes, noon())
                .await
                .unwrap(),
            None
        );
        assert!(!app.table.delete_webhook(&scope, &webhook.id).await.unwrap());
    }

    let later = noon() + SignedDuration::from_mins(1);
    let changes = WebhookChanges {
        url: Some("https://erp.example/two".to_owned()),
        is_active: Some(false),
        ..WebhookChanges::default()
    };
    let changed = app
        .table
        .update_webhook(&app.scope, &webhook.id, changes, later)
        .await
        .unwrap()
        .unwrap();
    let expected = Webhook {
        url: "https://erp.example/two".to_owned(),
        is_active: false,
        updated_at: later,
        ..webhook.clone()
    };
    assert_eq!(changed, expected);

    assert!(app.table.delete_webhook(&app.scope, &webhook.id).await.unwrap());
    assert!(!app.table.delete_webhook(&app.scope, &webhook.id).await.unwrap());
    assert_eq!(app.table.webhooks(&app.scope).await.unwrap(), []);
}

#[tokio::test]
async fn the_limit_holds_when_many_are_created_at_once() {
    let app = app("limit").await;
    let first = app.hook("0").await;
    let rivals = (1..=WEBHOOK_LIMIT).map(|place| {
        let (table, scope) = (app.table.clone(), app.scope);
        tokio::spawn(async move { table.create_webhook(&scope, hook(&place.to_string())).await.unwrap() })
    });
    let mut refused = 0;
    for rival in rivals.collect::<Vec<_>>() {
        refused += usize::from(rival.await.unwrap() == WebhookCreated::LimitReached);
    }
    assert_eq!(refused, 1);
    assert_eq!(app.table.webhooks(&app.scope).await.unwrap().len(), 20);
    assert!(app.table.delete_webhook(&app.scope, &first.id).await.unwrap());
    app.hook("one more").await;
}

#[tokio::test]
async fn deliveries_come_newest_first_with_paging_and_total_and_end_after_ninety_days() {
    let app = app("deliveries").await;
    let webhook = WebhookId::from_random(bytes("w"));
    let delivery = |attempt: u32, sent_at: Timestamp| Delivery {
        id: DeliveryId::new(sent_at.as_millisecond(), &webhook, "accepted", attempt),
        event: "accepted".to_owned(),
        attempt,
        status_code: (attempt != 2).then_some(500),
        response_excerpt: Some(say!("oops", "ups").into()),
        succeeded: false,
        sent_at,
        subject: None,
        encf: (attempt != 3).then(|| "E310000000001".to_owned()),
        body_sha256: Some([7; 32]),
    };
    let all: Vec<_> = (1..=5)
        .map(|attempt| delivery(attempt, noon() + SignedDuration::from_secs(i64::from(attempt))))
        .collect();
    for delivery in &all {
        assert!(app.table.record_delivery(&app.scope, &webhook, delivery).await.unwrap());
    }
    assert!(!app.table.record_delivery(&app.scope, &webhook, &all[0]).await.unwrap());

    let page = async |limit, offset, now| {
        app.table
            .deliveries(&app.scope, &webhook, None, (limit, offset), now)
            .await
            .unwrap()
    };
    let now = noon() + SignedDuration::from_mins(1);
    assert_eq!(page(2, 1, now).await, (vec![all[3].clone(), all[2].clone()], 5));
    assert_eq!(page(50, 4, now).await, (vec![all[0].clone()], 5));
    assert_eq!(page(50, 5, now).await, (vec![], 5));
    let found = app.table.delivery(&app.scope, &webhook, all[1].id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&all[1]));

    let ninety_days_on = noon() + SignedDuration::from_secs(90 * 86_400 + 4);
    assert_eq!(
        page(50, 0, ninety_days_on).await,
        (vec![all[4].clone(), all[3].clone()], 2)
    );
    for scope in app.foreign_scopes() {
        assert_eq!(
            app.table
                .deliveries(&scope, &webhook, None, (50, 0), now)
                .await
                .unwrap(),
            (vec![], 0)
        );
        assert_eq!(app.table.delivery(&scope, &webhook, all[1].id).await.unwrap(), None);
    }
}
