//! S3: the protocol by the `s3s` crate, below it bytes in files and everything else in SQLite.
//!
//! [`backend`] is the list of operations. [`objects`] holds versions and the conditions of writes, [`writing`] and
//! [`reading`] what is done with them, [`buckets`] and [`settings`] the buckets, [`uploads`] and [`parts`] multipart
//! uploads, [`listing`] the lists, [`locks`] retention and legal holds, [`tags`] tags, [`blobs`] the bytes.
//! [`aws_chunked`] undoes the transfer coding that SDKs put around streamed uploads.

mod aws_chunked;
mod backend;
mod blobs;
mod buckets;
mod checksums;
mod details;
mod errors;
mod listing;
mod locks;
mod objects;
mod parts;
mod reading;
mod settings;
mod tags;
mod uploads;
mod writing;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Result};

use self::backend::Backend;
use crate::data_dir::DataDir;
use crate::{PRESIGN_SECRET_ACCESS_KEY, StartError};

pub(crate) struct S3 {
    service: S3Service,
}

impl S3 {
    pub(crate) fn open(data_dir: &DataDir) -> Result<S3, StartError> {
        let mut builder = S3ServiceBuilder::new(Backend::open(data_dir)?);
        builder.set_auth(FixedSecret);
        builder.set_access(Everyone);
        Ok(S3 {
            service: builder.build(),
        })
    }

    pub(crate) async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        let is_presigned = request
            .uri()
            .query()
            .is_some_and(|query| query.contains("X-Amz-Signature="));
        let request = if is_presigned {
            request.map(Body::from)
        } else {
            // Any credentials will do in the header, so there is no secret to verify it with; `s3s` would insist.
            request.headers_mut().remove(http::header::AUTHORIZATION);
            aws_chunked::undo(request)
        };
        match self.service.call(request).await {
            Ok(response) if response.status() == StatusCode::NOT_MODIFIED => {
                // It is an error to `s3s`, which describes errors in a body; this one must not have any.
                response.map(|_description| Body::empty())
            }
            Ok(response) => response,
            Err(error) => {
                tracing::error!(?error, "an s3 answer could not be written");
                let mut response = Response::new(Body::empty());
                *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                response
            }
        }
    }
}

/// Verifies presigned addresses.
struct FixedSecret;

#[async_trait::async_trait]
impl S3Auth for FixedSecret {
    async fn get_secret_key(&self, _access_key: &str) -> S3Result<SecretKey> {
        Ok(SecretKey::from(PRESIGN_SECRET_ACCESS_KEY))
    }
}

/// Lets everyone do everything: who may do what is IAM's, and IAM is not embedded.
struct Everyone;

#[async_trait::async_trait]
impl S3Access for Everyone {
    async fn check(&self, _request: &mut S3AccessContext<'_>) -> S3Result<()> {
        Ok(())
    }
}
