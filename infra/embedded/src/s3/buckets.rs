//! Buckets: making, finding and removing them, and whether they keep versions.

use rusqlite::{OptionalExtension, Transaction};
use s3s::dto::*;
use s3s::{S3Request, s3_error};

use super::backend::Backend;
use super::details::timestamp;
use super::errors::{Failure, no_such_bucket};
use crate::clock::Millis;

/// A bucket and the settings that change what writes do.
pub(crate) struct Bucket {
    pub(crate) name: String,
    pub(crate) versioning: Versioning,
    pub(crate) has_object_lock: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Versioning {
    /// Never turned on.
    Off,
    Enabled,
    Suspended,
}

impl Versioning {
    fn from_column(text: &str) -> Versioning {
        match text {
            BucketVersioningStatus::ENABLED => Versioning::Enabled,
            BucketVersioningStatus::SUSPENDED => Versioning::Suspended,
            _ => Versioning::Off,
        }
    }

    fn status(self) -> Option<&'static str> {
        match self {
            Versioning::Off => None,
            Versioning::Enabled => Some(BucketVersioningStatus::ENABLED),
            Versioning::Suspended => Some(BucketVersioningStatus::SUSPENDED),
        }
    }
}

impl Bucket {
    /// # Errors
    ///
    /// `NoSuchBucket`.
    pub(crate) fn read(tx: &Transaction<'_>, name: &str) -> Result<Bucket, Failure> {
        Bucket::find(tx, name)?.ok_or_else(|| no_such_bucket(name).into())
    }

    fn find(tx: &Transaction<'_>, name: &str) -> Result<Option<Bucket>, Failure> {
        Ok(tx
            .prepare_cached("SELECT versioning, object_lock FROM buckets WHERE name = ?1")?
            .query_row([name], |row| {
                Ok(Bucket {
                    name: name.to_owned(),
                    versioning: Versioning::from_column(&row.get::<_, String>(0)?),
                    has_object_lock: row.get(1)?,
                })
            })
            .optional()?)
    }
}

impl Backend {
    pub(crate) async fn create_bucket(
        &self,
        request: S3Request<CreateBucketInput>,
    ) -> Result<CreateBucketOutput, Failure> {
        let CreateBucketInput {
            bucket,
            object_lock_enabled_for_bucket,
            ..
        } = request.input;
        let has_object_lock = object_lock_enabled_for_bucket.unwrap_or(false);
        // Object lock needs versions, so S3 turns them on with it.
        let versioning = match has_object_lock {
            true => Versioning::Enabled,
            false => Versioning::Off,
        };
        self.db.write(|tx| {
            if Bucket::find(tx, &bucket)?.is_some() {
                return Err(Failure::from(s3_error!(
                    BucketAlreadyOwnedByYou,
                    "You already own the bucket {bucket}"
                )));
            }
            tx.execute(
                "INSERT INTO buckets (name, created_at, versioning, object_lock) VALUES (?1, ?2, ?3, ?4)",
                (
                    &bucket,
                    Millis::now().0,
                    versioning.status().unwrap_or_default(),
                    has_object_lock,
                ),
            )?;
            Ok(())
        })?;
        Ok(CreateBucketOutput {
            location: Some(format!("/{bucket}")),
        })
    }

    pub(crate) async fn delete_bucket(
        &self,
        request: S3Request<DeleteBucketInput>,
    ) -> Result<DeleteBucketOutput, Failure> {
        let name = request.input.bucket;
        let parts: Vec<String> = self.db.write(|tx| {
            let bucket = Bucket::read(tx, &name)?;
            let has_objects: bool = tx.query_row(
                "SELECT EXISTS (SELECT 1 FROM objects WHERE bucket = ?1)",
                [&bucket.name],
                |row| row.get(0),
            )?;
            if has_objects {
                return Err(Failure::from(s3_error!(
                    BucketNotEmpty,
                    "The bucket you tried to delete is not empty: {name}"
                )));
            }
            let parts = tx
                .prepare("SELECT blob FROM parts JOIN uploads USING (upload_id) WHERE bucket = ?1")?
                .query_map([&bucket.name], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            tx.execute("DELETE FROM buckets WHERE name = ?1", [&bucket.name])?;
            Ok(parts)
        })?;
        self.blobs.remove(parts);
        Ok(DeleteBucketOutput {})
    }

    pub(crate) async fn head_bucket(&self, request: S3Request<HeadBucketInput>) -> Result<HeadBucketOutput, Failure> {
        self.db.read(|tx| Bucket::read(tx, &request.input.bucket))?;
        Ok(HeadBucketOutput {
            bucket_region: Some(crate::REGION.to_owned()),
            ..Default::default()
        })
    }

    pub(crate) async fn bucket_location(
        &self,
        request: S3Request<GetBucketLocationInput>,
    ) -> Result<GetBucketLocationOutput, Failure> {
        self.db.read(|tx| Bucket::read(tx, &request.input.bucket))?;
        // The first region is written as no region at all.
        Ok(GetBucketLocationOutput::default())
    }

    pub(crate) async fn list_buckets(
        &self,
        request: S3Request<ListBucketsInput>,
    ) -> Result<ListBucketsOutput, Failure> {
        let prefix = request.input.prefix.unwrap_or_default();
        let buckets: Vec<s3s::dto::Bucket> = self.db.read(|tx| {
            let mut statement = tx.prepare_cached(
                "SELECT name, created_at FROM buckets WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name",
            )?;
            let rows = statement.query_map([&prefix], |row| {
                Ok(s3s::dto::Bucket {
                    name: Some(row.get(0)?),
                    creation_date: Some(timestamp(Millis(row.get(1)?))),
                    bucket_region: Some(crate::REGION.to_owned()),
                })
            })?;
            Ok::<_, Failure>(rows.collect::<Result<_, _>>()?)
        })?;
        Ok(ListBucketsOutput {
            buckets: Some(buckets),
            owner: Some(Owner {
                id: Some(crate::ACCOUNT_ID.to_owned()),
                ..Default::default()
            }),
            ..Default::default()
        })
    }

    pub(crate) async fn bucket_versioning(
        &self,
        request: S3Request<GetBucketVersioningInput>,
    ) -> Result<GetBucketVersioningOutput, Failure> {
        let bucket = self.db.read(|tx| Bucket::read(tx, &request.input.bucket))?;
        Ok(GetBucketVersioningOutput {
            status: bucket.versioning.status().map(BucketVersioningStatus::from_static),
            ..Default::default()
        })
    }

    pub(crate) async fn set_bucket_versioning(
        &self,
        request: S3Request<PutBucketVersioningInput>,
    ) -> Result<PutBucketVersioningOutput, Failure> {
        let status = request
            .input
            .versioning_configuration
            .status
            .ok_or_else(|| s3_error!(MalformedXML, "Status is required"))?;
        let versioning = Versioning::from_column(status.as_str());
        self.db.write(|tx| {
            let bucket = Bucket::read(tx, &request.input.bucket)?;
            if bucket.has_object_lock && versioning != Versioning::Enabled {
                return Err(Failure::from(s3_error!(
                    InvalidBucketState,
                    "An Object Lock configuration is present on this bucket, so the versioning state cannot be changed."
                )));
            }
            tx.execute(
                "UPDATE buckets SET versioning = ?2 WHERE name = ?1",
                (&bucket.name, versioning.status()),
            )?;
            Ok(())
        })?;
        Ok(PutBucketVersioningOutput {})
    }
}
