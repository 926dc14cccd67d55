//! Commercial approvals (ACECF): the company's answers to received receipts, and approvals that it forwards.
//!
//! An approval is stored before it is sent. Each of its two recipients, the issuer and the tax authority, has its own
//! state; while one is open, the record is on the due index. A company has one answer per receipt: the lock of the
//! answer is written in the same transaction. Another answer replaces it only on the caller's request: when the
//! authority did not accept the first, or a new attempt of the certification began.
//!
//! A second item places each approval in the list of all, sorted by time.

use ecf::{Encf, Rnc, catalogue::EstadoAprobacion};
use jiff::{SignedDuration, Timestamp};

use super::{
    Query, Sort, Table,
    change::Change,
    condition::{absent, at_most, equals, exists},
    due::SHARDS,
    item::{NewItem, Stored, bytes, flag, instant, number, text},
    keys::{self, DUE, SK},
    receipts::Span,
    write::{Part, Transacted},
};
use crate::{
    ContentHash, ForeignText, StoreError, Words,
    ids::{ApprovalId, Scope},
};

/// When housekeeping first looks at an approval whose request died.
const FIRST_LOOK: SignedDuration = SignedDuration::from_mins(2);

const WAY: &str = "way";
const IDEMPOTENCY_KEY: &str = "key";
const RNC_EMISOR: &str = "rnc_emisor";
const RNC_COMPRADOR: &str = "rnc_comprador";
const ENCF: &str = "encf";
const ESTADO: &str = "estado";
const REASON: &str = "reason";
const ACECF: &str = "acecf";
const RECEIVER_URL: &str = "receiver_url";
const RECEIPT_UNKNOWN: &str = "receipt_unknown";
const CREATED_AT: &str = "created_at";
const ISSUER: Attributes = ["issuer", "issuer_words", "issuer_words_es", "issuer_at"];
const AUTHORITY: Attributes = ["authority", "authority_words", "authority_words_es", "authority_at"];
/// State, words in both languages, time.
type Attributes = [&'static str; 4];
const AUTHORITY_ANSWER: &str = "authority_answer";
const ATTEMPTS: &str = "attempts";
const LEASE: &str = "lu";
const ID: &str = "id";

/// The origin of an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalWay {
    /// The company's own, made and signed here.
    Submit,
    /// The company's own, signed elsewhere.
    Outbound,
    /// Another taxpayer's, to be forwarded.
    Inbound,
}

impl ApprovalWay {
    const ALL: [Self; 3] = [Self::Submit, Self::Outbound, Self::Inbound];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Submit => "submit",
            Self::Outbound => "outbound",
            Self::Inbound => "inbound",
        }
    }
}

/// The state of sending an approval to one of its recipients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransmissionState {
    /// Not sent yet; it is retried.
    Pending,
    /// Sent and accepted.
    Taken,
    /// Sent and rejected.
    Refused,
    /// The recipient has no address in the directory.
    NotListed,
    /// It need not be sent.
    NotNeeded,
    /// It could not be sent for days.
    GivenUp,
}

impl TransmissionState {
    const ALL: [Self; 6] = [
        Self::Pending,
        Self::Taken,
        Self::Refused,
        Self::NotListed,
        Self::NotNeeded,
        Self::GivenUp,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Taken => "taken",
            Self::Refused => "refused",
            Self::NotListed => "not_listed",
            Self::NotNeeded => "not_needed",
            Self::GivenUp => "given_up",
        }
    }
}

/// The state of one of the two recipients of an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transmission {
    pub state: TransmissionState,
    /// The recipient's answer, or the reason why there is none.
    pub words: Option<Words>,
    /// The time of this state.
    pub at: Option<Timestamp>,
}

impl Transmission {
    /// The initial state.
    pub const PENDING: Self = Self {
        state: TransmissionState::Pending,
        words: None,
        at: None,
    };

    /// A recipient that does not need the approval, and the reason.
    pub fn not_needed(words: impl Into<Words>, at: Timestamp) -> Self {
        Self {
            state: TransmissionState::NotNeeded,
            words: Some(words.into()),
            at: Some(at),
        }
    }

    pub fn is_pending(&self) -> bool {
        self.state == TransmissionState::Pending
    }
}

/// An approval or rejection and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub id: ApprovalId,
    pub way: ApprovalWay,
    pub idempotency_key: String,
    pub rnc_emisor: Rnc,
    pub rnc_comprador: Rnc,
    pub encf: Encf,
    pub estado: EstadoAprobacion,
    pub reason: Option<ForeignText>,
    /// The signed message.
    pub acecf: ContentHash,
    /// The address of the issuer, if the caller gave it; otherwise the directory's is used.
    pub receiver_url: Option<String>,
    /// The company issued the receipt elsewhere, so it is unknown here.
    pub receipt_unknown: bool,
    pub created_at: Timestamp,
    pub issuer: Transmission,
    pub authority: Transmission,
    /// The authority's answer as JSON text.
    pub authority_answer: Option<String>,
    /// The number of attempts that were started.
    pub attempts: u32,
    /// The next look by housekeeping; absent when both recipients have it.
    pub next_action_at: Option<Timestamp>,
}

impl Approval {
    /// `approved` or `rejected`.
    pub fn answer(&self) -> &'static str {
        match self.estado {
            EstadoAprobacion::Aceptado => "approved",
            EstadoAprobacion::Rechazado => "rejected",
        }
    }
}

/// The result of storing an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalCreated {
    New,
    /// The idempotency key already has this approval.
    Replay(Box<Approval>),
    /// The company has answered the receipt already, with this approval.
    Answered(ApprovalId),
}

/// A company's answer to a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivenAnswer {
    pub approval: ApprovalId,
    pub estado: EstadoAprobacion,
    /// The signed message, stored under the approval's id.
    pub acecf: ContentHash,
    pub created_at: Timestamp,
}

impl Table {
    /// Stores an approval before it is sent. With `is_ours` it is the company's own answer, of which a receipt has one.
    /// Its message is in the bucket already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn create_approval(
        &self,
        scope: &Scope,
        new: &Approval,
        is_ours: bool,
    ) -> Result<ApprovalCreated, StoreError> {
        let answer = is_ours.then(|| {
            let lock = NewItem::new(&keys::given_answer(scope, &new.rnc_emisor, &new.encf))
                .with(ID, text(new.id))
                .with(ESTADO, text(new.estado))
                .with(ACECF, bytes(new.acecf))
                .with(CREATED_AT, instant(new.created_at));
            Part::PutNew(lock.build())
        });
        self.create_with(scope, new, answer).await
    }

    /// Stores the company's own answer in place of an earlier one, which stays readable by its id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn replace_answer(
        &self,
        scope: &Scope,
        new: &Approval,
        earlier: &GivenAnswer,
    ) -> Result<ApprovalCreated, StoreError> {
        let answer = Change::of(keys::given_answer(scope, &new.rnc_emisor, &new.encf))
            .set(ID, text(new.id))
            .set(ESTADO, text(new.estado))
            .set(ACECF, bytes(new.acecf))
            .set(CREATED_AT, instant(new.created_at))
            .when(equals(ID, text(earlier.approval)));
        self.create_with(scope, new, Some(Part::Update(answer))).await
    }

    async fn create_with(
        &self,
        scope: &Scope,
        new: &Approval,
        answer: Option<Part>,
    ) -> Result<ApprovalCreated, StoreError> {
        let listed = NewItem::new(&keys::listed_approval(scope, new.created_at, &new.id)).build();
        let mut parts = vec![Part::PutNew(item(scope, new)), Part::PutNew(listed)];
        parts.extend(answer);
        match self.transact("create approval", parts).await {
            Ok(Transacted::Done) => Ok(ApprovalCreated::New),
            Ok(Transacted::Refused(_)) => {
                if let Some(existing) = self.approval(scope, &new.id).await? {
                    return Ok(ApprovalCreated::Replay(Box::new(existing)));
                }
                let given = self.given_answer(scope, &new.rnc_emisor, &new.encf).await?;
                let given = given.ok_or_else(|| StoreError::retry("create approval", "what was in the way is gone"))?;
                Ok(ApprovalCreated::Answered(given.approval))
            }
            // Perhaps only the answer was lost.
            Err(error) if error.is_retryable() => match self.approval(scope, &new.id).await? {
                Some(existing) if existing.acecf == new.acecf => Ok(ApprovalCreated::New),
                Some(existing) => Ok(ApprovalCreated::Replay(Box::new(existing))),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// A page of approvals, newest first, and their total.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn approvals(
        &self,
        scope: &Scope,
        limit: usize,
        offset: usize,
    ) -> Result<(Vec<Approval>, usize), StoreError> {
        let query = Query {
            newest_first: true,
            consistent: true,
            ..Query::of(keys::approvals_partition(scope))
        };
        let total = self.count_items("count approvals", &query).await?;
        if offset >= total || limit == 0 {
            return Ok((Vec::new(), total));
        }
        let query = Query {
            limit: Some(offset.saturating_add(limit)),
            ..query
        };
        let listed = self.query("list approvals", query).await?;
        let page = listed.iter().skip(offset).take(limit);
        Ok((self.listed_approvals(scope, page).await?, total))
    }

    /// The approvals that were created within the span, oldest first: at most `limit` after `after`.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn walk_approvals(
        &self,
        scope: &Scope,
        span: &Span,
        after: Option<&Approval>,
        limit: usize,
    ) -> Result<Vec<Approval>, StoreError> {
        let query = Query {
            limit: Some(limit),
            ..approvals_within(scope, span, after)
        };
        let listed = self.query("walk approvals", query).await?;
        self.listed_approvals(scope, listed.iter().take(limit)).await
    }

    /// The number of approvals that were created within the span.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn count_approvals(&self, scope: &Scope, span: &Span) -> Result<usize, StoreError> {
        let query = approvals_within(scope, span, None);
        self.count_items("count approvals", &query).await
    }

    async fn listed_approvals(
        &self,
        scope: &Scope,
        listed: impl Iterator<Item = &Stored>,
    ) -> Result<Vec<Approval>, StoreError> {
        let mut ids = Vec::new();
        for place in listed {
            let id = keys::listed_approval_id(place.sk()?);
            ids.push(id.ok_or_else(|| place.corrupt(SK, "names no approval"))?);
        }
        // Both items are written in one transaction.
        self.approvals_by_ids(scope, &ids).await
    }

    /// The approvals with these ids, in their order; missing approvals are omitted.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn approvals_by_ids(&self, scope: &Scope, ids: &[ApprovalId]) -> Result<Vec<Approval>, StoreError> {
        let keys = ids.iter().map(|id| keys::approval(scope, id));
        let found = self.read_many("read approvals", keys, true).await?;
        let read = |id: &ApprovalId| Some(read(*id, found.get(&keys::approval(scope, id))?));
        ids.iter().filter_map(read).collect()
    }

    /// The approval with this id.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn approval(&self, scope: &Scope, id: &ApprovalId) -> Result<Option<Approval>, StoreError> {
        let stored = self.read("read approval", &keys::approval(scope, id)).await?;
        stored.as_ref().map(|stored| read(*id, stored)).transpose()
    }

    /// The company's answer to a received receipt.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn given_answer(
        &self,
        scope: &Scope,
        rnc_emisor: &Rnc,
        encf: &Encf,
    ) -> Result<Option<GivenAnswer>, StoreError> {
        let key = keys::given_answer(scope, rnc_emisor, encf);
        let stored = self.read("read given answer", &key).await?;
        stored.as_ref().map(read_given).transpose()
    }

    /// The answers to a page of receipts, in their order.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn given_answers(
        &self,
        scope: &Scope,
        receipts: Vec<(Rnc, Encf)>,
    ) -> Result<Vec<Option<GivenAnswer>>, StoreError> {
        let keys = receipts
            .iter()
            .map(|(rnc_emisor, encf)| keys::given_answer(scope, rnc_emisor, encf));
        let keys: Vec<_> = keys.collect();
        let found = self.read_many("read given answers", keys.iter().cloned(), true).await?;
        let given = |key| found.get(key).map(read_given).transpose();
        keys.iter().map(given).collect()
    }

    /// Claims the next attempt until the lease ends. Returns `false` when another worker has it.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn claim_approval(
        &self,
        scope: &Scope,
        seen: &Approval,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::approval(scope, &seen.id))
            .set(ATTEMPTS, number(seen.attempts.saturating_add(1)))
            .set(LEASE, instant(until))
            .set(DUE.sk, text(keys::due_sort(until)))
            .when(exists(DUE.sk))
            .when(equals(ATTEMPTS, number(seen.attempts)))
            .when(absent(LEASE).or(at_most(LEASE, instant(now))));
        self.applied("claim approval", change).await
    }

    /// Records the result of an attempt and the time of the next one; `None` means that it was the last. Returns
    /// `false` when a later attempt has started.
    ///
    /// # Errors
    /// Fails when DynamoDB fails.
    pub async fn record_approval(
        &self,
        scope: &Scope,
        approval: &Approval,
        next: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let change = Change::of(keys::approval(scope, &approval.id)).remove(&[LEASE]);
        let change = set_transmission(
            set_transmission(change, ISSUER, &approval.issuer),
            AUTHORITY,
            &approval.authority,
        )
        .set_or_remove(AUTHORITY_ANSWER, approval.authority_answer.as_ref().map(text))
        .due_at(next)
        .when(equals(ATTEMPTS, number(approval.attempts)));
        self.applied("record approval", change).await
    }
}

/// The list entries of the approvals within a span; the list is sorted by time.
fn approvals_within(scope: &Scope, span: &Span, after: Option<&Approval>) -> Query<'static> {
    // `!` sorts before every character that follows the time, `~` after it.
    let low = match after {
        Some(after) => format!("{}!", keys::listed_approval(scope, after.created_at, &after.id).sk),
        None => span.from.map_or_else(|| "!".to_owned(), keys::millis_sort),
    };
    let high = span
        .to
        .map_or_else(|| "~".to_owned(), |to| format!("{}~", keys::millis_sort(to)));
    Query {
        sort: Sort::Between(SK, low, high),
        consistent: true,
        ..Query::of(keys::approvals_partition(scope))
    }
}

fn set_transmission(change: Change, [state, en, es, at]: Attributes, transmission: &Transmission) -> Change {
    change
        .set(state, text(transmission.state.as_str()))
        .set_words([en, es], transmission.words.as_ref())
        .set_or_remove(at, transmission.at.map(instant))
}

fn with_transmission(item: NewItem, [state, en, es, at]: Attributes, transmission: &Transmission) -> NewItem {
    item.with(state, text(transmission.state.as_str()))
        .with_words([en, es], transmission.words.as_ref())
        .with_some(at, transmission.at.map(instant))
}

fn item(scope: &Scope, new: &Approval) -> super::item::Item {
    let item = NewItem::new(&keys::approval(scope, &new.id))
        .with(WAY, text(new.way.as_str()))
        .with(IDEMPOTENCY_KEY, text(&new.idempotency_key))
        .with(RNC_EMISOR, text(&new.rnc_emisor))
        .with(RNC_COMPRADOR, text(&new.rnc_comprador))
        .with(ENCF, text(new.encf))
        .with(ESTADO, text(new.estado))
        .with_some(REASON, new.reason.as_ref().map(text))
        .with(ACECF, bytes(new.acecf))
        .with_some(RECEIVER_URL, new.receiver_url.as_ref().map(text))
        .with_some(RECEIPT_UNKNOWN, new.receipt_unknown.then(|| flag(true)))
        .with(CREATED_AT, instant(new.created_at))
        .with(ATTEMPTS, number(new.attempts));
    let item = with_transmission(item, ISSUER, &new.issuer);
    let item = with_transmission(item, AUTHORITY, &new.authority);
    if !new.issuer.is_pending() && !new.authority.is_pending() {
        return item.build();
    }
    item.with(DUE.pk, text(keys::due_partition(new.id.spread() % SHARDS)))
        .with(DUE.sk, text(keys::due_sort(new.created_at + FIRST_LOOK)))
        .build()
}

fn read(id: ApprovalId, stored: &Stored) -> Result<Approval, StoreError> {
    let owned = |name| stored.opt_str(name).map(|text| text.map(str::to_owned));
    Ok(Approval {
        id,
        way: stored.one_of(WAY, &ApprovalWay::ALL, ApprovalWay::as_str)?,
        idempotency_key: stored.str(IDEMPOTENCY_KEY)?.to_owned(),
        rnc_emisor: stored.parse(RNC_EMISOR)?,
        rnc_comprador: stored.parse(RNC_COMPRADOR)?,
        encf: stored.parse(ENCF)?,
        estado: stored.parse(ESTADO)?,
        reason: stored.opt_str(REASON)?.map(ForeignText::from),
        acecf: ContentHash::from_bytes(stored.hash(ACECF)?),
        receiver_url: owned(RECEIVER_URL)?,
        receipt_unknown: stored.flag(RECEIPT_UNKNOWN)?,
        created_at: stored.instant(CREATED_AT)?,
        issuer: read_transmission(stored, ISSUER)?,
        authority: read_transmission(stored, AUTHORITY)?,
        authority_answer: owned(AUTHORITY_ANSWER)?,
        attempts: stored.parse(ATTEMPTS)?,
        next_action_at: stored.opt_parse(DUE.sk)?,
    })
}

fn read_given(stored: &Stored) -> Result<GivenAnswer, StoreError> {
    Ok(GivenAnswer {
        approval: stored.parse(ID)?,
        estado: stored.parse(ESTADO)?,
        acecf: ContentHash::from_bytes(stored.hash(ACECF)?),
        created_at: stored.instant(CREATED_AT)?,
    })
}

fn read_transmission(stored: &Stored, [state, en, es, at]: Attributes) -> Result<Transmission, StoreError> {
    Ok(Transmission {
        state: stored.one_of(state, &TransmissionState::ALL, TransmissionState::as_str)?,
        words: stored.opt_words([en, es])?,
        at: stored.opt_instant(at)?,
    })
}
