//! Object lock: retention and legal holds, which keep a version from being deleted.

use rusqlite::Transaction;
use s3s::dto::*;
use s3s::{S3Request, s3_error};

use super::backend::Backend;
use super::buckets::Bucket;
use super::details::{millis, timestamp};
use super::errors::{Failure, named};
use super::objects::Version;
use crate::clock::Millis;

const SECONDS_A_DAY: i64 = 86_400;
/// S3 counts a year of retention as this many days.
const DAYS_A_YEAR: i64 = 365;

/// What protects a version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lock {
    pub(crate) retention: Option<Retention>,
    pub(crate) has_legal_hold: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Retention {
    pub(crate) mode: String,
    pub(crate) until: Millis,
}

impl Lock {
    /// The lock of a new version: what the request says, else what the bucket says.
    pub(crate) fn for_new(tx: &Transaction<'_>, bucket: &Bucket, given: &Lock, now: Millis) -> Result<Lock, Failure> {
        let wants_lock = given.retention.is_some() || given.has_legal_hold;
        if wants_lock && !bucket.has_object_lock {
            return Err(missing_configuration());
        }
        let mut lock = given.clone();
        if lock.retention.is_none()
            && bucket.has_object_lock
            && let Some(default) = bucket.default_retention(tx)?
        {
            let days = match (default.days, default.years) {
                (Some(days), _) => i64::from(days),
                (None, Some(years)) => i64::from(years) * DAYS_A_YEAR,
                (None, None) => 0,
            };
            lock.retention = default.mode.map(|mode| Retention {
                mode: mode.as_str().to_owned(),
                until: now.plus_seconds(days * SECONDS_A_DAY),
            });
        }
        Ok(lock)
    }

    /// Reads the headers that put a lock on an object as it is written.
    pub(crate) fn given(
        mode: Option<ObjectLockMode>,
        until: Option<&Timestamp>,
        legal_hold: Option<&ObjectLockLegalHoldStatus>,
    ) -> Result<Lock, Failure> {
        let retention = match (mode, until.and_then(millis)) {
            (Some(mode), Some(until)) => Some(Retention {
                mode: mode.as_str().to_owned(),
                until,
            }),
            (None, None) => None,
            _ => {
                return Err(s3_error!(
                    InvalidArgument,
                    "x-amz-object-lock-retain-until-date and x-amz-object-lock-mode must both be supplied"
                )
                .into());
            }
        };
        Ok(Lock {
            retention,
            has_legal_hold: legal_hold.is_some_and(is_on),
        })
    }

    /// # Errors
    ///
    /// `AccessDenied` as long as the lock holds.
    pub(crate) fn must_allow_deletion(&self, bypass_governance: bool, now: Millis) -> Result<(), Failure> {
        let is_retained = self.retention.as_ref().is_some_and(|retention| {
            let may_bypass = bypass_governance && retention.is_governance();
            retention.until > now && !may_bypass
        });
        if is_retained || self.has_legal_hold {
            return Err(protected());
        }
        Ok(())
    }
}

impl Retention {
    fn is_governance(&self) -> bool {
        self.mode == ObjectLockRetentionMode::GOVERNANCE
    }

    /// Whether this may take the place of `current`: later is always fine, less needs a bypass, which compliance
    /// mode does not know.
    fn may_replace(&self, current: &Retention, bypass_governance: bool, now: Millis) -> bool {
        let extends = self.mode == current.mode && self.until >= current.until;
        current.until <= now || extends || (bypass_governance && current.is_governance())
    }
}

fn is_on(status: &ObjectLockLegalHoldStatus) -> bool {
    status.as_str() == ObjectLockLegalHoldStatus::ON
}

fn protected() -> Failure {
    s3_error!(AccessDenied, "Access Denied because object protected by object lock.").into()
}

fn missing_configuration() -> Failure {
    s3_error!(InvalidRequest, "Bucket is missing Object Lock Configuration").into()
}

fn must_lock(tx: &Transaction<'_>, bucket: &str) -> Result<(), Failure> {
    match Bucket::read(tx, bucket)?.has_object_lock {
        true => Ok(()),
        false => Err(missing_configuration()),
    }
}

fn not_locked() -> Failure {
    named(
        "NoSuchObjectLockConfiguration",
        http::StatusCode::NOT_FOUND,
        "The specified object does not have a ObjectLock configuration",
    )
    .into()
}

impl Backend {
    pub(crate) async fn set_retention(
        &self,
        request: S3Request<PutObjectRetentionInput>,
    ) -> Result<PutObjectRetentionOutput, Failure> {
        let input = request.input;
        let bypass = input.bypass_governance_retention.unwrap_or(false);
        let now = Millis::now();
        let retention = input.retention.unwrap_or_default();
        let wanted = match (retention.mode, retention.retain_until_date) {
            (Some(mode), Some(until)) => Some(Retention {
                mode: mode.as_str().to_owned(),
                until: millis(&until)
                    .filter(|until| *until > now)
                    .ok_or_else(|| s3_error!(InvalidArgument, "The retain until date must be in the future!"))?,
            }),
            (None, None) => None,
            _ => return Err(s3_error!(MalformedXML, "Mode and date belong together").into()),
        };
        self.db.write(|tx| {
            must_lock(tx, &input.bucket)?;
            let version = Version::read(tx, &input.bucket, &input.key, input.version_id.as_deref())?;
            if let Some(current) = &version.lock.retention {
                let allowed = match &wanted {
                    Some(wanted) => wanted.may_replace(current, bypass, now),
                    None => current.until <= now || (bypass && current.is_governance()),
                };
                if !allowed {
                    return Err(protected());
                }
            }
            tx.execute(
                "UPDATE objects SET retention_mode = ?2, retain_until = ?3 WHERE seq = ?1",
                (
                    version.seq,
                    wanted.as_ref().map(|wanted| &wanted.mode),
                    wanted.as_ref().map(|wanted| wanted.until.0),
                ),
            )?;
            Ok(())
        })?;
        Ok(PutObjectRetentionOutput::default())
    }

    pub(crate) async fn retention(
        &self,
        request: S3Request<GetObjectRetentionInput>,
    ) -> Result<GetObjectRetentionOutput, Failure> {
        let input = request.input;
        let version = self.db.read(|tx| {
            must_lock(tx, &input.bucket)?;
            Version::read(tx, &input.bucket, &input.key, input.version_id.as_deref())
        })?;
        let retention = version.lock.retention.ok_or_else(not_locked)?;
        Ok(GetObjectRetentionOutput {
            retention: Some(ObjectLockRetention {
                mode: Some(retention.mode.into()),
                retain_until_date: Some(timestamp(retention.until)),
            }),
        })
    }

    pub(crate) async fn set_legal_hold(
        &self,
        request: S3Request<PutObjectLegalHoldInput>,
    ) -> Result<PutObjectLegalHoldOutput, Failure> {
        let input = request.input;
        let status = input.legal_hold.and_then(|hold| hold.status);
        let status = status.ok_or_else(|| s3_error!(MalformedXML, "Status is required"))?;
        self.db.write(|tx| {
            must_lock(tx, &input.bucket)?;
            let version = Version::read(tx, &input.bucket, &input.key, input.version_id.as_deref())?;
            tx.execute(
                "UPDATE objects SET legal_hold = ?2 WHERE seq = ?1",
                (version.seq, is_on(&status)),
            )?;
            Ok::<_, Failure>(())
        })?;
        Ok(PutObjectLegalHoldOutput::default())
    }

    pub(crate) async fn legal_hold(
        &self,
        request: S3Request<GetObjectLegalHoldInput>,
    ) -> Result<GetObjectLegalHoldOutput, Failure> {
        let input = request.input;
        let version = self.db.read(|tx| {
            must_lock(tx, &input.bucket)?;
            Version::read(tx, &input.bucket, &input.key, input.version_id.as_deref())
        })?;
        let status = match version.lock.has_legal_hold {
            true => ObjectLockLegalHoldStatus::ON,
            false => ObjectLockLegalHoldStatus::OFF,
        };
        Ok(GetObjectLegalHoldOutput {
            legal_hold: Some(ObjectLockLegalHold {
                status: Some(ObjectLockLegalHoldStatus::from_static(status)),
            }),
        })
    }
}
