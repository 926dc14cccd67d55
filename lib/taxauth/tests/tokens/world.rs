//! A store, a clock, a certificate and an authority for tests.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ecf::Environment;
use ecf_embedded::{Embedded, Options};
use ecf_runtime::Clock;
use ecf_stack::Stack;
use ecf_store::{Clients, Table, Vault, local_config};
use ecf_taxauth::{Endpoints, TaxAuth, TimeOuts, Tokens, Waiting};
use jiff::{SignedDuration, Timestamp};
use xmldsig::Identity;

use crate::double::{Double, Play, Seen};

pub(crate) const ENVIRONMENT: Environment = Environment::TesteCF;
pub(crate) const SEED: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<SemillaModel \
    xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\">\r\n  \
    <valor>c2VtaWxsYQ==</valor>\r\n  <fecha>2026-11-27T08:00:00-04:00</fecha>\r\n</SemillaModel>";

/// The store, a clock and a certificate, from which several processes can be made.
pub(crate) struct World {
    _embedded: Embedded,
    pub(crate) table: Table,
    vault: Vault,
    pub(crate) identity: Identity,
    pub(crate) clock: Clock,
}

impl World {
    pub(crate) async fn new() -> Self {
        let embedded = Embedded::start(Options::default()).await.unwrap();
        let config = local_config(embedded.endpoint_url());
        let stack = Stack::embedded(BTreeMap::new()).unwrap();
        let provisioned = stack.provision(&config, "tokens").await.unwrap();
        let clients = Clients::new(&config);
        let secrets = &provisioned.environment_of("submission-worker").unwrap()["SECRET_PREFIX"];
        let now: Timestamp = "2026-11-27T12:00:00Z".parse().unwrap();
        let day = SignedDuration::from_hours(24);
        let p12 = test_certificates::pkcs12("Ana Prueba", "IDCDO-00100000001", "pin", now - day, now + day).unwrap();
        Self {
            table: Table::new(clients.dynamodb, provisioned.table_name()),
            vault: Vault::new(clients.secretsmanager, secrets),
            identity: Identity::from_pkcs12(&p12, "pin", now).unwrap(),
            clock: Clock::manual(now),
            _embedded: embedded,
        }
    }

    /// The parts of one process: its own cache, and the shared table.
    pub(crate) fn process(&self, base: &str) -> Tokens {
        let time_outs = TimeOuts {
            connect: Duration::from_secs(2),
            total: Duration::from_secs(10),
        };
        let taxauth = TaxAuth::new(Endpoints::from_bases(base, base, base).unwrap(), time_outs).unwrap();
        Tokens::new(taxauth, self.table.clone(), self.vault.clone(), self.clock.clone()).with_waiting(Waiting {
            pause: Duration::from_millis(20),
            looks: 200,
            lease: SignedDuration::from_secs(65),
        })
    }

    pub(crate) fn advance(&self, by: SignedDuration) {
        self.clock.advance(by);
    }

    pub(crate) fn certificate(&self) -> &[u8; 32] {
        &self.identity.certificate().sha256_fingerprint
    }
}

/// Tokens that the authority rejects.
pub(crate) type Refused = Arc<Mutex<Vec<&'static str>>>;

pub(crate) fn refusing(tokens: &[&'static str]) -> Refused {
    Arc::new(Mutex::new(tokens.to_vec()))
}

/// An authority that grants `token-1`, `token-2`, … for an hour of the world's clock.
pub(crate) async fn authority(world: &World, refused: &Refused) -> Double {
    authority_answering(world, refused, |_| {
        Play::new(200, r#"{"codigo":1,"estado":"Aceptado"}"#)
    })
    .await
}

/// The same, with its own answer to calls with a valid token.
pub(crate) async fn authority_answering(
    world: &World,
    refused: &Refused,
    answer: impl Fn(&Seen) -> Play + Send + Sync + 'static,
) -> Double {
    let granted = AtomicUsize::new(0);
    let refused = Arc::clone(refused);
    let clock = world.clock.clone();
    Double::answering(move |seen| {
        if seen.request.ends_with("/semilla") {
            return Play::new(200, SEED).with_header("content-type", "text/xml");
        }
        if seen.request.ends_with("/validarsemilla") {
            let number = granted.fetch_add(1, Ordering::SeqCst) + 1;
            let expedido = clock.now();
            let expira = expedido + SignedDuration::from_hours(1);
            return Play::new(
                200,
                format!(r#"{{"token":"token-{number}","expira":"{expira}","expedido":"{expedido}"}}"#),
            );
        }
        let token = bearer(seen);
        if token.starts_with("token-") && !refused.lock().unwrap().contains(&token.as_str()) {
            answer(seen)
        } else {
            Play::new(401, "")
        }
    })
    .await
}

pub(crate) fn bearer(seen: &Seen) -> String {
    let header = seen.headers.get("authorization").map(|value| value.to_str().unwrap());
    header
        .and_then(|value| value.strip_prefix("Bearer "))
        .unwrap_or_default()
        .to_owned()
}
