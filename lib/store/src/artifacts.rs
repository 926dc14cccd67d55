//! Documents in S3.
//!
//! An object's name contains the hash of its bytes, and the receipt refers to the hash. So concurrent attempts never
//! overwrite each other, equal bytes are one object, and a read is verified against the name. Readers use names from
//! records, never listings. A derived document, such as the printed representation, is named by the hash of its inputs
//! and can be rendered again.

use std::fmt;
use std::time::Duration;

use aws_sdk_s3::{Client, operation::get_object::GetObjectError, presigning::PresigningConfig, primitives::ByteStream};
use bytes::Bytes;
use jiff::{Timestamp, tz::Offset};
use sha2::{Digest, Sha256};

use crate::{
    StoreError,
    ids::{CompanyId, InboxId, ReceiptId, Scope},
};

/// SHA-256 of a document's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    pub fn from_bytes(hash: [u8; 32]) -> Self {
        Self(hash)
    }

    /// The hash of several parts; each part is prefixed with its length.
    pub fn of_parts<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl AsRef<[u8]> for ContentHash {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// The kinds of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ArtifactKind {
    /// The document that was signed and sent.
    SignedXml,
    /// The document without its signature; derived from the signed one, never stored.
    GeneratedXml,
    /// The signed summary of a type 32 below the threshold.
    Rfce,
    /// The printed representation.
    Ri,
    /// The authority's answer; stored on the receipt, not in S3.
    TaxauthResponse,
    /// The caller's payload, stored until the receipt is numbered and signed later; not public.
    Payload,
    /// A received receipt, byte for byte.
    ReceivedXml,
    /// An acknowledgement: ours of a received receipt, or the buyer's of an issued one.
    Arecf,
    /// A buyer's approval or rejection, byte for byte.
    Acecf,
    /// An annulment of numbers; it does not belong to a receipt.
    Anecf,
    /// A workbook of the certification, or the data of its simulation; it does not belong to a receipt.
    Workbook,
}

impl ArtifactKind {
    /// The kinds that the API serves.
    pub const PUBLIC: [Self; 7] = [
        Self::GeneratedXml,
        Self::SignedXml,
        Self::Rfce,
        Self::Ri,
        Self::TaxauthResponse,
        Self::Arecf,
        Self::Acecf,
    ];

    /// The name in the API and in S3.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SignedXml => "signed-xml",
            Self::GeneratedXml => "generated-xml",
            Self::Rfce => "rfce",
            Self::Ri => "ri",
            Self::TaxauthResponse => "taxauth-response",
            Self::Payload => "payload",
            Self::ReceivedXml => "received-xml",
            Self::Arecf => "arecf",
            Self::Acecf => "acecf",
            Self::Anecf => "anecf",
            Self::Workbook => "workbook",
        }
    }

    /// Parses a public name; the older spelling is accepted too.
    pub fn from_public_name(name: &str) -> Option<Self> {
        if name == "dgii-response" {
            return Some(Self::TaxauthResponse);
        }
        Self::PUBLIC.into_iter().find(|kind| kind.as_str() == name)
    }

    pub const fn content_type(self) -> &'static str {
        match self {
            Self::SignedXml
            | Self::GeneratedXml
            | Self::Rfce
            | Self::ReceivedXml
            | Self::Arecf
            | Self::Acecf
            | Self::Anecf => "application/xml",
            Self::Workbook => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Ri => "application/pdf",
            Self::TaxauthResponse | Self::Payload => "application/json",
        }
    }

    /// The file name for a download; `document` is `{RNC}{eNCF}`, as the authority names files.
    pub fn file_name(self, document: &str) -> String {
        match self {
            Self::SignedXml | Self::ReceivedXml => format!("{document}.xml"),
            Self::GeneratedXml => format!("{document}-unsigned.xml"),
            Self::Rfce => format!("{document}-rfce.xml"),
            Self::Ri => format!("{document}.pdf"),
            Self::TaxauthResponse => format!("{document}-response.json"),
            Self::Payload => format!("{document}-payload.json"),
            Self::Arecf => format!("{document}-arecf.xml"),
            Self::Acecf => format!("{document}-acecf.xml"),
            Self::Anecf => format!("{document}-anecf.xml"),
            Self::Workbook => format!("{document}.xlsx"),
        }
    }
}

/// Lifetime of an address from [`Artifacts::link`].
pub const LINK_LIFE: Duration = Duration::from_secs(5 * 60);

/// The documents in a bucket.
#[derive(Debug, Clone)]
pub struct Artifacts {
    client: Client,
    bucket: String,
}

impl Artifacts {
    pub fn new(client: Client, bucket: impl Into<String>) -> Self {
        Self {
            client,
            bucket: bucket.into(),
        }
    }

    /// Stores a document and returns its hash.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn put(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        receipt: &ReceiptId,
        kind: ArtifactKind,
        bytes: impl Into<Bytes>,
    ) -> Result<ContentHash, StoreError> {
        let (bytes, owner) = (bytes.into(), receipt.to_string());
        self.put_object(scope, created_at, &owner, kind, bytes).await
    }

    /// Stores a document of the inbox and returns its hash.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn put_received(
        &self,
        scope: &Scope,
        received_at: Timestamp,
        item: &InboxId,
        kind: ArtifactKind,
        bytes: impl Into<Bytes>,
    ) -> Result<ContentHash, StoreError> {
        let (bytes, owner) = (bytes.into(), item.to_string());
        self.put_object(scope, received_at, &owner, kind, bytes).await
    }

    /// Stores a message that does not belong to a receipt, under the id of its record.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn put_message(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        record: &impl fmt::Display,
        kind: ArtifactKind,
        bytes: impl Into<Bytes>,
    ) -> Result<ContentHash, StoreError> {
        let (bytes, owner) = (bytes.into(), record.to_string());
        self.put_object(scope, created_at, &owner, kind, bytes).await
    }

    /// The message of a record.
    ///
    /// # Errors
    /// As for [`Artifacts::get`].
    pub async fn message(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        record: &impl fmt::Display,
        kind: ArtifactKind,
        hash: &ContentHash,
    ) -> Result<Option<Bytes>, StoreError> {
        let key = object_key(scope, created_at, &record.to_string(), kind, hash);
        self.object(key, hash).await
    }

    async fn put_object(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        owner: &str,
        kind: ArtifactKind,
        bytes: Bytes,
    ) -> Result<ContentHash, StoreError> {
        let hash = ContentHash::of(&bytes);
        let key = object_key(scope, created_at, owner, kind, &hash);
        self.put_bytes(key, kind, bytes).await?;
        Ok(hash)
    }

    async fn put_bytes(&self, key: String, kind: ArtifactKind, bytes: Bytes) -> Result<(), StoreError> {
        self.put_typed(key, kind.content_type(), bytes).await
    }

    async fn put_typed(&self, key: String, content_type: &str, bytes: Bytes) -> Result<(), StoreError> {
        self.client
            .put_object()
            .bucket(&self.bucket)
            .key(key)
            .content_type(content_type)
            .body(ByteStream::from(bytes))
            .send()
            .await
            .map_err(|error| StoreError::from_sdk("put artifact", error))?;
        Ok(())
    }

    /// Stores a signed receipt and its signed summary, if it has one.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn put_signed(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        receipt: &ReceiptId,
        xml: Bytes,
        rfce: Option<Bytes>,
    ) -> Result<(), StoreError> {
        self.put(scope, created_at, receipt, ArtifactKind::SignedXml, xml)
            .await?;
        if let Some(rfce) = rfce {
            self.put(scope, created_at, receipt, ArtifactKind::Rfce, rfce).await?;
        }
        Ok(())
    }

    /// Stores a printed representation under the hash of its inputs, and replaces an earlier one.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn put_printed(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        receipt: &ReceiptId,
        made_of: &ContentHash,
        bytes: Bytes,
    ) -> Result<(), StoreError> {
        let key = object_key(scope, created_at, &receipt.to_string(), ArtifactKind::Ri, made_of);
        self.put_bytes(key, ArtifactKind::Ri, bytes).await
    }

    /// The printed representation with these inputs.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn printed(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        receipt: &ReceiptId,
        made_of: &ContentHash,
    ) -> Result<Option<Bytes>, StoreError> {
        let key = object_key(scope, created_at, &receipt.to_string(), ArtifactKind::Ri, made_of);
        self.bytes(&key).await
    }

    /// Stores a company's logo and returns its hash.
    ///
    /// # Errors
    /// Fails when S3 fails.
    pub async fn put_logo(
        &self,
        company: &CompanyId,
        content_type: &'static str,
        bytes: Bytes,
    ) -> Result<ContentHash, StoreError> {
        let hash = ContentHash::of(&bytes);
        self.put_typed(logo_key(company, &hash), content_type, bytes).await?;
        Ok(hash)
    }

    /// A company's logo.
    ///
    /// # Errors
    /// As for [`Artifacts::get`].
    pub async fn logo(&self, company: &CompanyId, hash: &ContentHash) -> Result<Option<Bytes>, StoreError> {
        self.object(logo_key(company, hash), hash).await
    }

    /// The document with this hash.
    ///
    /// # Errors
    /// Fails when S3 fails; [`StoreError::Corrupt`] when the bytes do not have this hash.
    pub async fn get(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        receipt: &ReceiptId,
        kind: ArtifactKind,
        hash: &ContentHash,
    ) -> Result<Option<Bytes>, StoreError> {
        let key = object_key(scope, created_at, &receipt.to_string(), kind, hash);
        self.object(key, hash).await
    }

    /// A public address of a stored document, valid for [`LINK_LIFE`]. For documents above the response limit.
    ///
    /// # Errors
    /// Fails when the address cannot be signed.
    pub async fn link(
        &self,
        scope: &Scope,
        created_at: Timestamp,
        receipt: &ReceiptId,
        kind: ArtifactKind,
        hash: &ContentHash,
        disposition: &str,
    ) -> Result<String, StoreError> {
        let operation = "presign artifact";
        let life = PresigningConfig::expires_in(LINK_LIFE).map_err(|error| StoreError::unexpected(operation, error))?;
        let presigned = self
            .client
            .get_object()
            .bucket(&self.bucket)
            .key(object_key(scope, created_at, &receipt.to_string(), kind, hash))
            .response_content_type(kind.content_type())
            .response_content_disposition(disposition)
            .response_cache_control("private, no-store")
            .presigned(life)
            .await
            .map_err(|error| StoreError::from_sdk(operation, error))?;
        Ok(presigned.uri().to_owned())
    }

    /// The document of the inbox with this hash.
    ///
    /// # Errors
    /// As for [`Artifacts::get`].
    pub async fn received(
        &self,
        scope: &Scope,
        received_at: Timestamp,
        item: &InboxId,
        kind: ArtifactKind,
        hash: &ContentHash,
    ) -> Result<Option<Bytes>, StoreError> {
        let key = object_key(scope, received_at, &item.to_string(), kind, hash);
        self.object(key, hash).await
    }

    async fn object(&self, key: String, hash: &ContentHash) -> Result<Option<Bytes>, StoreError> {
        let Some(bytes) = self.bytes(&key).await? else {
            return Ok(None);
        };
        let found = ContentHash::of(&bytes);
        if found != *hash {
            return Err(StoreError::corrupt(key, "bytes", format!("have the hash {found}")));
        }
        Ok(Some(bytes))
    }

    async fn bytes(&self, key: &str) -> Result<Option<Bytes>, StoreError> {
        let operation = "read artifact";
        let answer = match self.client.get_object().bucket(&self.bucket).key(key).send().await {
            Ok(answer) => answer,
            Err(error) if matches!(error.as_service_error(), Some(GetObjectError::NoSuchKey(_))) => return Ok(None),
            Err(error) => return Err(StoreError::from_sdk(operation, error)),
        };
        let bytes = answer
            .body
            .collect()
            .await
            .map_err(|error| StoreError::retry(operation, error))?
            .into_bytes();
        Ok(Some(bytes))
    }
}

/// `design/{company}/{hash}`.
fn logo_key(company: &CompanyId, hash: &ContentHash) -> String {
    format!("design/{company}/{hash}")
}

/// `{company}/{environment}/{yyyy}/{mm}/{public_id}/{artifact}-{hash}`, by the instant of creation in UTC.
fn object_key(scope: &Scope, created_at: Timestamp, owner: &str, kind: ArtifactKind, hash: &ContentHash) -> String {
    let date = Offset::UTC.to_datetime(created_at).date();
    format!(
        "{}/{}/{:04}/{:02}/{owner}/{}-{hash}",
        scope.company,
        scope.environment.path_segment(),
        date.year(),
        date.month(),
        kind.as_str(),
    )
}

#[cfg(test)]
mod tests {
    use ecf::Environment;

    use super::*;

    #[test]
    fn an_object_key_names_company_environment_month_receipt_and_hash() {
        let scope = Scope {
            company: CompanyId::from_random([0; 20]),
            environment: Environment::Ecf,
        };
        let receipt = "0123456789abcdefghjkmnpqrstvwxyz";
        let created_at = "2026-12-31T23:59:59-04:00".parse().unwrap();
        let key = object_key(
            &scope,
            created_at,
            receipt,
            ArtifactKind::SignedXml,
            &ContentHash::of(b""),
        );
        assert_eq!(
            key,
            "00000000000000000000000000000000/ecf/2027/01/0123456789abcdefghjkmnpqrstvwxyz/signed-xml-\
             e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn every_public_name_reads_back_and_the_older_one_too() {
        for kind in ArtifactKind::PUBLIC {
            assert_eq!(ArtifactKind::from_public_name(kind.as_str()), Some(kind));
        }
        assert_eq!(
            ArtifactKind::from_public_name("dgii-response"),
            Some(ArtifactKind::TaxauthResponse)
        );
        assert_eq!(ArtifactKind::from_public_name("payload"), None);
    }
}
