//! The states of a receipt: one closed table. Every write of a state is conditional on it, and the public contract
//! prints it.

use std::fmt;
use std::str::FromStr;

use ecf_language::{Bilingual, Say, say};
use thiserror::Error;

/// The state of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ReceiptState {
    /// Stored; a worker will sign it.
    Received,
    /// Stored until it is due.
    Deferred,
    /// Checked and numbered.
    Validated,
    /// Signed: its bytes are frozen.
    Signed,
    /// Held while the tax authority is out of reach.
    Contingency,
    /// Sent, without a verdict.
    Submitted,
    /// Stopped for a reason that an operator or the caller must look at.
    Failed,
    /// Accepted by the tax authority.
    Accepted,
    /// Accepted by the tax authority, with observations.
    ConditionallyAccepted,
    /// Rejected by the tax authority.
    Rejected,
    /// Withdrawn before it was sent.
    Cancelled,
    /// Given up because it cannot be issued electronically.
    Incapacity,
}

/// A name that is not a state; letter case matters.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{given:?} is not a receipt state")]
pub struct UnknownState {
    /// The text as received.
    pub given: String,
}

impl Say for UnknownState {
    fn say(&self) -> Bilingual {
        Bilingual::of(self, format!("{:?} no es un estado de un comprobante", self.given))
    }
}

/// When a transition is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Condition {
    /// Always.
    Always,
    /// For a consumer invoice of which a summary is sent: the verdict comes with the answer.
    Summary,
    /// For a receipt that was never sent.
    NeverSent,
    /// When an operator retries.
    OperatorRetry,
    /// When an operator retries a receipt that was never sent: it starts again, and may be withdrawn again.
    UnsentRetry,
    /// When the tax authority does not know a document to which it gave a track id: it is sent again.
    NotFound,
}

/// A way from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Transition {
    /// The state it leads to.
    pub to: ReceiptState,
    /// When it is open.
    pub condition: Condition,
}

/// Facts about a receipt, besides its state, on which transitions depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Circumstances {
    /// A summary is sent instead.
    pub summary: bool,
    /// It was sent at least once, with any outcome.
    pub sent: bool,
    /// An operator asks.
    pub operator: bool,
    /// The tax authority was asked by number and does not have it.
    pub not_found: bool,
}

impl Condition {
    const fn holds(self, circumstances: Circumstances) -> bool {
        match self {
            Self::Always => true,
            Self::Summary => circumstances.summary,
            Self::NeverSent => !circumstances.sent,
            Self::OperatorRetry => circumstances.operator,
            Self::UnsentRetry => circumstances.operator && !circumstances.sent,
            Self::NotFound => circumstances.not_found,
        }
    }
}

/// The rows of the table.
macro_rules! ways {
    ($($to:ident $(if $condition:ident)?),*) => {
        &[$(Transition { to: ReceiptState::$to, condition: ways!(@ $($condition)?) }),*]
    };
    (@) => { Condition::Always };
    (@ $condition:ident) => { Condition::$condition };
}

impl ReceiptState {
    /// All states, in the order of a receipt's life.
    pub const ALL: [Self; 12] = [
        Self::Received,
        Self::Deferred,
        Self::Validated,
        Self::Signed,
        Self::Contingency,
        Self::Submitted,
        Self::Failed,
        Self::Accepted,
        Self::ConditionallyAccepted,
        Self::Rejected,
        Self::Cancelled,
        Self::Incapacity,
    ];

    /// What a receipt in this state may become.
    pub const fn transitions(self) -> &'static [Transition] {
        match self {
            Self::Received | Self::Deferred => ways![Validated, Failed, Cancelled, Incapacity],
            Self::Validated => ways![Signed, Failed, Cancelled, Incapacity],
            Self::Signed => ways![
                Submitted,
                Contingency,
                Accepted if Summary,
                ConditionallyAccepted if Summary,
                Rejected if Summary,
                Failed,
                Cancelled if NeverSent
            ],
            Self::Contingency => ways![
                Submitted,
                Accepted,
                ConditionallyAccepted,
                Rejected,
                Failed,
                Cancelled if NeverSent,
                Incapacity if NeverSent
            ],
            Self::Submitted => ways![Accepted, ConditionallyAccepted, Rejected, Failed, Signed if NotFound],
            Self::Failed => ways![
                Received if UnsentRetry,
                Signed if OperatorRetry,
                Cancelled if NeverSent,
                Incapacity if NeverSent
            ],
            Self::Accepted | Self::ConditionallyAccepted | Self::Rejected | Self::Cancelled | Self::Incapacity => {
                ways![]
            }
        }
    }

    /// Whether the receipt may become `next` under these circumstances.
    pub fn may_become(self, next: Self, circumstances: Circumstances) -> bool {
        self.transitions()
            .iter()
            .any(|way| way.to == next && way.condition.holds(circumstances))
    }

    /// The states from which a receipt may become this one: the condition of a conditional write.
    pub fn predecessors(self, circumstances: Circumstances) -> impl Iterator<Item = Self> {
        Self::ALL
            .into_iter()
            .filter(move |state| state.may_become(self, circumstances))
    }

    /// Whether nothing follows.
    pub const fn is_final(self) -> bool {
        self.transitions().is_empty()
    }

    /// The public name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Deferred => "deferred",
            Self::Validated => "validated",
            Self::Signed => "signed",
            Self::Contingency => "contingency",
            Self::Submitted => "submitted",
            Self::Failed => "failed",
            Self::Accepted => "accepted",
            Self::ConditionallyAccepted => "conditionally_accepted",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Incapacity => "incapacity",
        }
    }

    /// What kind of state it is, for the public contract.
    const fn kind(self) -> &'static str {
        match self {
            Self::Received | Self::Deferred => "initial",
            Self::Validated | Self::Signed | Self::Submitted => "intermediate",
            Self::Contingency => "waiting",
            Self::Failed => "error",
            Self::Accepted | Self::ConditionallyAccepted | Self::Rejected => "fiscal",
            Self::Cancelled | Self::Incapacity => "withdrawn",
        }
    }
}

impl FromStr for ReceiptState {
    type Err = UnknownState;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|state| state.as_str() == text)
            .ok_or_else(|| UnknownState { given: text.to_owned() })
    }
}

impl fmt::Display for ReceiptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

text_serde!(ReceiptState);

/// The public contract of the states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateContract {
    /// The party that decides about fiscal states.
    pub source_of_truth: Bilingual,
    /// The parties that may change a state.
    pub mutation_policy: Bilingual,
    /// Every state.
    pub states: Vec<StateView>,
    /// Stages beside the states, each with the webhook event that announces it.
    pub event_derived_stages: Vec<EventDerivedStage>,
}

/// One state in the public contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateView {
    /// Its name.
    pub name: ReceiptState,
    /// Its kind.
    pub kind: &'static str,
    /// Whether nothing follows.
    pub terminal: bool,
    /// All states that may follow, under any condition.
    pub transitions: Vec<ReceiptState>,
}

/// A stage that a receipt reaches while its state stays. A webhook event announces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventDerivedStage {
    /// Its name.
    pub name: &'static str,
    /// The webhook event, by the name that a webhook subscribes to.
    pub event: &'static str,
    /// What happened.
    pub description: Bilingual,
}

impl EventDerivedStage {
    /// The buyer approved the receipt.
    pub const BUYER_APPROVED: Self = Self {
        name: "buyer_approved",
        event: "approval.received",
        description: Bilingual::fixed(
            "the buyer approved the receipt commercially (ACECF)",
            "el comprador dio su aprobación comercial (ACECF)",
        ),
    };
    /// The buyer rejected the receipt.
    pub const BUYER_REJECTED: Self = Self {
        name: "buyer_rejected",
        event: "approval.received",
        description: Bilingual::fixed(
            "the buyer rejected the receipt commercially (ACECF)",
            "el comprador dio su rechazo comercial (ACECF)",
        ),
    };

    /// A webhook of the company accepted the event of the verdict. `None` for a state without a verdict.
    pub const fn notified(state: ReceiptState) -> Option<Self> {
        let description = match state {
            ReceiptState::Accepted => Bilingual::fixed(
                "a webhook of the company took the event of the acceptance",
                "un webhook de la empresa recibió el evento de la aceptación",
            ),
            ReceiptState::ConditionallyAccepted => Bilingual::fixed(
                "a webhook of the company took the event of the conditional acceptance",
                "un webhook de la empresa recibió el evento de la aceptación condicional",
            ),
            ReceiptState::Rejected => Bilingual::fixed(
                "a webhook of the company took the event of the rejection",
                "un webhook de la empresa recibió el evento del rechazo",
            ),
            _ => return None,
        };
        Some(Self {
            name: "notified",
            event: state.as_str(),
            description,
        })
    }

    /// Every stage, in the order in which a receipt reaches them.
    pub fn all() -> impl Iterator<Item = Self> {
        let notified = ReceiptState::ALL.into_iter().filter_map(Self::notified);
        notified.chain([Self::BUYER_APPROVED, Self::BUYER_REJECTED])
    }
}

impl ReceiptState {
    /// The table as it is published.
    pub fn contract() -> StateContract {
        let states = Self::ALL.into_iter().map(|state| StateView {
            name: state,
            kind: state.kind(),
            terminal: state.is_final(),
            transitions: state.transitions().iter().map(|way| way.to).collect(),
        });
        StateContract {
            source_of_truth: say!("the tax authority", "la DGII"),
            mutation_policy: say!(
                "only the service moves states, except for cancel and incapacity, which the caller asks for",
                "solo el servicio cambia los estados, salvo la cancelación y la incapacidad, que se piden por la API"
            ),
            states: states.collect(),
            event_derived_stages: EventDerivedStage::all().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_whole_table_is_as_it_was_designed() {
        let printed: Vec<String> = ReceiptState::ALL
            .into_iter()
            .map(|state| {
                let ways: Vec<String> = state
                    .transitions()
                    .iter()
                    .map(|way| match way.condition {
                        Condition::Always => way.to.to_string(),
                        condition => format!("{} ({condition:?})", way.to),
                    })
                    .collect();
                format!("{state}: {}", ways.join(", "))
            })
            .collect();
        assert_eq!(
            printed,
            [
                "received: validated, failed, cancelled, incapacity",
                "deferred: validated, failed, cancelled, incapacity",
                "validated: signed, failed, cancelled, incapacity",
                "signed: submitted, contingency, accepted (Summary), conditionally_accepted (Summary), \
                 rejected (Summary), failed, cancelled (NeverSent)",
                "contingency: submitted, accepted, conditionally_accepted, rejected, failed, \
                 cancelled (NeverSent), incapacity (NeverSent)",
                "submitted: accepted, conditionally_accepted, rejected, failed, signed (NotFound)",
                "failed: received (UnsentRetry), signed (OperatorRetry), cancelled (NeverSent), incapacity (NeverSent)",
                "accepted: ",
                "conditionally_accepted: ",
                "rejected: ",
                "cancelled: ",
                "incapacity: ",
            ]
        );
    }

    #[test]
    fn conditions_open_and_close_a_way() {
        use ReceiptState::{Accepted, Cancelled, Failed, Received, Signed, Submitted};
        let plain = Circumstances::default();
        assert!(!Signed.may_become(Accepted, plain));
        assert!(Signed.may_become(Accepted, Circumstances { summary: true, ..plain }));
        assert!(Signed.may_become(Cancelled, plain));
        assert!(!Signed.may_become(Cancelled, Circumstances { sent: true, ..plain }));
        assert!(!Failed.may_become(Received, plain));
        assert!(Failed.may_become(
            Received,
            Circumstances {
                operator: true,
                ..plain
            }
        ));
        assert!(!Submitted.may_become(Signed, plain));
        assert!(Submitted.may_become(
            Signed,
            Circumstances {
                not_found: true,
                ..plain
            }
        ));
        let before: Vec<_> = Submitted.predecessors(plain).collect();
        assert_eq!(before, [Signed, ReceiptState::Contingency]);
    }

    /// An event in the life of a receipt: the next state, whether an operator asks, whether the authority does not know
    /// it.
    fn anything() -> impl Strategy<Value = (ReceiptState, bool, bool)> {
        (
            proptest::sample::select(&ReceiptState::ALL[..]),
            any::<bool>(),
            any::<bool>(),
        )
    }

    proptest! {
        /// For any events in any order: a final state does not change, a sent receipt is not withdrawn, only an
        /// operator brings a failed receipt back, and `predecessors` agrees with `may_become`.
        #[test]
        fn no_row_of_events_leads_out_of_the_table(
            first in proptest::sample::select(vec![ReceiptState::Received, ReceiptState::Deferred, ReceiptState::Signed]),
            summary in any::<bool>(),
            events in proptest::collection::vec(anything(), 0..60),
        ) {
            use ReceiptState::{Cancelled, Failed, Incapacity, Submitted};
            let mut state = first;
            let mut sent = false;
            for (next, operator, not_found) in events {
                let circumstances = Circumstances { summary, sent, operator, not_found };
                let is_open = state.may_become(next, circumstances);
                prop_assert_eq!(is_open, next.predecessors(circumstances).any(|before| before == state));
                if !is_open {
                    continue;
                }
                prop_assert!(!state.is_final(), "{} became {}", state, next);
                prop_assert!(!(sent && [Cancelled, Incapacity].contains(&next)), "{} was sent and became {}", state, next);
                prop_assert!(state != Failed || operator || [Cancelled, Incapacity].contains(&next));
                sent |= next == Submitted;
                state = next;
            }
            prop_assert!(may_end(state, Circumstances { summary, sent, operator: true, not_found: false }), "{} is a dead end", state);
        }
    }

    /// Whether a final state can be reached from this one.
    fn may_end(state: ReceiptState, circumstances: Circumstances) -> bool {
        let mut reached = vec![state];
        let mut looked_at = 0;
        while let Some(state) = reached.get(looked_at).copied() {
            let next = ReceiptState::ALL
                .into_iter()
                .filter(|next| state.may_become(*next, circumstances));
            let new: Vec<_> = next.filter(|next| !reached.contains(next)).collect();
            reached.extend(new);
            looked_at += 1;
        }
        reached.into_iter().any(ReceiptState::is_final)
    }

    #[test]
    fn states_are_read_back_from_their_names() {
        for state in ReceiptState::ALL {
            assert_eq!(state.as_str().parse(), Ok(state));
        }
        assert!("Accepted".parse::<ReceiptState>().is_err());
    }

    #[test]
    fn the_contract_has_its_public_shape() {
        let contract = ReceiptState::contract();
        assert_eq!(contract.states[9].name, ReceiptState::Rejected);
        assert!(contract.states[9].terminal);
        assert_eq!(contract.states[5].transitions[1], ReceiptState::ConditionallyAccepted);
        assert_eq!(contract.event_derived_stages[0].name, "notified");
    }
}
