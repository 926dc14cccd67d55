//! The checksums that S3 keeps beside an object, and their comparison with what a request promised.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Crc32, Crc32c, Crc64Nvme, Sha1, Sha256};
use s3s::dto::Checksum;
use s3s::{S3Result, s3_error};
use serde::{Deserialize, Serialize};

use super::aws_chunked::Trailers;

pub(crate) const COMPOSITE: &str = "COMPOSITE";
pub(crate) const FULL_OBJECT: &str = "FULL_OBJECT";

/// Each in base64, for the algorithms that were asked for.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(crate) struct Checksums {
    pub(crate) crc32: Option<String>,
    pub(crate) crc32c: Option<String>,
    pub(crate) crc64nvme: Option<String>,
    pub(crate) sha1: Option<String>,
    pub(crate) sha256: Option<String>,
    /// `COMPOSITE` when it is over the checksums of parts.
    pub(crate) composite: bool,
}

impl From<Checksum> for Checksums {
    fn from(checksum: Checksum) -> Checksums {
        Checksums {
            crc32: checksum.checksum_crc32,
            crc32c: checksum.checksum_crc32c,
            crc64nvme: checksum.checksum_crc64nvme,
            sha1: checksum.checksum_sha1,
            sha256: checksum.checksum_sha256,
            composite: false,
        }
    }
}

impl Checksums {
    pub(crate) fn kind(&self) -> &'static str {
        if self.composite { COMPOSITE } else { FULL_OBJECT }
    }

    fn by_algorithm(&self) -> [(Algorithm, &Option<String>); 5] {
        [
            (Algorithm::Crc32, &self.crc32),
            (Algorithm::Crc32c, &self.crc32c),
            (Algorithm::Crc64Nvme, &self.crc64nvme),
            (Algorithm::Sha1, &self.sha1),
            (Algorithm::Sha256, &self.sha256),
        ]
    }

    pub(crate) fn of(&self, algorithm: Algorithm) -> Option<&str> {
        let (_, value) = self.by_algorithm().into_iter().find(|(found, _)| *found == algorithm)?;
        value.as_deref()
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub(crate) enum Algorithm {
    Crc32,
    Crc32c,
    Crc64Nvme,
    Sha1,
    Sha256,
}

impl Algorithm {
    const ALL: [Algorithm; 5] = [
        Algorithm::Crc32,
        Algorithm::Crc32c,
        Algorithm::Crc64Nvme,
        Algorithm::Sha1,
        Algorithm::Sha256,
    ];

    pub(crate) fn parse(name: &str) -> Option<Algorithm> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name().eq_ignore_ascii_case(name))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Algorithm::Crc32 => "CRC32",
            Algorithm::Crc32c => "CRC32C",
            Algorithm::Crc64Nvme => "CRC64NVME",
            Algorithm::Sha1 => "SHA1",
            Algorithm::Sha256 => "SHA256",
        }
    }

    fn header(self) -> String {
        format!("x-amz-checksum-{}", self.name().to_ascii_lowercase())
    }

    pub(crate) fn hasher(self) -> ChecksumHasher {
        let mut hasher = ChecksumHasher::default();
        match self {
            Algorithm::Crc32 => hasher.crc32 = Some(Crc32::new()),
            Algorithm::Crc32c => hasher.crc32c = Some(Crc32c::new()),
            Algorithm::Crc64Nvme => hasher.crc64nvme = Some(Crc64Nvme::new()),
            Algorithm::Sha1 => hasher.sha1 = Some(Sha1::new()),
            Algorithm::Sha256 => hasher.sha256 = Some(Sha256::new()),
        }
        hasher
    }
}

/// What a request says about the bytes that it carries.
pub(crate) struct Promise {
    algorithm: Algorithm,
    /// In a header; in a trailer it is known only after the body.
    checksum: Option<String>,
    trailers: Option<Trailers>,
    content_md5: Option<String>,
}

impl Promise {
    pub(crate) fn read(headers: &HeaderMap, trailers: Option<&Trailers>) -> Promise {
        let text = |name: &str| headers.get(name)?.to_str().ok().map(str::to_owned);
        let in_header = Algorithm::ALL
            .into_iter()
            .find_map(|algorithm| Some((algorithm, text(&algorithm.header())?)));
        let (algorithm, checksum) = match in_header {
            Some((algorithm, checksum)) => (algorithm, Some(checksum)),
            None => {
                let named = text("x-amz-sdk-checksum-algorithm")
                    .or_else(|| text("x-amz-checksum-algorithm"))
                    .or_else(|| Some(text("x-amz-trailer")?.strip_prefix("x-amz-checksum-")?.to_owned()))
                    .and_then(|name| Algorithm::parse(&name));
                // S3 computes this one for requests that ask for none.
                (named.unwrap_or(Algorithm::Crc64Nvme), None)
            }
        };
        Promise {
            algorithm,
            checksum,
            trailers: trailers.cloned(),
            content_md5: text("content-md5"),
        }
    }

    pub(crate) fn hasher(&self) -> ChecksumHasher {
        self.algorithm.hasher()
    }

    /// Compares with what was received, after all of it was.
    pub(crate) fn check(&self, md5: &[u8; 16], received: &Checksums) -> S3Result<()> {
        if let Some(promised) = &self.content_md5
            && *promised != STANDARD.encode(md5)
        {
            return Err(s3_error!(
                BadDigest,
                "The Content-MD5 you specified did not match what we received."
            ));
        }
        let promised = self.checksum.clone().or_else(|| {
            self.trailers
                .as_ref()
                .and_then(|trailers| trailers.value(&self.algorithm.header()))
        });
        match promised {
            Some(promised) if received.of(self.algorithm) != Some(&promised) => Err(s3_error!(
                BadDigest,
                "The {} you specified did not match the calculated checksum.",
                self.algorithm.name()
            )),
            _ => Ok(()),
        }
    }
}

/// The checksum over the checksums of parts, as S3 writes it.
pub(crate) fn composite(algorithm: Algorithm, parts: &[Checksums]) -> Option<Checksums> {
    let mut hasher = algorithm.hasher();
    for part in parts {
        hasher.update(&STANDARD.decode(part.of(algorithm)?).ok()?);
    }
    let mut checksums = Checksums::from(hasher.finalize());
    checksums.composite = true;
    let count = parts.len();
    for value in [
        &mut checksums.crc32,
        &mut checksums.crc32c,
        &mut checksums.crc64nvme,
        &mut checksums.sha1,
        &mut checksums.sha256,
    ]
    .into_iter()
    .flatten()
    {
        value.push_str(&format!("-{count}"));
    }
    Some(checksums)
}

/// Copies checksums into one of the many structs that have the same five fields.
macro_rules! set_checksums {
    ($output:expr, $checksums:expr) => {{
        let checksums: &$crate::s3::checksums::Checksums = $checksums;
        $output.checksum_crc32 = checksums.crc32.clone();
        $output.checksum_crc32c = checksums.crc32c.clone();
        $output.checksum_crc64nvme = checksums.crc64nvme.clone();
        $output.checksum_sha1 = checksums.sha1.clone();
        $output.checksum_sha256 = checksums.sha256.clone();
    }};
}
pub(crate) use set_checksums;
