//! What is kept about an object beside its bytes: headers, metadata, encryption, checksums.

use std::collections::HashMap;

use s3s::dto::{ServerSideEncryption, Timestamp, TimestampFormat};
use serde::{Deserialize, Serialize};

use super::checksums::Checksums;
use crate::clock::Millis;

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Details {
    pub(crate) content_type: Option<String>,
    pub(crate) cache_control: Option<String>,
    pub(crate) content_disposition: Option<String>,
    pub(crate) content_encoding: Option<String>,
    pub(crate) content_language: Option<String>,
    pub(crate) expires: Option<Timestamp>,
    pub(crate) metadata: HashMap<String, String>,
    pub(crate) encryption: Encryption,
    pub(crate) checksums: Checksums,
    /// How many parts a multipart upload had.
    pub(crate) parts_count: Option<i32>,
}

/// How S3 would encrypt the object; here it is only said, not done.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct Encryption {
    pub(crate) algorithm: ServerSideEncryption,
    pub(crate) kms_key_id: Option<String>,
    pub(crate) bucket_key_enabled: Option<bool>,
}

impl Default for Encryption {
    fn default() -> Encryption {
        Encryption {
            algorithm: ServerSideEncryption::from_static(ServerSideEncryption::AES256),
            kms_key_id: None,
            bucket_key_enabled: None,
        }
    }
}

/// Takes what a request says out of it; the three that create objects have the same fields.
macro_rules! take_details {
    ($input:expr, $default_encryption:expr) => {
        $crate::s3::details::Details {
            content_type: $input.content_type.take(),
            cache_control: $input.cache_control.take(),
            content_disposition: $input.content_disposition.take(),
            content_encoding: $input.content_encoding.take(),
            content_language: $input.content_language.take(),
            expires: $input.expires.take(),
            metadata: $input.metadata.take().unwrap_or_default(),
            encryption: match $input.server_side_encryption.take() {
                Some(algorithm) => $crate::s3::details::Encryption {
                    algorithm,
                    kms_key_id: $input.ssekms_key_id.take(),
                    bucket_key_enabled: $input.bucket_key_enabled.take(),
                },
                None => $default_encryption,
            },
            ..Default::default()
        }
    };
}

/// Says in an answer how the object is encrypted.
macro_rules! set_encryption {
    ($output:expr, $encryption:expr) => {{
        let encryption: &$crate::s3::details::Encryption = $encryption;
        $output.server_side_encryption = Some(encryption.algorithm.clone());
        $output.ssekms_key_id = encryption.kms_key_id.clone();
        $output.bucket_key_enabled = encryption.bucket_key_enabled;
    }};
}

pub(crate) use {set_encryption, take_details};

pub(crate) fn timestamp(at: Millis) -> Timestamp {
    Timestamp::from(at.as_system_time())
}

/// The instant of a timestamp, which `s3s` shows only in writing.
pub(crate) fn millis(timestamp: &Timestamp) -> Option<Millis> {
    let mut written = Vec::new();
    timestamp.format(TimestampFormat::EpochSeconds, &mut written).ok()?;
    let seconds: f64 = String::from_utf8(written).ok()?.parse().ok()?;
    Some(Millis((seconds * 1000.0).round() as i64))
}
