//! Random interleavings of all events of a receipt: in any order, its record stays within the table of states, a final
//! state does not change, and no two workers send one document.
//!
//! Workers act on what they have read, which may be outdated; each action is one conditional write, so a sequence of
//! such steps is any interleaving of them. `STATES_SEED` and `STATES_WALKS` select other walks; a failure prints its
//! seed and its steps.

mod events;
mod promises;

use std::collections::BTreeMap;

use ecf::ReceiptState;
use ecf_store::{
    Receipt,
    receipts::{Created, NewNote, NewReceipt},
};
use jiff::{SignedDuration, Timestamp};

use self::events::Event;
use self::promises::Promises;
use crate::support::{App, app, new_receipt, noon};

const WALKS: u64 = 8;
const STEPS: u32 = 60;

/// Repeatable random numbers (SplitMix64).
#[derive(Debug)]
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn is_one_of(&mut self, sides: u64) -> bool {
        self.below(sides) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[usize::try_from(self.below(from.len() as u64)).unwrap()]
    }
}

#[expect(clippy::disallowed_methods, reason = "a run by hand chooses its own walks")]
fn of_environment(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[tokio::test]
async fn no_interleaving_of_events_leads_a_receipt_out_of_the_table() {
    let app = app("interleavings").await;
    let seed = of_environment("STATES_SEED", 20_261_128);
    let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in (seed..).take(usize::try_from(of_environment("STATES_WALKS", WALKS)).unwrap()) {
        for state in Walk::begin(&app, seed).await.run().await {
            *ends.entry(state.as_str()).or_default() += 1;
        }
    }
    eprintln!("where the walks ended: {ends:?}");
    // Walks without final states would prove little.
    for state in [
        "accepted",
        "conditionally_accepted",
        "rejected",
        "cancelled",
        "incapacity",
    ] {
        assert!(ends.contains_key(state), "no walk ended {state}: {ends:?}");
    }
}

fn number(ecf_type: &str, seed: u64, place: usize) -> String {
    format!("E{ecf_type}{:010}", seed % 100_000_000 * 10 + place as u64 + 1)
}

/// An invoice, notes on it, and a stored receipt without a signature.
struct Walk<'a> {
    app: &'a App,
    rng: Rng,
    seed: u64,
    now: Timestamp,
    steps: Vec<String>,
    lives: Vec<Life>,
}

/// One receipt, and its earlier states.
struct Life {
    /// The record after the last step.
    record: Receipt,
    /// The records that workers have read.
    seen: Vec<Receipt>,
    promises: Promises,
}

impl<'a> Walk<'a> {
    async fn begin(app: &'a App, seed: u64) -> Self {
        let mut walk = Self {
            app,
            rng: Rng(seed),
            seed,
            now: noon(),
            steps: Vec::new(),
            lives: Vec::new(),
        };
        let invoice = walk.plain("31", "1180.00");
        walk.be_born(invoice).await;
        for (ecf_type, amount, annuls) in [("34", "300.00", false), ("34", "1180.00", true), ("33", "50.00", false)] {
            let note = walk.note(ecf_type, amount, annuls);
            walk.be_born(note).await;
        }
        let kept = NewReceipt {
            signed: None,
            state: *walk.rng.pick(&[ReceiptState::Received, ReceiptState::Deferred]),
            ..walk.plain("44", "500.00")
        };
        walk.be_born(kept).await;
        walk
    }

    fn plain(&mut self, ecf_type: &str, amount: &str) -> NewReceipt {
        let place = self.lives.len();
        let mut new = new_receipt(
            &self.app.scope,
            &format!("{}-{place}", self.seed),
            &self.number(ecf_type),
        );
        amount.clone_into(&mut new.monto_total);
        // One in three is sent as a summary, whose verdict comes with the answer.
        if self.rng.is_one_of(3) {
            let signed = new.signed.as_mut().unwrap();
            signed.rfce = Some(signed.signed_xml);
        }
        new
    }

    fn note(&mut self, ecf_type: &str, amount: &str, annuls: bool) -> NewReceipt {
        let modified = &self.lives[0].record;
        let note = NewNote {
            modifies: *modified.encf().unwrap(),
            annuls,
            awaits_invoice: false,
            amount: amount.parse().unwrap(),
            owner: modified.public_id,
            monto_total: modified.fiscal.monto_total.parse().unwrap(),
        };
        let held = self.rng.is_one_of(2);
        NewReceipt {
            note: Some(NewNote {
                awaits_invoice: held,
                ..note
            }),
            ..self.plain(ecf_type, amount)
        }
    }

    /// The number of the next receipt; it is unique over all walks.
    fn number(&self, ecf_type: &str) -> String {
        number(ecf_type, self.seed, self.lives.len())
    }

    /// The number that a receipt has, or would have.
    fn number_of(&self, place: usize) -> String {
        number(self.lives[place].record.fiscal.ecf_type.as_str(), self.seed, place)
    }

    /// A note that the invoice does not cover is not created.
    async fn be_born(&mut self, new: NewReceipt) {
        match self.app.table.create_receipt(&self.app.scope, new).await.unwrap() {
            Created::New(record) => self.lives.push(Life {
                seen: vec![record.clone()],
                record,
                promises: Promises::default(),
            }),
            Created::ModifiedChanged => {}
            other => panic!("{other:?}"),
        }
    }

    /// The final state of each receipt.
    async fn run(mut self) -> Vec<ReceiptState> {
        for _ in 0..STEPS {
            self.now += SignedDuration::from_secs(*self.rng.pick(&[0, 1, 30, 61, 95, 700]));
            let place = usize::try_from(self.rng.below(self.lives.len() as u64)).unwrap();
            let event = *self.rng.pick(&Event::ALL);
            self.steps.push(format!("{} receipt {place}: {event:?}", self.now));
            let told = self.happen(place, event).await;
            self.look(place, event, told).await;
        }
        self.lives.into_iter().map(|life| life.record.state).collect()
    }

    /// A worker's copy of a receipt: often the newest, sometimes an old one.
    fn view(&mut self, place: usize) -> Receipt {
        let life = &self.lives[place];
        match self.rng.is_one_of(3) {
            true => self.rng.pick(&life.seen).clone(),
            false => life.record.clone(),
        }
    }
}
