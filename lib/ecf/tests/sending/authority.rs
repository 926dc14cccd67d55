//! A small tax authority: copies of one document, each judged as it arrives. The first one uses the number.

use ecf::sending::{Finding, Grounds, Judgement};
use jiff::Timestamp;

use crate::receipt::Receipt;

#[derive(Debug)]
struct Document {
    track_id: String,
    judgement: Judgement,
    /// When look-ups and questions begin to see it. `None`: it is lost.
    visible_at: Option<Timestamp>,
}

#[derive(Debug)]
pub(crate) struct Authority {
    documents: Vec<Document>,
    /// Whether another system used the number before.
    is_number_foreign: bool,
}

impl Authority {
    pub(crate) fn new(is_number_foreign: bool) -> Self {
        Self {
            documents: Vec::new(),
            is_number_foreign,
        }
    }

    pub(crate) fn is_number_used(&self) -> bool {
        self.is_number_foreign || self.documents.iter().any(|document| document.visible_at.is_some())
    }

    /// Takes a copy, and gives its track id and what it will be judged.
    pub(crate) fn take(&mut self, judgement: Judgement, visible_at: Option<Timestamp>) -> (String, Judgement) {
        let already_used = Judgement::Rejected {
            secuencia_utilizada: None,
            grounds: Grounds::AlreadyUsed,
        };
        let judgement = if self.is_number_used() { already_used } else { judgement };
        let track_id = format!("T{}", self.documents.len());
        self.documents.push(Document {
            track_id: track_id.clone(),
            judgement,
            visible_at,
        });
        (track_id, judgement)
    }

    fn visible(&self, now: Timestamp) -> impl DoubleEndedIterator<Item = &Document> {
        self.documents
            .iter()
            .filter(move |document| document.visible_at.is_some_and(|at| at <= now))
    }

    pub(crate) fn verdict(&self, track_id: &str, now: Timestamp) -> Judgement {
        let found = self.visible(now).find(|document| document.track_id == track_id);
        found.map_or(Judgement::NotFound, |document| document.judgement)
    }

    /// What a look-up by number finds of our documents.
    pub(crate) fn look_up(&self, receipt: &Receipt, now: Timestamp) -> Finding<&'static str> {
        if receipt.is_summary {
            return match self.visible(now).find(|document| is_first(document)) {
                Some(document) => Finding::Judged(document.judgement, "found", None),
                None => Finding::Nothing,
            };
        }
        if self.is_number_foreign {
            // The list has the other system's document, and the state of the number says that its bytes are not ours.
            return Finding::OtherBytes;
        }
        let others = || {
            self.visible(now)
                .filter(|document| Some(&document.track_id) != receipt.track_id.as_ref())
        };
        let first = others().find(|document| is_first(document));
        match first.or_else(|| others().next_back()) {
            Some(document) => Finding::Track(document.track_id.clone()),
            None => Finding::Nothing,
        }
    }

    /// The same for a receipt whose track id is not found.
    pub(crate) fn look_up_missing(&self, receipt: &Receipt, now: Timestamp) -> Finding<&'static str> {
        let own = receipt.track_id.as_deref().map(|track_id| self.verdict(track_id, now));
        match own {
            Some(judgement) if judgement != Judgement::NotFound => Finding::Judged(judgement, "found", None),
            _ => self.look_up(receipt, now),
        }
    }

    pub(crate) fn has_lost(&self, track_id: &str) -> bool {
        let of_track = |document: &&Document| document.track_id == track_id;
        self.documents
            .iter()
            .find(of_track)
            .is_some_and(|document| document.visible_at.is_none())
    }

    /// Whether one of our copies is accepted.
    pub(crate) fn has_accepted(&self) -> bool {
        let is_accepted = |judgement| matches!(judgement, Judgement::Accepted | Judgement::ConditionallyAccepted);
        self.documents
            .iter()
            .any(|document| document.visible_at.is_some() && is_accepted(document.judgement))
    }
}

/// Whether the document was judged on its merits.
fn is_first(document: &Document) -> bool {
    let already_used = |judgement| {
        matches!(
            judgement,
            Judgement::Rejected {
                grounds: Grounds::AlreadyUsed,
                ..
            }
        )
    };
    !already_used(document.judgement)
}
