//! The gates that several processes share through the table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};

use ecf_store::{CompanyId, breaker::Host};
use ecf_taxauth::{Held, Passage, TaxAuthError, TokenError, Tokens};
use jiff::SignedDuration;

use crate::double::{Double, Play};
use crate::submission;
use crate::world::{ENVIRONMENT, Refused, World, authority};

fn company(number: u8) -> CompanyId {
    CompanyId::from_random([number; 20])
}

/// A world whose authority has granted a token, and answers all other calls with the status that the test sets.
async fn answering(status: u16) -> (World, Double, Arc<AtomicU16>) {
    let world = World::new().await;
    let granting = authority(&world, &Refused::default()).await;
    ask(&world, &world.process(&granting.base), 0).await.unwrap();
    let status = Arc::new(AtomicU16::new(status));
    let answered = Arc::clone(&status);
    let double = Double::answering(move |_| match answered.load(Ordering::SeqCst) {
        200 => Play::new(200, r#"{"codigo":1,"estado":"Aceptado"}"#),
        other => Play::new(other, ""),
    })
    .await;
    (world, double, status)
}

async fn ask(world: &World, process: &Tokens, number: u8) -> Result<(), TaxAuthError> {
    let session = process
        .session(ENVIRONMENT, &world.identity)
        .of_company(&company(number));
    session.result(submission()).await.map(drop)
}

fn held(outcome: Result<(), TaxAuthError>) -> Held {
    match outcome {
        Err(error @ TaxAuthError::Held(held)) => {
            assert!(error.nothing_was_taken() && error.outage().is_none());
            held
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_fails_for_three_companies_is_not_called_for_a_fourth_by_any_process() {
    let (world, double, _) = answering(503).await;
    let processes = [world.process(&double.base), world.process(&double.base)];
    for number in 1..=3 {
        ask(&world, &processes[usize::from(number) % 2], number)
            .await
            .unwrap_err();
    }
    assert_eq!(double.seen().len(), 3);
    let opened = world.clock.now();
    // A process caches what it read for 15 seconds.
    world.advance(SignedDuration::from_secs(15));
    for process in [&processes[0], &world.process(&double.base)] {
        let held = held(ask(&world, process, 4).await);
        assert_eq!(
            (held.host, held.until),
            (Host::Ecf, opened + SignedDuration::from_secs(50))
        );
    }
    assert_eq!(double.seen().len(), 3);
    let gates = world.process(&double.base);
    assert_eq!(gates.gates().passage(ENVIRONMENT, Host::Fc).await, Passage::Free);
    assert_eq!(
        gates.gates().passage(ecf::Environment::Ecf, Host::Ecf).await,
        Passage::Free
    );
}

#[tokio::test]
async fn refusals_never_close_the_gates() {
    for status in [400, 403, 404, 422, 429] {
        let (world, double, _) = answering(status).await;
        let process = world.process(&double.base);
        for number in 0..20 {
            let _ = ask(&world, &process, number).await;
            world.advance(SignedDuration::from_secs(10));
        }
        assert_eq!(double.seen().len(), 20, "{status}");
    }
}

#[tokio::test]
async fn three_companies_with_one_that_goes_well_between_close_nothing() {
    let (world, double, status) = answering(503).await;
    let process = world.process(&double.base);
    for number in 1..=8 {
        status.store(if number % 3 == 0 { 200 } else { 503 }, Ordering::SeqCst);
        let _ = ask(&world, &process, number).await;
    }
    assert_eq!(double.seen().len(), 8);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn after_a_minute_one_call_of_all_processes_finds_out() {
    let (world, double, status) = answering(503).await;
    let world = Arc::new(world);
    let processes = [(); 3].map(|()| world.process(&double.base));
    for number in 1..=3 {
        ask(&world, &processes[0], number).await.unwrap_err();
    }
    for round in 1..=2 {
        world.advance(SignedDuration::from_mins(1));
        let mut calls = tokio::task::JoinSet::new();
        for number in 0..12_u8 {
            let (world, process) = (Arc::clone(&world), processes[usize::from(number) % 3].clone());
            calls.spawn(async move { ask(&world, &process, number).await });
        }
        let outcomes = calls.join_all().await;
        assert!(outcomes.iter().all(Result::is_err));
        assert_eq!(double.seen().len(), 3 + round, "one call and no more");
    }
    status.store(200, Ordering::SeqCst);
    world.advance(SignedDuration::from_mins(1));
    ask(&world, &processes[1], 7).await.unwrap();
    // The others read it within 15 seconds.
    world.advance(SignedDuration::from_secs(15));
    for process in &processes {
        ask(&world, process, 8).await.unwrap();
    }
}

#[tokio::test]
async fn a_probe_that_dies_leaves_another_to_the_next_within_two_minutes() {
    let (world, double, _) = answering(503).await;
    let process = world.process(&double.base);
    for number in 1..=3 {
        ask(&world, &process, number).await.unwrap_err();
    }
    world.advance(SignedDuration::from_mins(1));
    let condition = world.table.condition(ENVIRONMENT).await.unwrap();
    let mut probing = condition.ecf.clone();
    let now = world.clock.now();
    probing.open.as_mut().unwrap().probing_until = Some(now + SignedDuration::from_secs(90));
    world
        .table
        .replace_breaker(ENVIRONMENT, Host::Ecf, &condition.ecf, probing)
        .await
        .unwrap();
    held(ask(&world, &process, 5).await);
    world.advance(SignedDuration::from_secs(90));
    let seen = double.seen().len();
    ask(&world, &process, 5).await.unwrap_err();
    assert_eq!(double.seen().len(), seen + 1);
}

#[tokio::test]
async fn no_token_is_asked_for_while_its_host_is_away() {
    let world = World::new().await;
    let double = Double::answering(|_| Play::new(503, "")).await;
    let process = world.process(&double.base);
    for number in 1..=3 {
        ask(&world, &process, number).await.unwrap_err();
    }
    let seen = double.seen().len();
    for process in [&process, &world.process(&double.base)] {
        let error = ask(&world, process, 4).await.unwrap_err();
        assert!(
            matches!(&error, TaxAuthError::NoToken(TokenError::Held(_))),
            "{error:?}"
        );
    }
    assert_eq!(double.seen().len(), seen);
}
