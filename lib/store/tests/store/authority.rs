//! The condition of the authority, and receipts that are held because of it.

use ecf::{Environment, ReceiptState};
use ecf_store::{
    authority::{AuthorityStatus, MaintenanceWindow, ServiceStatus},
    breaker::{Breaker, Cause, Host, OpenBreaker},
    receipts::{Alarm, Awaited},
};
use jiff::SignedDuration;

use crate::support::{app, noon};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

fn open() -> Breaker {
    Breaker {
        open: Some(OpenBreaker {
            since: noon(),
            cause: Cause::Failures,
            probe_at: noon() + MINUTE * 10,
            probing_until: None,
        }),
        ..Breaker::default()
    }
}

#[tokio::test]
async fn a_condition_has_both_breakers_and_the_status_of_its_environment() {
    let app = app("condition").await;
    // All tests share the environments of this table, so each test uses another one.
    let environment = Environment::Ecf;
    let (fc, is_ours) = app
        .table
        .replace_breaker(environment, Host::Fc, &Breaker::default(), open())
        .await
        .unwrap();
    assert!(is_ours);
    let status = AuthorityStatus {
        checked_at: noon(),
        available: Some(true),
        services: vec![ServiceStatus {
            servicio: "Recepción".to_owned(),
            estatus: "Disponible".to_owned(),
            available: true,
        }],
        windows: vec![MaintenanceWindow {
            start: noon(),
            end: noon() + MINUTE,
        }],
    };
    app.table.record_status(environment, &status).await.unwrap();
    let older = AuthorityStatus {
        checked_at: noon() - MINUTE,
        available: None,
        services: Vec::new(),
        windows: Vec::new(),
    };
    app.table.record_status(environment, &older).await.unwrap();
    let condition = app.table.condition(environment).await.unwrap();
    assert_eq!((&condition.fc, &condition.ecf), (&fc, &Breaker::default()));
    assert_eq!(condition.status, Some(status), "an older answer replaces nothing");
}

#[tokio::test]
async fn of_several_who_saw_one_breaker_one_replaces_it() {
    let app = app("breaker race").await;
    let writers = (0..8).map(|_| {
        let table = app.table.clone();
        let replace = async move {
            let seen = Breaker::default();
            table
                .replace_breaker(Environment::CerteCF, Host::Ecf, &seen, open())
                .await
                .unwrap()
        };
        tokio::spawn(replace)
    });
    let mut ours = 0;
    for writer in writers.collect::<Vec<_>>() {
        let (now, is_ours) = writer.await.unwrap();
        assert_eq!((now.version, now.open), (1, open().open));
        ours += usize::from(is_ours);
    }
    assert_eq!(ours, 1);
}

#[tokio::test]
async fn the_status_service_is_asked_by_one_and_not_before_its_time() {
    let app = app("status check").await;
    let claim = async |after| app.table.claim_status_check(noon() + after, MINUTE).await.unwrap();
    assert!(claim(SignedDuration::ZERO).await);
    assert!(!claim(MINUTE - SignedDuration::from_secs(1)).await);
    app.table
        .record_status_check(noon(), Some("it is asleep"))
        .await
        .unwrap();
    assert_eq!(
        app.table.status_check().await.unwrap().unwrap().problem.as_deref(),
        Some("it is asleep")
    );
    assert!(claim(MINUTE).await);
    app.table.record_status_check(noon(), None).await.unwrap();
    let check = app.table.status_check().await.unwrap().unwrap();
    assert_eq!(
        (check.attempted_at, check.problem.is_some()),
        (noon() + MINUTE, true),
        "a late answer says nothing"
    );
}

#[tokio::test]
async fn a_receipt_is_held_unless_somebody_is_sending_it() {
    let app = app("hold").await;
    let until = noon() + MINUTE * 10;
    let receipt = app.receipt("order-1", "E310000000001").await;
    assert!(app.table.hold(&app.scope, &receipt, until, noon()).await.unwrap());
    let held = app
        .table
        .receipt(&app.scope, &receipt.public_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(held.state, ReceiptState::Contingency);
    assert_eq!(held.next_action_at, Some(until));
    assert!(app.table.hold(&app.scope, &held, until + MINUTE, noon()).await.unwrap());

    let sent = app.receipt("order-2", "E310000000002").await;
    app.table
        .claim_send(&app.scope, &sent.public_id, noon(), MINUTE)
        .await
        .unwrap();
    assert!(!app.table.hold(&app.scope, &sent, until, noon()).await.unwrap());
    // After the lease has expired the outcome is unknown, but an authority that is out of reach is not called for it.
    let later = noon() + MINUTE;
    assert!(app.table.hold(&app.scope, &sent, until, later).await.unwrap());
    for foreign in app.foreign_scopes() {
        assert!(!app.table.hold(&foreign, &receipt, until, noon()).await.unwrap());
    }
}

#[tokio::test]
async fn an_alarm_is_noted_once_for_each_hour_and_not_for_what_was_handed_over() {
    let app = app("delivery alarm").await;
    let receipt = app.receipt("order-1", "E310000000001").await;
    let alarm = async |hours| {
        let awaited = Awaited::Delivery;
        let alarm = Alarm { awaited, hours };
        app.table.record_alarm(&app.scope, &receipt, alarm).await.unwrap()
    };
    for (hours, is_first) in [(48, true), (48, false), (60, true), (48, false)] {
        assert_eq!(alarm(hours).await, is_first, "{hours}");
    }
    app.table
        .claim_send(&app.scope, &receipt.public_id, noon(), MINUTE)
        .await
        .unwrap();
    app.table
        .record_submitted(&app.scope, &receipt.public_id, "t", noon())
        .await
        .unwrap();
    assert!(!alarm(70).await);
}
