//! What a subscriber may ask for, and which events it gets.

use std::fmt;
use std::str::FromStr;

use ecf::ReceiptState;
use ecf_language::{Bilingual, Say};

use crate::event::{Audience, EventName};

/// Names of steps that are not fiscal states: a subscriber may name them, and gets no event for them.
const NEVER_DELIVERED: [&str; 2] = ["signed", "submitted"];

/// Wildcards that mean the three fiscal states.
const FISCAL_WILDCARDS: [&str; 2] = ["*", "ecf.*"];

/// Wildcards for notices of the authority, of which there are none; two spellings of its name.
const NOTICE_WILDCARDS: [&str; 2] = ["taxauth.*", "dgii.*"];

impl EventName {
    /// Its name in subscriptions, payloads and the `X-ECF-Event` header.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.declaration().name
    }

    /// The event of reaching a state; only final fiscal states have one.
    #[must_use]
    pub fn of_state(state: ReceiptState) -> Option<Self> {
        match state {
            ReceiptState::Accepted => Some(Self::Accepted),
            ReceiptState::ConditionallyAccepted => Some(Self::ConditionallyAccepted),
            ReceiptState::Rejected => Some(Self::Rejected),
            _ => None,
        }
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that is not an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not an event that is delivered")]
pub struct NotAnEvent {
    /// What was given.
    pub given: String,
}

impl Say for NotAnEvent {
    fn say(&self) -> Bilingual {
        Bilingual::of(self, format!("`{}` no es un evento que se entrega", self.given))
    }
}

impl FromStr for EventName {
    type Err = NotAnEvent;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|event| event.as_str() == text)
            .ok_or_else(|| NotAnEvent { given: text.to_owned() })
    }
}

/// Whether who subscribed to these names gets that event.
///
/// `*` and `ecf.*` mean the three fiscal states; anything beyond them comes only to those who name it in full.
#[must_use]
pub fn matches<S: AsRef<str>>(subscribed: &[S], event: EventName) -> bool {
    subscribed.iter().map(AsRef::as_ref).any(|name| {
        name == event.as_str()
            || (event.declaration().audience == Audience::Wildcards && FISCAL_WILDCARDS.contains(&name))
    })
}

/// The names that a webhook is subscribed to: each known, none twice, in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription(Vec<String>);

/// What is wrong with a list of names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SubscriptionError {
    /// The list is empty: such a webhook would never hear anything.
    #[error("at least one event is needed")]
    Empty,
    /// An element is not a name we know.
    #[error("`{given}` is not one of {}", Subscription::known().collect::<Vec<_>>().join(", "))]
    Unknown {
        /// Its place in the list.
        index: usize,
        /// What was given.
        given: String,
    },
}

impl Say for SubscriptionError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Empty => "se necesita al menos un evento".to_owned(),
            Self::Unknown { given, .. } => {
                format!(
                    "`{given}` no es uno de {}",
                    Subscription::known().collect::<Vec<_>>().join(", ")
                )
            }
        };
        Bilingual::of(self, spanish)
    }
}

impl Subscription {
    /// Every name that can be subscribed to.
    pub fn known() -> impl Iterator<Item = &'static str> {
        EventName::ALL
            .into_iter()
            .map(EventName::as_str)
            .chain(NEVER_DELIVERED)
            .chain(FISCAL_WILDCARDS)
            .chain(NOTICE_WILDCARDS)
    }

    /// Reads a list of names.
    ///
    /// # Errors
    /// All that is wrong with it, in the order of the list.
    pub fn parse<S: AsRef<str>>(names: &[S]) -> Result<Self, Vec<SubscriptionError>> {
        if names.is_empty() {
            return Err(vec![SubscriptionError::Empty]);
        }
        let mut subscribed: Vec<String> = Vec::with_capacity(names.len());
        let mut errors = Vec::new();
        for (index, given) in names.iter().map(AsRef::as_ref).enumerate() {
            if !Self::known().any(|known| known == given) {
                errors.push(SubscriptionError::Unknown {
                    index,
                    given: given.to_owned(),
                });
            } else if !subscribed.iter().any(|name| name == given) {
                subscribed.push(given.to_owned());
            }
        }
        if errors.is_empty() {
            Ok(Self(subscribed))
        } else {
            Err(errors)
        }
    }

    /// The names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.0
    }

    /// The names, to be stored.
    #[must_use]
    pub fn into_names(self) -> Vec<String> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_mean_the_fiscal_states_and_nothing_else() {
        use EventName::{
            Accepted, ConditionallyAccepted, Failed, Rejected, SequenceExpiring, SequenceLow, Test, WebhookPaused,
        };
        let fiscal: &[EventName] = &[Accepted, ConditionallyAccepted, Rejected];
        let cases: &[(&[&str], &[EventName])] = &[
            (&["*"], fiscal),
            (&["ecf.*"], fiscal),
            (&["taxauth.*"], &[]),
            (&["dgii.*"], &[]),
            (&["taxauth.*", "rejected"], &[Rejected]),
            (&["signed", "submitted"], &[]),
            (&["failed"], &[Failed]),
            (&["accepted"], &[Accepted]),
            (
                &["accepted", "conditionally_accepted"],
                &[Accepted, ConditionallyAccepted],
            ),
            (&["webhook.test"], &[Test]),
            (
                &["*", "webhook.test"],
                &[Accepted, ConditionallyAccepted, Rejected, Test],
            ),
            (
                &["sequence.low", "sequence.expiring", "webhook.paused"],
                &[SequenceLow, SequenceExpiring, WebhookPaused],
            ),
            (&["sequence.low"], &[SequenceLow]),
            (&[], &[]),
            (&["Accepted", "ecf.accepted", "accept*"], &[]),
        ];
        for (subscribed, expected) in cases {
            let heard: Vec<_> = EventName::ALL
                .into_iter()
                .filter(|event| matches(subscribed, *event))
                .collect();
            assert_eq!(&heard, expected, "{subscribed:?}");
        }
    }

    #[test]
    fn a_name_given_twice_is_kept_once_in_its_first_place() {
        let subscription = Subscription::parse(&["rejected", "*", "rejected"]).unwrap();
        assert_eq!(subscription.into_names(), ["rejected", "*"]);
    }

    #[test]
    fn every_unknown_name_is_reported_with_its_place() {
        let errors = Subscription::parse(&["acepted", "accepted", "ECF.*"]).unwrap_err();
        assert_eq!(
            errors,
            [
                SubscriptionError::Unknown {
                    index: 0,
                    given: "acepted".into()
                },
                SubscriptionError::Unknown {
                    index: 2,
                    given: "ECF.*".into()
                }
            ]
        );
        assert!(errors[0].to_string().starts_with("`acepted` is not one of accepted, "));
        assert_eq!(Subscription::parse::<&str>(&[]), Err(vec![SubscriptionError::Empty]));
    }

    #[test]
    fn only_final_fiscal_states_have_an_event() {
        assert_eq!(EventName::of_state(ReceiptState::Accepted), Some(EventName::Accepted));
        assert_eq!(EventName::of_state(ReceiptState::Rejected), Some(EventName::Rejected));
        for state in [
            ReceiptState::Signed,
            ReceiptState::Submitted,
            ReceiptState::Failed,
            ReceiptState::Cancelled,
        ] {
            assert_eq!(EventName::of_state(state), None);
        }
    }

    #[test]
    fn b4_every_stage_names_an_event_that_can_be_subscribed_to() {
        let events: Vec<&str> = ecf::EventDerivedStage::all().map(|stage| stage.event).collect();
        assert!(!events.is_empty());
        for event in &events {
            assert!(event.parse::<EventName>().is_ok(), "{event}");
        }
        Subscription::parse(&events).unwrap();
    }

    #[test]
    fn names_read_back_as_events() {
        for event in EventName::ALL {
            assert_eq!(event.as_str().parse(), Ok(event));
        }
        assert!("signed".parse::<EventName>().is_err());
    }
}
