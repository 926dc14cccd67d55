//! S3: the `s3s` crate speaks the protocol; content is in files, metadata in SQLite.
//!
//! [`backend`] lists the operations. [`buckets`], [`objects`] and [`uploads`] implement them, [`blobs`] stores the
//! content. Every other request is rejected by name ([`WhatIsEmbedded`]), so that no unsupported option is silently
//! ignored.

mod backend;
mod blobs;
mod buckets;
mod errors;
mod objects;
mod uploads;

use http::{HeaderName, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use s3s::access::{S3Access, S3AccessContext};
use s3s::auth::{S3Auth, SecretKey};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s::{Body, S3Result, s3_error};

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
        builder.set_access(WhatIsEmbedded);
        Ok(S3 {
            service: builder.build(),
        })
    }

    pub(crate) async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        if !is_presigned(request.uri()) {
            // Any credentials are accepted in the header, so the signature cannot be verified; `s3s` would try to.
            request.headers_mut().remove(http::header::AUTHORIZATION);
            // The body's digest is part of a signature that is not verified.
            request.headers_mut().remove("x-amz-content-sha256");
        }
        match self.service.call(request.map(Body::from)).await {
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

fn is_presigned(uri: &Uri) -> bool {
    uri.query().is_some_and(|query| query.contains("X-Amz-Signature="))
}

/// Allows every embedded operation. Permissions are IAM's, which is not emulated.
struct WhatIsEmbedded;

/// Parameters of embedded operations that are not supported: versions, grouping, other start points of a list.
const OTHER_PARAMETERS: [&str; 3] = ["versionId", "delimiter", "start-after"];

/// S3 headers without effect here: checksums are not compared, credentials are not verified.
const WITHOUT_EFFECT: [&str; 6] = [
    "x-amz-checksum-",
    "x-amz-content-sha256",
    "x-amz-date",
    "x-amz-sdk-checksum-algorithm",
    "x-amz-security-token",
    "x-amz-user-agent",
];

/// Headers that would have to be stored with an object, or obeyed.
const OTHER_HEADERS: [&str; 7] = [
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "expires",
    "if-",
    "range",
];

fn asks_for_more(header: &HeaderName) -> bool {
    let starts_with_one_of = |names: &[&str]| names.iter().any(|name| header.as_str().starts_with(name));
    (header.as_str().starts_with("x-amz-") && !starts_with_one_of(&WITHOUT_EFFECT))
        || starts_with_one_of(&OTHER_HEADERS)
}

#[async_trait::async_trait]
impl S3Access for WhatIsEmbedded {
    async fn check(&self, request: &mut S3AccessContext<'_>) -> S3Result<()> {
        let operation = request.s3_op().name();
        let query = request.uri().query().unwrap_or_default().as_bytes();
        let parameter = url::form_urlencoded::parse(query)
            .map(|(name, _)| name.into_owned())
            .find(|name| OTHER_PARAMETERS.contains(&name.as_str()));
        // Browsers add headers of their own to a presigned URL.
        let header = if is_presigned(request.uri()) {
            None
        } else {
            request.headers().keys().find(|header| asks_for_more(header))
        };
        let what = match (backend::has(operation), parameter, header) {
            (false, _, _) => operation.to_owned(),
            (true, Some(parameter), _) => format!("{operation} with the parameter {parameter}"),
            (true, None, Some(header)) => format!("{operation} with the header {header}"),
            (true, None, None) => return Ok(()),
        };
        // The response to a HEAD has no body for the error, so it is logged.
        tracing::error!(what, "not embedded");
        Err(s3_error!(NotImplemented, "{what} is not embedded here"))
    }
}
