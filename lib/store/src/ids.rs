//! Ids of stored records: one type per kind, so that a webhook's id cannot open a receipt.
//!
//! All of them are 160 bits written as 32 characters of lower-case Crockford base32. They are identifiers, never
//! credentials.

use std::{fmt, str::FromStr};

use ecf::{Encf, Environment, Rnc};
use ecf_language::{Bilingual, Say};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest, Sha256};

use crate::ContentHash;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const ID_BYTES: usize = 20;
const ID_CHARS: usize = 32;

/// A text that is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("an id has {ID_CHARS} characters, this one has {0}")]
    Length(usize),
    #[error("{0:?} is not a character of an id")]
    Character(char),
    #[error("a delivery id is a whole number below 2^53, not {0:?}")]
    Delivery(String),
    #[error("{0:?} names neither a receipt nor an announcement")]
    Subject(String),
}

impl Say for IdError {
    fn say(&self) -> Bilingual {
        let spanish = match self {
            Self::Length(given) => format!("un id tiene {ID_CHARS} caracteres, este tiene {given}"),
            Self::Character(other) => format!("{other:?} no es un carácter de un id"),
            Self::Delivery(given) => format!("{given:?} no es el id de una entrega"),
            Self::Subject(given) => format!("{given:?} no es el asunto de un evento"),
        };
        Bilingual::of(self, spanish)
    }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; ID_BYTES]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), encode(&self.0))
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                decode(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
            }
        }
    };
}

macro_rules! sharded_id {
    ($name:ident) => {
        impl $name {
            /// A number distributed evenly over the ids, for sharding.
            pub(crate) fn spread(&self) -> u8 {
                self.0[ID_BYTES - 1]
            }
        }
    };
}

macro_rules! random_id {
    ($name:ident) => {
        impl $name {
            /// A new id from the caller's random bytes.
            pub fn from_random(bytes: [u8; ID_BYTES]) -> Self {
                Self(bytes)
            }
        }
    };
}

id! {
    /// A company that issues receipts.
    CompanyId
}
id! {
    /// A receipt: the `public_id` of the API.
    ReceiptId
}
id! {
    /// A webhook subscription.
    WebhookId
}
id! {
    /// The record of an API key, not the key itself.
    ApiKeyId
}
id! {
    /// A received receipt: the `public_id` of the inbox.
    InboxId
}
id! {
    /// An announcement, an event that is not a receipt's verdict: the `public_id` of its payload.
    AnnouncementId
}
id! {
    /// A certificate in its company's history.
    CertificateId
}
id! {
    /// A notice of the operator.
    NoticeId
}
id! {
    /// A commercial approval: the `public_id` in responses about it.
    ApprovalId
}
id! {
    /// An annulment of numbers: the `public_id` in responses about it.
    AnnulmentId
}
id! {
    /// A run of the certification.
    RunId
}
random_id!(CompanyId);
random_id!(WebhookId);
random_id!(ApiKeyId);
random_id!(NoticeId);
sharded_id!(CompanyId);
sharded_id!(ReceiptId);
sharded_id!(AnnouncementId);
sharded_id!(WebhookId);
sharded_id!(ApprovalId);
sharded_id!(AnnulmentId);
sharded_id!(InboxId);
sharded_id!(RunId);

impl ReceiptId {
    /// The record kind of an issued receipt in [`ReceiptId::of`].
    pub const RECEIPT: &'static str = "receipt";

    /// The id of the receipt with this idempotency key.
    pub fn of_receipt(scope: &Scope, idempotency_key: &str) -> Self {
        Self::of(Self::RECEIPT, &scope.company, scope.environment, idempotency_key)
    }

    /// The id for an idempotency key: the same key always leads to the same record.
    pub fn of(kind: &str, company: &CompanyId, environment: Environment, idempotency_key: &str) -> Self {
        Self(hashed(&[
            "ecf/v1",
            kind,
            &company.to_string(),
            environment.as_str(),
            idempotency_key,
        ]))
    }
}

impl ApprovalId {
    /// The id for an idempotency key of approvals that came in this way.
    pub fn of(way: &str, scope: &Scope, idempotency_key: &str) -> Self {
        Self(hashed(&[
            "approval/v1",
            way,
            &scope.company.to_string(),
            scope.environment.as_str(),
            idempotency_key,
        ]))
    }
}

impl AnnulmentId {
    /// The id for an idempotency key.
    pub fn of(scope: &Scope, idempotency_key: &str) -> Self {
        Self(hashed(&[
            "annulment/v1",
            &scope.company.to_string(),
            scope.environment.as_str(),
            idempotency_key,
        ]))
    }
}

impl RunId {
    /// The id for an idempotency key.
    pub fn of(scope: &Scope, idempotency_key: &str) -> Self {
        Self(hashed(&[
            "run/v1",
            &scope.company.to_string(),
            scope.environment.as_str(),
            idempotency_key,
        ]))
    }
}

impl AnnouncementId {
    /// The id of an event about one subject, such that a repeated announcement has the same id.
    pub fn of(scope: &Scope, event: &str, about: &str) -> Self {
        Self(hashed(&[
            "announcement/v1",
            &scope.company.to_string(),
            scope.environment.as_str(),
            event,
            about,
        ]))
    }
}

impl InboxId {
    const TIME_BYTES: usize = 6;

    /// The id of a received document, from its time, issuer, number and signature. It begins with the time, so the ids
    /// of an inbox are sorted by time.
    pub fn new(received_at: Timestamp, scope: &Scope, rnc_emisor: &Rnc, encf: &Encf, signature: &ContentHash) -> Self {
        let mut id = hashed(&[
            "inbox/v1",
            &scope.company.to_string(),
            scope.environment.as_str(),
            rnc_emisor.as_str(),
            &encf.to_string(),
            &signature.to_string(),
        ]);
        id[..Self::TIME_BYTES].copy_from_slice(&Self::time(received_at));
        Self(id)
    }

    /// The lowest and the highest possible id at this time.
    pub(crate) fn bounds_of(received_at: Timestamp) -> (Self, Self) {
        let (mut first, mut last) = ([0; ID_BYTES], [0xFF; ID_BYTES]);
        for id in [&mut first, &mut last] {
            id[..Self::TIME_BYTES].copy_from_slice(&Self::time(received_at));
        }
        (Self(first), Self(last))
    }

    fn time(received_at: Timestamp) -> [u8; Self::TIME_BYTES] {
        // No receipt was received before the epoch.
        let [_, _, time @ ..] = received_at.as_millisecond().max(0).to_be_bytes();
        time
    }
}

/// Hashes parts, each prefixed with its length, so that no two different lists have the same hash.
fn hashed(parts: &[&str]) -> [u8; ID_BYTES] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut id = [0; ID_BYTES];
    id.copy_from_slice(&digest[..ID_BYTES]);
    id
}

/// The subject of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// A receipt's verdict.
    Receipt(ReceiptId),
    /// An announcement.
    Announcement(AnnouncementId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Receipt(id) => write!(f, "receipt#{id}"),
            Self::Announcement(id) => write!(f, "announcement#{id}"),
        }
    }
}

impl FromStr for Subject {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.split_once('#') {
            Some(("receipt", id)) => id.parse().map(Self::Receipt),
            Some(("announcement", id)) => id.parse().map(Self::Announcement),
            _ => Err(IdError::Subject(text.to_owned())),
        }
    }
}

impl CertificateId {
    /// The id of the certificate with this SHA-256. The same certificate has one id per company.
    pub fn of(company: &CompanyId, sha256: &[u8; 32]) -> Self {
        Self(hashed(&["certificate/v1", &company.to_string(), &hex::encode(sha256)]))
    }
}

/// An event in a webhook's waiting list: its time and its subject. Text order is time order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EventKey {
    millis: i64,
    pub subject: Subject,
}

impl EventKey {
    /// `at` is the time of the event itself, so that the same event always has the same key.
    pub fn new(at: Timestamp, subject: Subject) -> Self {
        Self {
            millis: at.as_millisecond(),
            subject,
        }
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:013}#{}", self.millis, self.subject)
    }
}

impl FromStr for EventKey {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let parts = text.split_once('#');
        let (Some(millis), Some((_, subject))) = (parts.and_then(|(millis, _)| millis.parse().ok()), parts) else {
            return Err(IdError::Subject(text.to_owned()));
        };
        Ok(Self {
            millis,
            subject: subject.parse()?,
        })
    }
}

impl Serialize for EventKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for EventKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// An attempt to deliver an event to a webhook: an integer below 2^53 that grows with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeliveryId(u64);

impl DeliveryId {
    const LIMIT: u64 = 1 << 53;
    const TAIL_BITS: u32 = 12;

    /// Milliseconds since the epoch, then 12 bits of SHA-256 over webhook, event and attempt.
    pub fn new(millis: i64, webhook: &WebhookId, event: &str, attempt: u32) -> Self {
        let mut hash = Sha256::new();
        for part in [webhook.to_string().as_bytes(), event.as_bytes(), &attempt.to_be_bytes()] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        let digest: [u8; 32] = hash.finalize().into();
        let tail = u64::from(u16::from_be_bytes([digest[0], digest[1]]) >> 4);
        Self(Self::earliest(millis).0 | tail)
    }

    /// The next id, for an attempt whose id is already used.
    pub fn next(self) -> Self {
        Self((self.0 + 1) & (Self::LIMIT - 1))
    }

    /// The time of the attempt, in milliseconds since the epoch.
    pub fn millis(self) -> i64 {
        i64::try_from(self.0 >> Self::TAIL_BITS).unwrap_or(i64::MAX)
    }

    /// The lowest possible id of an attempt at this time.
    pub(crate) fn earliest(millis: i64) -> Self {
        let millis = u64::try_from(millis).unwrap_or(0);
        Self((millis << Self::TAIL_BITS) & (Self::LIMIT - 1))
    }

    /// An upper bound of all ids.
    pub(crate) fn latest() -> Self {
        Self(Self::LIMIT - 1)
    }

    /// The id as an integer, for the API.
    pub fn as_u64(self) -> u64 {
        self.0
    }
}

impl fmt::Display for DeliveryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DeliveryId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text.parse() {
            Ok(id) if id < Self::LIMIT => Ok(Self(id)),
            _ => Err(IdError::Delivery(text.to_owned())),
        }
    }
}

/// The data that a store method may access. Every method on a company's data takes it first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Scope {
    pub company: CompanyId,
    pub environment: Environment,
}

fn encode(bytes: &[u8; ID_BYTES]) -> String {
    let mut text = String::with_capacity(ID_CHARS);
    for five in bytes.chunks_exact(5) {
        let group = five.iter().fold(0_u64, |group, byte| group << 8 | u64::from(*byte));
        for place in (0..8).rev() {
            let digit = (group >> (place * 5)) & 31;
            text.push(char::from(ALPHABET[digit as usize]));
        }
    }
    text
}

fn decode(text: &str) -> Result<[u8; ID_BYTES], IdError> {
    let length = text.chars().count();
    if length != ID_CHARS {
        return Err(IdError::Length(length));
    }
    let mut bytes = [0; ID_BYTES];
    let mut group = 0_u64;
    for (place, character) in text.chars().enumerate() {
        let digit = ALPHABET
            .iter()
            .position(|letter| char::from(*letter) == character)
            .ok_or(IdError::Character(character))?;
        group = group << 5 | digit as u64;
        if place % 8 == 7 {
            let start = place / 8 * 5;
            bytes[start..start + 5].copy_from_slice(&group.to_be_bytes()[3..]);
            group = 0;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn company() -> CompanyId {
        CompanyId::from_random([7; 20])
    }

    #[test]
    fn an_id_reads_back_what_it_prints() {
        let id = CompanyId::from_random(*b"abcdefghij0123456789");
        assert_eq!(id.to_string(), "c5h66s35cskpgtba60rk4csm6mv3ee1s");
        assert_eq!(id.to_string().parse(), Ok(id));
        let json = serde_json::to_string(&id).unwrap();
        assert_eq!(serde_json::from_str::<CompanyId>(&json).unwrap(), id);
    }

    #[test]
    fn an_id_of_another_length_or_alphabet_is_refused() {
        assert_eq!("abc".parse::<WebhookId>(), Err(IdError::Length(3)));
        let upper = "0000000000000000000000000000000A";
        assert_eq!(upper.parse::<WebhookId>(), Err(IdError::Character('A')));
        let letter_u = "0000000000000000000000000000000u";
        assert_eq!(letter_u.parse::<WebhookId>(), Err(IdError::Character('u')));
    }

    #[test]
    fn a_receipt_id_is_pinned_and_depends_on_every_part() {
        let id = ReceiptId::of(ReceiptId::RECEIPT, &company(), Environment::TesteCF, "order-1");
        assert_eq!(id.to_string(), "16e13qsss0tvk5m2hs5m0t0tnheqx3w9");
        let others = [
            ReceiptId::of("approval", &company(), Environment::TesteCF, "order-1"),
            ReceiptId::of(
                ReceiptId::RECEIPT,
                &CompanyId::from_random([8; 20]),
                Environment::TesteCF,
                "order-1",
            ),
            ReceiptId::of(ReceiptId::RECEIPT, &company(), Environment::CerteCF, "order-1"),
            ReceiptId::of(ReceiptId::RECEIPT, &company(), Environment::TesteCF, "order-2"),
        ];
        assert!(others.iter().all(|other| *other != id));
    }

    #[test]
    fn the_ids_of_an_inbox_sort_by_time() {
        let scope = Scope {
            company: company(),
            environment: Environment::TesteCF,
        };
        let id = |at: &str, sequence: &str| {
            let encf = format!("E31{sequence}").parse().unwrap();
            InboxId::new(
                at.parse().unwrap(),
                &scope,
                &"130000001".parse().unwrap(),
                &encf,
                &ContentHash::of(b"signature"),
            )
            .to_string()
        };
        let first = id("2026-11-27T12:00:00Z", "0000000009");
        assert_eq!(first, id("2026-11-27T12:00:00Z", "0000000009"));
        assert_ne!(first, id("2026-11-27T12:00:00Z", "0000000008"));
        for later in [
            "2026-11-27T12:00:00.001Z",
            "2026-11-28T12:00:00Z",
            "2036-01-01T00:00:00Z",
        ] {
            assert!(first < id(later, "0000000001"), "{later}");
        }
    }

    #[test]
    fn what_an_event_is_about_reads_back() {
        let scope = Scope {
            company: company(),
            environment: Environment::TesteCF,
        };
        let announcement = AnnouncementId::of(&scope, "sequence.low", "31/1/100");
        assert_ne!(announcement, AnnouncementId::of(&scope, "sequence.low", "31/1/50"));
        for subject in [
            Subject::Receipt(ReceiptId::of_receipt(&scope, "order-1")),
            Subject::Announcement(announcement),
        ] {
            assert_eq!(subject.to_string().parse(), Ok(subject));
            let key = EventKey::new(Timestamp::UNIX_EPOCH, subject);
            assert_eq!(key.to_string().parse(), Ok(key));
        }
        assert!("webhook#1".parse::<Subject>().is_err());
    }

    #[test]
    fn a_delivery_id_stays_below_two_to_the_53_and_grows_with_time() {
        let webhook = WebhookId::from_random([1; 20]);
        let millis = 1_795_823_026_000;
        let first = DeliveryId::new(millis, &webhook, "accepted", 1);
        assert!(first.as_u64() < 1 << 53);
        assert_ne!(first, DeliveryId::new(millis, &webhook, "accepted", 2));
        assert!(DeliveryId::new(millis + 1, &webhook, "accepted", 1) > first);
        assert!(DeliveryId::earliest(millis) <= first);
        assert_eq!(first.millis(), millis);
        assert_eq!(first.next().as_u64(), first.as_u64() + 1);
        assert_eq!(DeliveryId::latest().next().as_u64(), 0);
        assert_eq!(first.to_string().parse(), Ok(first));
        assert!((1_u64 << 53).to_string().parse::<DeliveryId>().is_err());
    }
}
