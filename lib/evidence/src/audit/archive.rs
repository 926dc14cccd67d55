//! The archive while it is built: `zip` writes entries into memory, and each chunk is passed on at once. What stays in
//! memory is the ZIP's directory, about 280 bytes for each entry. The manifest grows on the disk.

use std::io::{self, Read, Write};
use std::mem;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ecf::SANTO_DOMINGO;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use xmldsig::Identity;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::growing::{Growing, Grown};
use super::out::{CHUNK_BYTES, Out};
use super::plan::ArchiveRequest;
use super::{AuditError, Worth, plan::Plan};

const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "manifest.json.sig";

/// One entry of the manifest.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    size: u64,
    sha256: String,
}

/// An archive while it is built.
pub(super) struct Archive {
    out: Out,
    zip: ZipWriter<StreamWriter<Pending>>,
    pending: Pending,
    manifest: Growing,
    is_empty: bool,
}

impl Archive {
    pub(super) fn begin(plan: &Plan, out: Out) -> Result<Self, AuditError> {
        let mut manifest = Growing::new()?;
        let ArchiveRequest { scope, span } = plan.request;
        let about = json!({
            "format": "ecf-audit/1",
            "company": { "rnc": plan.rnc, "name": plan.name },
            "environment": scope.environment.as_str(),
            "date_from": span.from,
            "date_to": span.to,
            "receipts": plan.receipts,
            "received": plan.received,
            "approvals": plan.approvals,
            "content": plan.content.to_string(),
        });
        let about = about.to_string();
        // The list of entries becomes the last member of the object.
        manifest.write(about.trim_end_matches('}').as_bytes())?;
        manifest.write(b",\"entries\":[")?;
        let pending = Pending::default();
        Ok(Self {
            out,
            zip: ZipWriter::new_stream(pending.clone()),
            pending,
            manifest,
            is_empty: true,
        })
    }

    /// Adds a file.
    pub(super) async fn add(
        &mut self,
        name: &str,
        modified: Option<Timestamp>,
        bytes: &[u8],
    ) -> Result<(), AuditError> {
        let size_bytes = bytes.len() as u64;
        self.list(name, size_bytes, &Sha256::digest(bytes).into())?;
        self.write(name, modified, size_bytes, bytes).await
    }

    /// Adds a file that was collected on the disk.
    pub(super) async fn add_grown(&mut self, name: &str, grown: Grown) -> Result<(), AuditError> {
        self.list(name, grown.size_bytes, &grown.sha256)?;
        self.write(name, None, grown.size_bytes, grown.file).await
    }

    /// Completes the archive: manifest, signature, ZIP directory.
    pub(super) async fn finish(mut self, signer: Option<&Identity>, worth: Worth) -> Result<u64, AuditError> {
        self.manifest.write(b"\n]}\n")?;
        let manifest = mem::replace(&mut self.manifest, Growing::new()?).finish()?;
        let signature = signer.map(|signer| signer.sign_digest(&manifest.sha256)).transpose()?;
        self.write(MANIFEST, None, manifest.size_bytes, manifest.file).await?;
        if let Some(signature) = signature {
            let size_bytes = signature.len() as u64;
            self.write(SIGNATURE, None, size_bytes, signature.as_slice()).await?;
        }
        self.zip.finish()?;
        for piece in self.pending.take().chunks(CHUNK_BYTES) {
            self.out.write(piece).await?;
        }
        self.out.finish(worth).await
    }

    /// Discards the archive.
    pub(super) async fn abort(self) {
        self.out.abort().await;
    }

    fn list(&mut self, name: &str, size: u64, sha256: &[u8; 32]) -> Result<(), AuditError> {
        debug_assert!(is_safe(name), "{name}");
        let sha256 = hex::encode(sha256);
        let first = mem::take(&mut self.is_empty);
        self.manifest.write(if first { b"\n" } else { b",\n" })?;
        let line = serde_json::to_vec(&Listed { name, size, sha256 }).map_err(io::Error::other)?;
        Ok(self.manifest.write(&line)?)
    }

    /// Writes an entry. Its size follows its data, so it is always deflated, even where that makes it longer: a reader
    /// of a stream finds the end of an entry by the deflate data.
    async fn write(
        &mut self,
        name: &str,
        modified: Option<Timestamp>,
        size_bytes: u64,
        mut content: impl Read + Send,
    ) -> Result<(), AuditError> {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(modified.and_then(local_time).unwrap_or_default())
            .large_file(size_bytes >= u64::from(u32::MAX));
        self.zip.start_file(name, options)?;
        while io::copy(&mut content.by_ref().take(CHUNK_BYTES as u64), &mut self.zip)? > 0 {
            self.out.write(&self.pending.take()).await?;
        }
        Ok(())
    }
}

/// Bytes that `zip` has written and that are not passed on yet.
#[derive(Debug, Clone, Default)]
struct Pending(Arc<Mutex<Vec<u8>>>);

impl Pending {
    fn take(&self) -> Vec<u8> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Pending {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Date and time of an entry at −04:00; `None` when the ZIP format cannot hold the year.
fn local_time(at: Timestamp) -> Option<DateTime> {
    let at = SANTO_DOMINGO.to_datetime(at);
    let [month, day, hour, minute, second] =
        [at.month(), at.day(), at.hour(), at.minute(), at.second()].map(i8::unsigned_abs);
    DateTime::from_date_and_time(at.year().try_into().ok()?, month, day, hour, minute, second).ok()
}

/// Whether a file of this name unpacks safely on every system. Names consist of numbers and ids, never of text from a
/// caller.
fn is_safe(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/');
    name.len() <= 160
        && name.bytes().all(plain)
        && Path::new(name).is_relative()
        && name
            .split('/')
            .all(|step| !step.starts_with('.') && !step.is_empty() && !step.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_has_the_local_time_if_the_format_knows_its_year() {
        let at = local_time("2026-11-28T03:59:58Z".parse().unwrap()).unwrap();
        assert_eq!(at.to_string(), "2026-11-27 23:59:58");
        for at in ["1979-12-31T00:00:00Z", "2108-02-01T00:00:00Z"] {
            assert_eq!(local_time(at.parse().unwrap()), None, "{at}");
        }
    }

    #[test]
    fn a_name_that_leads_elsewhere_or_that_windows_does_not_take_is_not_safe() {
        for name in [
            "README.txt",
            "issued/2026-11-27/E310000000001-0123abcd/130000001E310000000001.xml",
        ] {
            assert!(is_safe(name), "{name}");
        }
        for name in [
            "/a",
            "../a",
            "a/../b",
            "a\\b",
            "a:b",
            "a/b.",
            "a//b",
            "a\u{202e}",
            "a b",
            "",
            "./a",
            &"a".repeat(161),
        ] {
            assert!(!is_safe(name), "{name}");
        }
    }
}
