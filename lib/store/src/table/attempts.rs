//! Attempts of the certification.
//!
//! When the authority resets a step of the certification, its workbook may prescribe numbers again. A company then
//! begins a new attempt: a receipt of an earlier one retains its record and its documents, but not its number, and an
//! earlier answer does not bind. Only CerteCF has attempts. The first attempt has no record: it began with the company.

use ecf::Environment;
use jiff::Timestamp;

use super::{
    Query, Table,
    item::{NewItem, Stored, instant, text, to_millis},
    keys::{self, SK},
};
use crate::{StoreError, ids::Scope};

const IDEMPOTENCY_KEY: &str = "key";
const BEGUN_AT: &str = "begun_at";

/// Upper bound of the tries when attempts begin concurrently.
const ROUNDS: u32 = 8;

/// An attempt that a company began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// From 2 on; the first attempt began with the company.
    pub number: u32,
    pub idempotency_key: String,
    pub begun_at: Timestamp,
}

/// The result of beginning an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttemptBegun {
    New(Attempt),
    /// The idempotency key began this attempt before.
    Replay(Attempt),
}

impl Table {
    /// The attempts that a company began, newest first.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn attempts(&self, scope: &Scope) -> Result<Vec<Attempt>, StoreError> {
        let query = Query {
            consistent: true,
            newest_first: true,
            ..Query::of(keys::attempts_partition(scope))
        };
        let items = self.query("list attempts", query).await?;
        items.iter().map(read).collect()
    }

    /// Begins a new attempt, unless the idempotency key began one before.
    ///
    /// # Errors
    /// Fails when DynamoDB fails; [`StoreError::Contended`] when attempts keep beginning concurrently.
    pub async fn begin_attempt(
        &self,
        scope: &Scope,
        idempotency_key: &str,
        now: Timestamp,
    ) -> Result<AttemptBegun, StoreError> {
        let operation = "begin attempt";
        for _ in 1..=ROUNDS {
            let attempts = self.attempts(scope).await?;
            if let Some(known) = attempts.iter().find(|one| one.idempotency_key == idempotency_key) {
                return Ok(AttemptBegun::Replay(known.clone()));
            }
            let new = Attempt {
                number: attempts.first().map_or(2, |newest| newest.number + 1),
                idempotency_key: idempotency_key.to_owned(),
                begun_at: to_millis(now),
            };
            let item = NewItem::new(&keys::attempt(scope, new.number))
                .with(IDEMPOTENCY_KEY, text(idempotency_key))
                .with(BEGUN_AT, instant(now))
                .build();
            if self.put_new(operation, item).await? {
                return Ok(AttemptBegun::New(new));
            }
        }
        Err(StoreError::Contended {
            operation,
            attempts: ROUNDS,
        })
    }

    /// Whether a record was created before the current attempt of the certification began. Always `false` outside
    /// CerteCF.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn is_of_earlier_attempt(&self, scope: &Scope, created_at: Timestamp) -> Result<bool, StoreError> {
        if scope.environment != Environment::CerteCF {
            return Ok(false);
        }
        let query = Query {
            consistent: true,
            newest_first: true,
            limit: Some(1),
            ..Query::of(keys::attempts_partition(scope))
        };
        let newest = self.query("read attempt", query).await?;
        let begun_at = newest.first().map(|newest| newest.instant(BEGUN_AT)).transpose()?;
        Ok(begun_at.is_some_and(|begun_at| created_at < begun_at))
    }
}

fn read(stored: &Stored) -> Result<Attempt, StoreError> {
    Ok(Attempt {
        number: stored.parse(SK)?,
        idempotency_key: stored.str(IDEMPOTENCY_KEY)?.to_owned(),
        begun_at: stored.instant(BEGUN_AT)?,
    })
}
