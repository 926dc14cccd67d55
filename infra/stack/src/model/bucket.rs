//! S3 buckets.

use crate::{error::StackError, fields::Fields};

/// A bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// Its name in the template.
    pub logical_id: String,
    /// Whether each object keeps its earlier versions.
    pub versioned: bool,
    /// Whether no policy or list can open it to the public.
    pub blocks_public_access: bool,
    /// After how many days an upload that was never completed goes.
    pub abort_incomplete_after_days: Option<i32>,
    /// When objects go by themselves.
    pub expiries: Vec<Expiry>,
}

/// When the objects below a prefix go by themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    /// The rule's name.
    pub id: String,
    /// What their names begin with; nothing: all of them.
    pub prefix: String,
    /// Days after they were written.
    pub days: i32,
    /// Days after another version took their place.
    pub noncurrent_days: i32,
}

impl Bucket {
    pub(crate) fn read(logical_id: &str, mut fields: Fields) -> Result<Self, StackError> {
        // The embedded services keep nothing secret from the machine they run on, have one owner, and lock nothing.
        fields.without_effect(&[
            "BucketEncryption",
            "ObjectLockConfiguration",
            "ObjectLockEnabled",
            "OwnershipControls",
        ]);
        let (abort_incomplete_after_days, expiries) = lifecycle(&mut fields)?;
        let bucket = Self {
            logical_id: logical_id.to_owned(),
            versioned: versioned(&mut fields)?,
            blocks_public_access: blocks_public_access(&mut fields)?,
            abort_incomplete_after_days,
            expiries,
        };
        fields.finish()?;
        Ok(bucket)
    }
}

fn versioned(fields: &mut Fields) -> Result<bool, StackError> {
    let Some(mut versioning) = fields.optional_fields("VersioningConfiguration")? else {
        return Ok(false);
    };
    let status = versioning.literal("Status")?;
    versioning.finish()?;
    Ok(status == "Enabled")
}

fn blocks_public_access(fields: &mut Fields) -> Result<bool, StackError> {
    let Some(mut block) = fields.optional_fields("PublicAccessBlockConfiguration")? else {
        return Ok(false);
    };
    let mut all = true;
    for name in [
        "BlockPublicAcls",
        "BlockPublicPolicy",
        "IgnorePublicAcls",
        "RestrictPublicBuckets",
    ] {
        all &= block.flag(name)?;
    }
    block.finish()?;
    Ok(all)
}

fn lifecycle(fields: &mut Fields) -> Result<(Option<i32>, Vec<Expiry>), StackError> {
    let (mut abort_after, mut expiries) = (None, Vec::new());
    let Some(mut lifecycle) = fields.optional_fields("LifecycleConfiguration")? else {
        return Ok((abort_after, expiries));
    };
    for mut rule in lifecycle.list_of_fields("Rules")? {
        rule.exactly("Status", "Enabled")?;
        let id = rule.literal("Id")?;
        if let Some(mut abort) = rule.optional_fields("AbortIncompleteMultipartUpload")? {
            abort_after = Some(i32::from(abort.integer::<u16>("DaysAfterInitiation")?));
            abort.finish()?;
        }
        if let Some(days) = rule.optional_integer::<u16>("ExpirationInDays")? {
            let mut noncurrent = rule.fields("NoncurrentVersionExpiration")?;
            expiries.push(Expiry {
                id,
                prefix: rule.optional_literal("Prefix")?.unwrap_or_default(),
                days: i32::from(days),
                noncurrent_days: i32::from(noncurrent.integer::<u16>("NoncurrentDays")?),
            });
            noncurrent.finish()?;
        }
        rule.finish()?;
    }
    lifecycle.finish()?;
    Ok((abort_after, expiries))
}
