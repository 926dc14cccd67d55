use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::ReceiptState;
use ecf_store::{
    ContentHash, Receipt, ReceiptId,
    due::{DueEntry, SHARDS},
    receipts::{Claim, Failure, Mode, OutboxEntry, Recorded, Verdict},
};
use jiff::{SignedDuration, Timestamp};

use crate::support::{App, app, at, new_receipt, noon, table_name};

const LEASE: SignedDuration = SignedDuration::from_secs(30);

fn verdict(state: ReceiptState, outbox: &[OutboxEntry]) -> Verdict {
    Verdict {
        state,
        track_id: None,
        error_code: None,
        error_message: None,
        secuencia_utilizada: Some(true),
        taxauth_response: Some(r#"{"codigo":1}"#.to_owned()),
        outbox: outbox.to_vec(),
    }
}

impl App {
    async fn submitted(&self, key: &str, number: &str) -> Receipt {
        let id = self.receipt(key, number).await.public_id;
        self.table.claim_send(&self.scope, &id, noon(), LEASE).await.unwrap();
        match self
            .table
            .record_submitted(&self.scope, &id, "track-1", noon())
            .await
            .unwrap()
        {
            Recorded::Now(receipt) => receipt,
            other => panic!("{other:?}"),
        }
    }

    /// The due entries of this app's receipts.
    async fn due(&self, now: Timestamp) -> Vec<DueEntry> {
        let mut entries = Vec::new();
        for shard in 0..SHARDS {
            entries.extend(self.table.due_now(shard, now, 1_000).await.unwrap().entries);
        }
        entries.retain(|entry| entry.scope == self.scope);
        entries
    }
}

#[tokio::test]
async fn a_verdict_is_recorded_once_whoever_brings_it() {
    let app = app("once").await;
    let id = app.submitted("order-1", "E310000000001").await.public_id;
    let workers = (0..8).map(|place| {
        let (table, scope) = (app.table.clone(), app.scope);
        let now = noon() + SignedDuration::from_secs(place);
        let verdict = verdict(ReceiptState::Accepted, &[OutboxEntry::Webhook]);
        tokio::spawn(async move { table.record_verdict(&scope, &id, verdict, now).await.unwrap() })
    });
    let (mut now, mut already) = (Vec::new(), Vec::new());
    for worker in workers.collect::<Vec<_>>() {
        match worker.await.unwrap() {
            Recorded::Now(receipt) => now.push(receipt),
            Recorded::Already(receipt) => already.push(receipt),
            Recorded::Missing => panic!("it is there"),
        }
    }
    assert_eq!((now.len(), already.len()), (1, 7));
    assert!(already.iter().all(|receipt| *receipt == now[0]));
    assert_eq!(now[0].state, ReceiptState::Accepted);
    assert_eq!(now[0].secuencia_utilizada, Some(true));
    assert_eq!(now[0].taxauth_response.as_deref(), Some(r#"{"codigo":1}"#));
    assert_eq!(now[0].outbox, [OutboxEntry::Webhook]);

    let other = verdict(ReceiptState::Rejected, &[]);
    let late = app
        .table
        .record_verdict(&app.scope, &id, other, at("2026-11-28T00:00:00Z"))
        .await
        .unwrap();
    assert_eq!(late, Recorded::Already(now.remove(0)));
    for scope in app.foreign_scopes() {
        let verdict = verdict(ReceiptState::Rejected, &[]);
        assert_eq!(
            app.table.record_verdict(&scope, &id, verdict, noon()).await.unwrap(),
            Recorded::Missing
        );
    }
}

#[tokio::test]
async fn only_a_summary_gets_its_verdict_without_a_track_id_before() {
    let app = app("summary").await;
    let full = app.receipt("order-1", "E310000000001").await;
    let outcome = app
        .table
        .record_verdict(
            &app.scope,
            &full.public_id,
            verdict(ReceiptState::Accepted, &[]),
            noon(),
        )
        .await
        .unwrap();
    assert_eq!(outcome, Recorded::Already(full));

    let mut new = new_receipt(&app.scope, "order-2", "E320000000001");
    if let Some(signed) = &mut new.signed {
        signed.rfce = Some(ContentHash::of(b"rfce"));
    }
    let summary = app.create(new).await;
    let outcome = app
        .table
        .record_verdict(
            &app.scope,
            &summary.public_id,
            verdict(ReceiptState::Accepted, &[]),
            noon(),
        )
        .await
        .unwrap();
    let Recorded::Now(receipt) = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!((receipt.state, receipt.next_action_at), (ReceiptState::Accepted, None));
}

#[tokio::test]
async fn the_last_outbox_entry_takes_the_receipt_off_the_due_index() {
    let app = app("outbox").await;
    let id = app.submitted("order-1", "E310000000001").await.public_id;
    let both = verdict(ReceiptState::Accepted, &[OutboxEntry::Exchange, OutboxEntry::Webhook]);
    app.table.record_verdict(&app.scope, &id, both, noon()).await.unwrap();
    let later = at("2026-11-27T16:10:00Z");
    assert_eq!(app.due(later).await.len(), 1);

    let recorded = app
        .table
        .outbox_done(&app.scope, &id, OutboxEntry::Webhook)
        .await
        .unwrap();
    let Recorded::Now(receipt) = recorded else {
        panic!("{recorded:?}")
    };
    assert_eq!(receipt.outbox, [OutboxEntry::Exchange]);
    assert_eq!(receipt.next_action_at, Some(later));
    let again = app
        .table
        .outbox_done(&app.scope, &id, OutboxEntry::Webhook)
        .await
        .unwrap();
    assert_eq!(again, Recorded::Already(receipt));
    assert_eq!(app.due(later).await.len(), 1);

    let recorded = app
        .table
        .outbox_done(&app.scope, &id, OutboxEntry::Exchange)
        .await
        .unwrap();
    let Recorded::Now(receipt) = recorded else {
        panic!("{recorded:?}")
    };
    assert_eq!((receipt.outbox.len(), receipt.next_action_at), (0, None));
    assert_eq!(app.due(later).await, []);
}

#[tokio::test]
async fn b4_the_first_time_that_a_webhook_took_the_verdict_stays() {
    let app = app("notified").await;
    let (taken, later) = (at("2026-11-27T16:00:02Z"), at("2026-11-27T16:30:00Z"));
    let notified = async |key: &str, encf: &str, first: Option<Timestamp>| {
        let id = app.submitted(key, encf).await.public_id;
        let verdict = verdict(ReceiptState::Accepted, &[OutboxEntry::Webhook]);
        app.table
            .record_verdict(&app.scope, &id, verdict, noon())
            .await
            .unwrap();
        app.table.webhooks_notified(&app.scope, &id, first).await.unwrap();
        app.table.record_notified(&app.scope, &id, later).await.unwrap();
        app.table.receipt(&app.scope, &id).await.unwrap().unwrap()
    };
    let at_once = notified("order-1", "E310000000001", Some(taken)).await;
    assert_eq!((at_once.notified_at, at_once.next_action_at), (Some(taken), None));
    let on_a_retry = notified("order-2", "E310000000002", None).await;
    assert_eq!((on_a_retry.notified_at, on_a_retry.next_action_at), (Some(later), None));
    assert_eq!(on_a_retry.updated_at, at_once.updated_at);
    // A receipt that does not exist is not created.
    let nobody = ReceiptId::of_receipt(&app.scope, "nobody");
    app.table.record_notified(&app.scope, &nobody, later).await.unwrap();
    assert_eq!(app.table.receipt(&app.scope, &nobody).await.unwrap(), None);
}

#[tokio::test]
async fn two_entries_done_at_once_still_leave_nothing_due() {
    let app = app("outbox race").await;
    let id = app.submitted("order-1", "E310000000001").await.public_id;
    let both = verdict(ReceiptState::Accepted, &[OutboxEntry::Exchange, OutboxEntry::Webhook]);
    app.table.record_verdict(&app.scope, &id, both, noon()).await.unwrap();
    let (webhook, exchange) = tokio::join!(
        app.table.outbox_done(&app.scope, &id, OutboxEntry::Webhook),
        app.table.outbox_done(&app.scope, &id, OutboxEntry::Exchange),
    );
    assert!(matches!(webhook.unwrap(), Recorded::Now(_)));
    assert!(matches!(exchange.unwrap(), Recorded::Now(_)));
    let receipt = app.table.receipt(&app.scope, &id).await.unwrap().unwrap();
    assert_eq!((receipt.outbox.len(), receipt.next_action_at), (0, None));
}

fn failure() -> Failure<'static> {
    Failure {
        code: "refused",
        message: "no",
        taxauth_response: Some(r#"{"mensaje":"no"}"#),
    }
}

#[tokio::test]
async fn a_failure_that_comes_too_late_changes_nothing() {
    let app = app("late failure").await;
    let unclaimed = app.receipt("order-1", "E310000000001").await;
    let id = unclaimed.public_id;
    let claim = app.table.claim_send(&app.scope, &id, noon(), LEASE).await.unwrap();
    let Claim::Claimed(claimed) = claim else {
        panic!("{claim:?}")
    };
    let fail = async |seen: &Receipt| {
        app.table
            .record_failed(&app.scope, seen, failure(), noon())
            .await
            .unwrap()
    };
    // Another worker has claimed it since.
    assert_eq!(fail(&unclaimed).await, Recorded::Already(claimed.clone()));
    app.table
        .record_submitted(&app.scope, &id, "track-1", noon())
        .await
        .unwrap();
    for seen in [&unclaimed, &claimed] {
        let late = fail(seen).await;
        assert!(
            matches!(&late, Recorded::Already(receipt) if receipt.state == ReceiptState::Submitted),
            "{late:?}"
        );
    }
}

#[tokio::test]
async fn the_verdict_on_an_earlier_copy_brings_that_copys_track_id() {
    let app = app("earlier copy").await;
    let id = app.submitted("order-1", "E310000000001").await.public_id;
    let verdict = Verdict {
        track_id: Some("track-0".to_owned()),
        ..verdict(ReceiptState::Accepted, &[])
    };
    let recorded = app
        .table
        .record_verdict(&app.scope, &id, verdict, noon())
        .await
        .unwrap();
    assert!(matches!(recorded, Recorded::Now(receipt) if receipt.sending.track_id.as_deref() == Some("track-0")));
    let found = app.table.receipt_by_track_id(&app.scope, "track-0").await.unwrap();
    assert_eq!(found.map(|receipt| receipt.public_id), Some(id));
}

#[tokio::test]
async fn a_failure_keeps_its_reason_and_is_due_at_once_for_its_event() {
    let app = app("failed").await;
    let id = app.receipt("order-1", "E310000000001").await.public_id;
    let claim = app.table.claim_send(&app.scope, &id, noon(), LEASE).await.unwrap();
    let Claim::Claimed(claimed) = claim else {
        panic!("{claim:?}")
    };
    let recorded = app
        .table
        .record_failed(&app.scope, &claimed, failure(), noon())
        .await
        .unwrap();
    let Recorded::Now(receipt) = recorded else {
        panic!("{recorded:?}")
    };
    assert_eq!(receipt.state, ReceiptState::Failed);
    assert_eq!(receipt.error_code.as_deref(), Some("refused"));
    assert_eq!(receipt.error_message.as_deref(), Some("no"));
    assert_eq!(receipt.taxauth_response.as_deref(), Some(r#"{"mensaje":"no"}"#));
    assert_eq!(
        (receipt.next_action_at, receipt.sending.lease_until),
        (Some(noon()), None)
    );
    let verdict = verdict(ReceiptState::Accepted, &[]);
    let outcome = app
        .table
        .record_verdict(&app.scope, &id, verdict, noon())
        .await
        .unwrap();
    assert!(matches!(outcome, Recorded::Already(_)));
}

#[tokio::test]
async fn what_is_due_is_claimed_by_one() {
    let app = app("due").await;
    let receipt = app.receipt("order-1", "E310000000001").await;
    assert_eq!(app.due(at("2026-11-27T16:09:59.999Z")).await, []);
    let now = at("2026-11-27T16:10:00Z");
    let entries = app.due(now).await;
    let entry = DueEntry {
        scope: app.scope,
        record: ecf_store::due::DueRecord::Receipt(receipt.public_id),
        at: now,
    };
    assert_eq!(entries, [entry]);

    let next = at("2026-11-27T16:20:00Z");
    let sweeps = (0..6).map(|_| {
        let table = app.table.clone();
        tokio::spawn(async move { table.claim_due(&entry, next).await.unwrap() })
    });
    let mut claimed = 0;
    for sweep in sweeps.collect::<Vec<_>>() {
        claimed += usize::from(sweep.await.unwrap());
    }
    assert_eq!(claimed, 1);
    assert_eq!(app.due(now).await, []);
    assert_eq!(app.due(next).await.len(), 1);

    let last = at("2026-11-27T18:00:00Z");
    assert!(app.table.postpone(&app.scope, &receipt.public_id, last).await.unwrap());
    assert_eq!(app.due(next).await, []);
    assert_eq!(app.due(last).await.len(), 1);
}

/// DynamoDB's rule: names count, and a number takes half a byte per digit plus one.
fn size_bytes(item: &HashMap<String, AttributeValue>) -> usize {
    let value_bytes = |value: &AttributeValue| match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(digits) => digits.len().div_ceil(2) + 1,
        AttributeValue::B(blob) => blob.as_ref().len(),
        AttributeValue::Ss(texts) => texts.iter().map(String::len).sum(),
        AttributeValue::Bool(_) => 1,
        other => panic!("no size rule for {other:?}"),
    };
    item.iter().map(|(name, value)| name.len() + value_bytes(value)).sum()
}

#[tokio::test]
async fn a_full_typical_receipt_stays_below_one_kilobyte() {
    let app = app("size").await;
    let mut new = new_receipt(&app.scope, "550e8400-e29b-41d4-a716-446655440000", "E320000000001");
    new.external_id = Some("S00012345/2026".to_owned());
    new.mode = Mode::Deferred;
    new.monto_total = "249999.99".to_owned();
    new.rnc_comprador = Some("00112345678".to_owned());
    if let Some(signed) = &mut new.signed {
        signed.rfce = Some(ContentHash::of(b"rfce"));
    }
    let id = app.create(new).await.public_id;
    app.table.claim_send(&app.scope, &id, noon(), LEASE).await.unwrap();
    let track_id = "d2b6e27c-b908-46f3-9656-5ee06f9e0b6a";
    app.table
        .record_submitted(&app.scope, &id, track_id, noon())
        .await
        .unwrap();
    let answer = format!(
        r#"{{"trackId":"{track_id}","codigo":"1","estado":"Aceptado","rnc":"131880681","encf":"E320000000001","secuenciaUtilizada":true,"fechaRecepcion":"11/27/2026 12:00:01 PM","mensajes":[{{"valor":"","codigo":0}}]}}"#
    );
    let outbox = [OutboxEntry::Webhook, OutboxEntry::Exchange];
    let verdict = Verdict {
        taxauth_response: Some(answer),
        ..verdict(ReceiptState::Accepted, &outbox)
    };
    let recorded = app
        .table
        .record_verdict(&app.scope, &id, verdict, noon())
        .await
        .unwrap();
    assert!(matches!(recorded, Recorded::Now(_)));

    let key = AttributeValue::S(format!("r#{}#testecf#{id}", app.scope.company));
    let item = app
        .clients
        .dynamodb
        .get_item()
        .table_name(table_name())
        .key("pk", key)
        .key("sk", AttributeValue::S("r".to_owned()))
        .send()
        .await
        .unwrap()
        .item
        .unwrap();
    let size = size_bytes(&item);
    assert!(size < 1_024, "{size} bytes: {item:?}");
    assert!(size > 800, "{size} bytes: this is no full receipt");
}
