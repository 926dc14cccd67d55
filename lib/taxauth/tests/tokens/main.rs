//! Tokens shared through the real table, granted by a double of the authority.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::Uri;
use ecf::{Encf, Environment, Rnc};
use ecf_store::tokens::StoredToken;
use ecf_taxauth::{Estado, ResultQuery, Sent, TaxAuthError, TokenError, Upload, Waiting};
use jiff::SignedDuration;
use tokio::sync::watch;
use xmldsig::Limits;

mod directory;
#[path = "../support/double.rs"]
mod double;
mod gates;
mod world;

use double::{Double, Play, Seen};
use world::{ENVIRONMENT, Refused, SEED, World, authority, bearer, refusing};

/// A query for tests in which its content does not matter.
fn submission() -> ResultQuery<'static> {
    static RECEIPT: LazyLock<(Rnc, Encf)> =
        LazyLock::new(|| ("130000001".parse().unwrap(), "E310000000001".parse().unwrap()));
    ResultQuery {
        track_id: "t",
        rnc_emisor: &RECEIPT.0,
        encf: Some(&RECEIPT.1),
    }
}

fn services(double: &Double) -> Vec<String> {
    let service = |seen: Seen| {
        seen.request
            .split('?')
            .next()
            .unwrap()
            .rsplit('/')
            .next()
            .unwrap()
            .to_owned()
    };
    double.seen().into_iter().map(service).collect()
}

fn grants(double: &Double) -> usize {
    services(double)
        .iter()
        .filter(|service| *service == "validarsemilla")
        .count()
}

#[tokio::test]
async fn the_first_call_signs_a_seed_and_the_second_does_not() {
    let world = World::new().await;
    let double = authority(&world, &Refused::default()).await;
    let tokens = world.process(&double.base);
    for _ in 0..2 {
        let judged = tokens
            .session(ENVIRONMENT, &world.identity)
            .result(submission())
            .await
            .unwrap();
        assert_eq!(judged.verdict, Estado::Accepted);
    }
    assert_eq!(services(&double), ["semilla", "validarsemilla", "estado", "estado"]);

    let body = String::from_utf8(double.seen()[1].body.clone()).unwrap();
    let start = body.find("<SemillaModel").unwrap();
    let end = body.find("</SemillaModel>").unwrap() + "</SemillaModel>".len();
    let signed = &body[start..end];
    assert!(
        !signed.contains("\n"),
        "blanks between the elements are gone before signing: {signed}"
    );
    let verified = xmldsig::verify(signed.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(&verified.certificate.sha256_fingerprint, world.certificate());
}

#[tokio::test]
async fn another_process_takes_the_shared_token_which_lies_sealed() {
    let world = World::new().await;
    let double = authority(&world, &Refused::default()).await;
    world
        .process(&double.base)
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap();
    world
        .process(&double.base)
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap();
    assert_eq!(services(&double), ["semilla", "validarsemilla", "estado", "estado"]);

    let now = world.clock.now();
    let stored = world
        .table
        .token(world.certificate(), ENVIRONMENT, now)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(stored.expires_at, now + SignedDuration::from_hours(1));
    assert!(!stored.sealed.windows(5).any(|bytes| bytes == b"token"));
    let other = world
        .table
        .token(world.certificate(), Environment::Ecf, now)
        .await
        .unwrap();
    assert!(other.is_none(), "an environment has tokens of its own");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn fifty_senders_of_three_processes_ask_for_one_token() {
    let world = Arc::new(World::new().await);
    let double = authority(&world, &Refused::default()).await;
    let processes: Vec<_> = (0..3).map(|_| world.process(&double.base)).collect();
    let mut senders = tokio::task::JoinSet::new();
    for number in 0..50 {
        let (world, tokens) = (Arc::clone(&world), processes[number % 3].clone());
        senders.spawn(async move {
            tokens
                .session(ENVIRONMENT, &world.identity)
                .result(submission())
                .await
                .map(|_| ())
        });
    }
    for outcome in senders.join_all().await {
        outcome.unwrap();
    }
    assert_eq!(grants(&double), 1);
}

#[tokio::test]
async fn a_token_is_renewed_a_minute_before_its_end() {
    let world = World::new().await;
    let double = authority(&world, &Refused::default()).await;
    let tokens = world.process(&double.base);
    let session = tokens.session(ENVIRONMENT, &world.identity);
    session.result(submission()).await.unwrap();
    world.advance(SignedDuration::from_secs(58 * 60 + 59));
    session.result(submission()).await.unwrap();
    assert_eq!(grants(&double), 1);
    world.advance(SignedDuration::from_secs(1));
    session.result(submission()).await.unwrap();
    assert_eq!(grants(&double), 2);
    assert_eq!(bearer(double.seen().last().unwrap()), "token-2");
}

#[tokio::test]
async fn a_401_drops_the_token_that_was_used_and_the_call_is_made_again() {
    let world = World::new().await;
    let double = authority(&world, &refusing(&["token-1"])).await;
    let tokens = world.process(&double.base);
    let judged = tokens
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap();
    assert_eq!(judged.verdict, Estado::Accepted);
    assert_eq!(
        services(&double),
        [
            "semilla",
            "validarsemilla",
            "estado",
            "semilla",
            "validarsemilla",
            "estado"
        ]
    );
    // The next process finds the second token.
    world
        .process(&double.base)
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap();
    assert_eq!(grants(&double), 2);
}

#[tokio::test]
async fn a_late_401_does_not_drop_the_token_that_came_after() {
    let world = World::new().await;
    let refused = Refused::default();
    let double = authority(&world, &refused).await;
    let (early, late) = (world.process(&double.base), world.process(&double.base));
    for tokens in [&early, &late] {
        tokens
            .session(ENVIRONMENT, &world.identity)
            .result(submission())
            .await
            .unwrap();
    }
    // Both hold token-1 when it becomes invalid.
    refused.lock().unwrap().push("token-1");
    for tokens in [&early, &late] {
        tokens
            .session(ENVIRONMENT, &world.identity)
            .result(submission())
            .await
            .unwrap();
        assert_eq!(bearer(double.seen().last().unwrap()), "token-2");
    }
    assert_eq!(grants(&double), 2);
}

#[tokio::test]
async fn two_refusals_in_a_row_are_an_error_that_proves_nothing_was_taken() {
    let world = World::new().await;
    let double = authority(&world, &refusing(&["token-1", "token-2"])).await;
    let tokens = world.process(&double.base);
    let upload = Upload::receipt(
        &"101672919".parse().unwrap(),
        &"E310000000001".parse().unwrap(),
        b"<ECF/>".to_vec(),
    );
    let error = tokens
        .session(ENVIRONMENT, &world.identity)
        .send_receipt(&upload)
        .await
        .unwrap_err();
    assert!(matches!(error, TaxAuthError::Unauthorized { .. }), "{error:?}");
    assert!(error.nothing_was_taken());
    assert_eq!(grants(&double), 2);
}

#[tokio::test]
async fn a_refused_certificate_is_told_in_the_authoritys_words_and_tried_again_at_once() {
    let world = World::new().await;
    let words = "El RNC 00100000001 del certificado no está delegado para realizar transaciones.";
    let double = Double::answering(move |seen| match seen.request.ends_with("/semilla") {
        true => Play::new(200, SEED),
        false => Play::new(400, format!("\"{words}\"")),
    })
    .await;
    let tokens = world.process(&double.base);
    let upload = Upload::receipt(
        &"101672919".parse().unwrap(),
        &"E310000000001".parse().unwrap(),
        b"<ECF/>".to_vec(),
    );
    for attempt in 1..=2 {
        let outcome: Result<Sent, _> = tokens.session(ENVIRONMENT, &world.identity).send_receipt(&upload).await;
        let error = outcome.unwrap_err();
        assert!(
            matches!(&error, TaxAuthError::NoToken(TokenError::Refused(_))),
            "{error:?}"
        );
        assert!(error.nothing_was_taken() && error.outage().is_none());
        assert_eq!(error.answer().unwrap().words().as_deref(), Some(words));
        // The lease was released: the second attempt does not wait for it.
        assert_eq!(grants(&double), attempt);
    }
}

#[tokio::test]
async fn who_waits_for_a_fetch_that_fails_does_not_fetch_in_turn() {
    let world = World::new().await;
    let double = Double::answering(|_| Play::new(503, "")).await;
    let tokens = world.process(&double.base);
    let session = tokens.session(ENVIRONMENT, &world.identity);
    let (one, two, three) = tokio::join!(session.authenticate(), session.authenticate(), session.authenticate());
    assert!(matches!(one, Err(TokenError::Authority(_))), "{one:?}");
    for waiting in [two, three] {
        assert!(matches!(waiting, Err(TokenError::JustFailed)), "{waiting:?}");
        assert!(TaxAuthError::from(waiting.unwrap_err()).nothing_was_taken());
    }
    assert_eq!(
        double.seen().len(),
        1,
        "an authority that hangs holds up one sender, not one after the other"
    );
    // A later caller tries again.
    session.authenticate().await.unwrap_err();
    assert_eq!(double.seen().len(), 2);
}

#[tokio::test]
async fn an_authority_that_fails_grants_nothing_and_that_is_an_outage() {
    let world = World::new().await;
    let failing = Double::answering(|_| Play::new(503, "").with_header("retry-after", "9")).await;
    let error = world
        .process(&failing.base)
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, TaxAuthError::NoToken(TokenError::Authority(_))),
        "{error:?}"
    );
    assert!(error.nothing_was_taken() && error.outage().is_some());
    assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));

    let odd = Double::answering(|_| Play::new(200, "<html><title>Mantenimiento</title></html>")).await;
    let error = world
        .process(&odd.base)
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap_err();
    assert!(matches!(&error, TaxAuthError::NoToken(TokenError::Odd(_))), "{error:?}");
}

#[tokio::test]
async fn who_waits_for_a_dead_refresh_gives_up_and_later_takes_it_over() {
    let world = World::new().await;
    let double = authority(&world, &Refused::default()).await;
    let now = world.clock.now();
    let lease = SignedDuration::from_secs(65);
    assert!(
        world
            .table
            .claim_token_refresh(world.certificate(), ENVIRONMENT, now, lease)
            .await
            .unwrap()
    );
    let waiting = Waiting {
        pause: Duration::from_millis(1),
        looks: 3,
        lease,
    };
    let tokens = world.process(&double.base).with_waiting(waiting);
    let error = tokens
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap_err();
    assert!(
        matches!(&error, TaxAuthError::NoToken(TokenError::Busy { .. })),
        "{error:?}"
    );
    assert!(double.seen().is_empty());

    world.advance(lease);
    tokens
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap();
}

#[tokio::test]
async fn a_shared_token_that_does_not_open_is_replaced() {
    let world = World::new().await;
    let double = authority(&world, &Refused::default()).await;
    let now = world.clock.now();
    let foreign = StoredToken {
        sealed: vec![1; 64],
        expires_at: now + SignedDuration::from_mins(30),
    };
    world
        .table
        .store_token(world.certificate(), ENVIRONMENT, &foreign)
        .await
        .unwrap();
    world
        .process(&double.base)
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap();
    assert_eq!(grants(&double), 1);
}

/// Counts the calls inside, and lets none out before `open`.
#[derive(Clone)]
struct Gate {
    inside: Arc<AtomicUsize>,
    open: watch::Receiver<bool>,
}

async fn held(State(mut gate): State<Gate>, uri: Uri) -> &'static str {
    if uri.path() == "/ping" {
        return "";
    }
    gate.inside.fetch_add(1, Ordering::SeqCst);
    gate.open.wait_for(|open| *open).await.unwrap();
    r#"{"codigo":1,"estado":"Aceptado"}"#
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn four_calls_of_a_certificate_run_at_a_time() {
    let world = Arc::new(World::new().await);
    // A first token, so that every request at the gate is a call.
    let double = authority(&world, &Refused::default()).await;
    world
        .process(&double.base)
        .session(ENVIRONMENT, &world.identity)
        .result(submission())
        .await
        .unwrap();

    let (opener, open) = watch::channel(false);
    let gate = Gate {
        inside: Arc::default(),
        open,
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let app = Router::new().fallback(held).with_state(gate.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });

    let tokens = world.process(&base);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..12 {
        let (world, tokens) = (Arc::clone(&world), tokens.clone());
        calls.spawn(async move {
            tokens
                .session(ENVIRONMENT, &world.identity)
                .result(submission())
                .await
                .map(|_| ())
        });
    }
    // Enough exchanges with the same server for a fifth call to arrive, if it were let through.
    let pinger = reqwest::Client::builder()
        .no_proxy()
        .timeout(Duration::from_secs(10))
        .build()
        .unwrap();
    let mut rounds = 0;
    while rounds < 100 || gate.inside.load(Ordering::SeqCst) < 4 {
        pinger.get(format!("{base}/ping")).send().await.unwrap();
        rounds += 1;
        assert!(rounds < 10_000, "four calls never arrived");
    }
    assert_eq!(gate.inside.load(Ordering::SeqCst), 4);
    opener.send(true).unwrap();
    for outcome in calls.join_all().await {
        outcome.unwrap();
    }
    assert_eq!(gate.inside.load(Ordering::SeqCst), 12);
}
