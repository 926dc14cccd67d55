//! Tags of objects.

use s3s::dto::*;
use s3s::{S3Request, s3_error};

use super::backend::Backend;
use super::errors::Failure;
use super::objects::{NULL_VERSION, Tags, Version};

const MAX_TAGS: usize = 10;

/// Reads the header that gives tags to an object as it is written.
pub(crate) fn parse_header(header: Option<&str>) -> Result<Tags, Failure> {
    let pairs = url::form_urlencoded::parse(header.unwrap_or_default().as_bytes());
    checked(pairs.map(|(key, value)| (key.into_owned(), value.into_owned())))
}

fn checked(pairs: impl Iterator<Item = (String, String)>) -> Result<Tags, Failure> {
    let mut tags = Tags::new();
    for (key, value) in pairs {
        let fits = (1..=128).contains(&key.chars().count()) && value.chars().count() <= 256;
        if !fits || tags.insert(key, value).is_some() {
            return Err(s3_error!(InvalidTag, "A tag is too long, empty or given twice").into());
        }
    }
    if tags.len() > MAX_TAGS {
        return Err(s3_error!(InvalidTag, "Object tags cannot be greater than {MAX_TAGS}").into());
    }
    Ok(tags)
}

impl Backend {
    pub(crate) async fn tagging(
        &self,
        request: S3Request<GetObjectTaggingInput>,
    ) -> Result<GetObjectTaggingOutput, Failure> {
        let input = request.input;
        let version = self
            .db
            .read(|tx| Version::read(tx, &input.bucket, &input.key, input.version_id.as_deref()))?;
        let tag_set = version
            .tags()?
            .into_iter()
            .map(|(key, value)| Tag {
                key: Some(key),
                value: Some(value),
            })
            .collect();
        Ok(GetObjectTaggingOutput {
            tag_set,
            version_id: Some(version.version_id).filter(|id| id != NULL_VERSION),
        })
    }

    pub(crate) async fn set_tagging(
        &self,
        request: S3Request<PutObjectTaggingInput>,
    ) -> Result<PutObjectTaggingOutput, Failure> {
        let input = request.input;
        let pairs = input
            .tagging
            .tag_set
            .into_iter()
            .map(|tag| (tag.key.unwrap_or_default(), tag.value.unwrap_or_default()));
        let tags = checked(pairs)?;
        let version_id = self.write_tags(&input.bucket, &input.key, input.version_id.as_deref(), &tags)?;
        Ok(PutObjectTaggingOutput { version_id })
    }

    pub(crate) async fn delete_tagging(
        &self,
        request: S3Request<DeleteObjectTaggingInput>,
    ) -> Result<DeleteObjectTaggingOutput, Failure> {
        let input = request.input;
        let version_id = self.write_tags(&input.bucket, &input.key, input.version_id.as_deref(), &Tags::new())?;
        Ok(DeleteObjectTaggingOutput { version_id })
    }

    fn write_tags(
        &self,
        bucket: &str,
        key: &str,
        version_id: Option<&str>,
        tags: &Tags,
    ) -> Result<Option<String>, Failure> {
        self.db.write(|tx| {
            let version = Version::read(tx, bucket, key, version_id)?;
            tx.execute(
                "UPDATE objects SET tags = ?2 WHERE seq = ?1",
                (version.seq, serde_json::to_string(tags)?),
            )?;
            Ok(Some(version.version_id).filter(|id| id != NULL_VERSION))
        })
    }
}
