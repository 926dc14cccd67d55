//! All participants of a run: the company, its buyer, another issuer, the authority, the endpoint, and the system
//! between them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Weather;
use super::audit::{self, Audit, Scope};
use super::authority::{Authority, Struck, bad_days};
use super::board::{Board, Phase, Tally};
use super::books::Books;
use super::clerk::{self, OTHERS, VERDICTS};
use super::desk::Desk;
use super::endpoint::Endpoint;
use super::erp::{Erp, Original, request};
use super::killer::{Victim, rage};
use super::others::Others;
use super::partners::{self, Ledger};
use super::rng::Rng;
use super::time::{SPEED, Time};
use super::{certification, proof};
use crate::exchange::{self, BAKERY};
use crate::payloads::payload;
use crate::support::eventually;

/// Receipts issued before the faults start; notes refer to them.
const ORIGINALS: u32 = 4;
/// The number of the rotation after the clerk's last one.
const LAST_ROTATION: u32 = u32::MAX;

pub(crate) struct Town {
    folder: PathBuf,
    time: Time,
    begun: Timestamp,
    authority: Authority,
    victim: Victim,
    company: String,
    pub(crate) endpoint: Endpoint,
    /// The company in TesteCF.
    pub(crate) erp: Erp,
    /// The company in CerteCF.
    pub(crate) certification: Erp,
    buyer: Desk,
    ledger: Ledger,
    /// The webhook for verdicts, and the webhook for receipts and approvals from others.
    webhooks: [String; 2],
}

impl Town {
    /// Sets up without faults: the webhooks, the buyer, the key of CerteCF, and receipts that notes refer to.
    pub(crate) async fn open(folder: &Path, weather: Weather) -> Self {
        let time = Time::begin(folder);
        let begun = time.now();
        let authority = Authority::start(time.clone()).await;
        let endpoint = Endpoint::start(Rng::new(weather.seed, 1)).await;
        let arguments = ["--simulator", authority.url(), "--speed", &SPEED.to_string()].map(str::to_owned);
        let victim = Victim::start(folder, arguments.to_vec()).await;
        let desk = Desk {
            caller: victim.program().caller(),
            clock: time.clone(),
            board: Board::default(),
        };
        let webhooks = [
            clerk::subscribe(&desk, &endpoint, VERDICTS, &["ecf.*"]).await,
            clerk::subscribe(&desk, &endpoint, OTHERS, &["inbox.received", "approval.received"]).await,
        ];
        let p12 = ecf_local::certificate(BAKERY, folder).unwrap();
        let bakery = exchange::open_bakery(&desk.caller, &p12).await;
        exchange::list(&desk.caller).await;
        exchange::list(&bakery).await;
        let certification = certification::enter(victim.program(), &desk).await;
        let company = desk.get("/client/company").await["public_id"]
            .as_str()
            .unwrap()
            .to_owned();
        let buyer = desk.of(bakery);
        let of = |desk: Desk, originals: Vec<Original>| Erp {
            desk,
            books: Books::default(),
            originals,
            seed: weather.seed,
        };
        let mut erp = of(desk, Vec::new());
        erp.originals = originals(&erp).await;
        Self {
            folder: folder.to_owned(),
            certification: of(certification, Vec::new()),
            time,
            begun,
            authority,
            victim,
            company,
            endpoint,
            erp,
            buyer,
            ledger: Ledger::default(),
            webhooks,
        }
    }

    /// All actors work under faults, until all receipts are issued and all kills are done; then the faults stop.
    pub(crate) async fn bad_day(&mut self, weather: Weather) -> Tally {
        self.victim
            .disturb(&format!("{}:{}", weather.aws_percent, weather.seed))
            .await;
        let (stop, seed) = (CancellationToken::new(), weather.seed);
        let (erp, desk, certification) = (&self.erp, &self.erp.desk, &self.certification);
        let foreign = ecf_local::certificate(ecf_testkit::FOREIGN_RNC, &self.folder).unwrap();
        let trouble = tokio::spawn(bad_days(desk.caller.clone(), Rng::new(seed, 2), stop.clone()));
        let (victim, company) = (&mut self.victim, &self.company);
        let main = async {
            let (mut tally, ()) = tokio::join!(
                rage(victim, desk, company, weather.kills, Rng::new(seed, 3)),
                erp.sell(weather.receipts)
            );
            stop.cancel();
            tally.add("authority slow verdict", trouble.await.unwrap());
            tally
        };
        let (tally, ..) = tokio::join!(
            main,
            erp.schedule(&stop),
            partners::trade(desk, &self.buyer, &erp.books, &self.ledger, seed, &stop),
            partners::receive(desk, &foreign, &self.ledger, seed, &stop),
            partners::annul(desk, &self.ledger, seed, &stop),
            clerk::work(desk, &self.endpoint, &self.webhooks[0], seed, &stop),
            certification::work(&certification.desk, &certification.books, seed, &stop),
        );
        self.endpoint.recover();
        self.victim.calm().await;
        tally
    }

    pub(crate) fn others(&self, struck: Vec<Struck>, time_limit: Duration) -> Others<'_> {
        Others {
            desk: &self.erp.desk,
            buyer: &self.buyer,
            endpoint: &self.endpoint,
            entries: self.ledger.entries(),
            struck,
            time_limit,
        }
    }

    /// The webhooks are those of the set-up, and a newly rotated secret signs the next deliveries.
    pub(crate) async fn webhooks_are_as_they_should(&self, time_limit: Duration) {
        let desk = &self.erp.desk;
        assert_eq!(clerk::webhooks(desk).await, self.webhooks.iter().cloned().collect());
        let id = &self.webhooks[0];
        clerk::rotate(desk, &self.endpoint, VERDICTS, id, LAST_ROTATION).await;
        eventually("the newest secret signs", time_limit, async || {
            desk.post(Phase::Webhook, &format!("/client/webhooks/{id}/test"), &json!({}))
                .await;
            self.endpoint.uses_newest_secret(VERDICTS).then_some(())
        })
        .await;
        let forged = self.endpoint.forged();
        assert!(forged.is_empty(), "signed with no secret of the webhook: {forged:#?}");
    }

    /// Skips a duration while the process is down.
    pub(crate) async fn sleep(&mut self, time: SignedDuration) {
        let clock = self.time.clone();
        self.victim.kill_and(move || clock.skip(time)).await;
    }

    /// Repeats the operator's check until it finds nothing.
    pub(crate) async fn check(&self, environment: &'static str, time_limit: Duration) -> Audit {
        let scope = Scope {
            company: &self.company,
            environment,
            since: self.begun,
        };
        audit::agrees(self.victim.program(), &self.time, scope, time_limit).await
    }

    pub(crate) fn kills(&self) -> u32 {
        self.victim.kills
    }

    pub(crate) async fn close(self) {
        self.authority.shutdown().await;
    }
}

/// Issues receipts and waits until they are accepted, before the faults start.
async fn originals(erp: &Erp) -> Vec<Original> {
    let desk = &erp.desk;
    let day = desk.today();
    let issue = async |number: u32| {
        let payload = payload(&desk.caller.rnc, &day, "31", 1_000_000);
        let body = request(&format!("original-{number}"), "31", payload);
        let issued = desk.post(Phase::Sale, "/ecf", &body).await.expect(201);
        erp.books.enter(&body, &issued);
        let accepted = desk.caller.wait_for_state(&issued, proof::FISCAL[0]).await;
        Original {
            encf: accepted["encf"].as_str().unwrap().to_owned(),
            day: day.clone(),
        }
    };
    join_all((0..ORIGINALS).map(issue)).await
}
