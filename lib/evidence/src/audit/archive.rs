//! The archive under way: entries go out, their records and hashes to files on the disk, so that memory does not grow.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use xmldsig::Identity;

use super::out::Out;
use super::pack::{Growing, Grown, Packed, Pieces, pack};
use super::plan::Order;
use super::zip::{self, Entry};
use super::{AuditError, Worth, plan::Plan};

const MANIFEST: &str = "manifest.json";
const SIGNATURE: &str = "manifest.json.sig";

/// A line of the manifest.
#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    size: u64,
    sha256: String,
}

/// An archive under way.
pub(super) struct Archive {
    out: Out,
    directory: BufWriter<File>,
    directory_bytes: u64,
    entries: u64,
    manifest: Growing,
}

impl Archive {
    pub(super) fn begin(plan: &Plan, out: Out) -> Result<Self, AuditError> {
        let mut manifest = Growing::new()?;
        let Order { scope, span } = plan.order;
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
        // The list of entries becomes its last member.
        manifest.write(about.trim_end_matches('}').as_bytes())?;
        manifest.write(b",\"entries\":[")?;
        Ok(Self {
            out,
            directory: BufWriter::new(tempfile::tempfile()?),
            directory_bytes: 0,
            entries: 0,
            manifest,
        })
    }

    /// Adds a file.
    pub(super) async fn add(&mut self, packed: Packed) -> Result<(), AuditError> {
        self.list(&packed.entry, &packed.sha256)?;
        self.place(&packed.entry).await?;
        self.out.write(&packed.bytes).await
    }

    /// Adds a file that grew on the disk.
    pub(super) async fn add_grown(&mut self, grown: Grown) -> Result<(), AuditError> {
        self.list(&grown.entry, &grown.sha256)?;
        self.place_grown(grown).await
    }

    /// Ends the archive: the manifest, its signature, the directory.
    pub(super) async fn finish(mut self, signer: Option<&Identity>, worth: Worth) -> Result<u64, AuditError> {
        self.manifest.write(b"\n]}\n")?;
        let manifest = std::mem::replace(&mut self.manifest, Growing::new()?).finish(MANIFEST)?;
        let signature = signer.map(|signer| signer.sign_digest(&manifest.sha256)).transpose()?;
        self.place_grown(manifest).await?;
        if let Some(signature) = signature {
            let packed = pack(SIGNATURE.to_owned(), None, Bytes::from(signature))?;
            self.place(&packed.entry).await?;
            self.out.write(&packed.bytes).await?;
        }
        let offset = self.out.written();
        let mut directory = Pieces::of(self.directory)?;
        while let Some(piece) = directory.next()? {
            self.out.write(&piece).await?;
        }
        let end = zip::end(self.entries, self.directory_bytes, offset);
        self.out.write(&end).await?;
        self.out.finish(worth).await
    }

    /// Gives it up.
    pub(super) async fn abort(self) {
        self.out.abort().await;
    }

    fn list(&mut self, entry: &Entry, sha256: &[u8; 32]) -> Result<(), AuditError> {
        debug_assert!(is_safe(&entry.name), "{}", entry.name);
        let listed = Listed {
            name: &entry.name,
            size: entry.size_bytes,
            sha256: hex::encode(sha256),
        };
        let first = self.entries == 0;
        self.manifest.write(if first { b"\n" } else { b",\n" })?;
        let line = serde_json::to_vec(&listed).map_err(std::io::Error::other)?;
        Ok(self.manifest.write(&line)?)
    }

    async fn place(&mut self, entry: &Entry) -> Result<(), AuditError> {
        let record = entry.record(self.out.written());
        self.directory.write_all(&record)?;
        self.directory_bytes += record.len() as u64;
        self.entries += 1;
        self.out.write(&entry.header()).await
    }

    async fn place_grown(&mut self, mut grown: Grown) -> Result<(), AuditError> {
        self.place(&grown.entry).await?;
        while let Some(piece) = grown.pieces.next()? {
            self.out.write(&piece).await?;
        }
        Ok(())
    }
}

/// Whether every system unpacks a file of this name where it belongs: names are made of numbers and ids, never of what a caller wrote.
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
