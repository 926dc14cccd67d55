//! Buckets.

use rusqlite::Transaction;
use s3s::dto::{CreateBucketInput, CreateBucketOutput};
use s3s::{S3Request, s3_error};

use super::backend::Backend;
use super::errors::{Failure, no_such_bucket};
use crate::clock::Millis;

/// # Errors
///
/// `NoSuchBucket`.
pub(crate) fn must_exist(tx: &Transaction<'_>, name: &str) -> Result<(), Failure> {
    let exists = tx
        .prepare_cached("SELECT 1 FROM buckets WHERE name = ?1")?
        .exists([name])?;
    if exists {
        Ok(())
    } else {
        Err(no_such_bucket(name).into())
    }
}

impl Backend {
    pub(crate) async fn create_bucket(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> Result<CreateBucketOutput, Failure> {
        let name = request.input.bucket;
        self.db.write(|tx| {
            let created = tx.execute(
                "INSERT INTO buckets (name, created_at, versioning, object_lock) VALUES (?1, ?2, '', 0)
                 ON CONFLICT DO NOTHING",
                (&name, Millis::now().0),
            )?;
            match created {
                0 => Err(Failure::from(s3_error!(
                    BucketAlreadyOwnedByYou,
                    "You already own the bucket {name}"
                ))),
                _ => Ok(()),
            }
        })?;
        Ok(CreateBucketOutput {
            location: Some(format!("/{name}")),
        })
    }
}
