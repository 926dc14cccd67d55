//! The certificates that signed the documents of the archive: as files, and on a sheet for people. They are
//! public, because signatures contain them. No part of a P12 file is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use xmldsig::{Certificate, KeyUsage};

/// The file of the certificate that signed the manifest.
pub(super) const SIGNER: &str = "certificates/signer.pem";
pub(super) const SHEET: &str = "certificates/certificates.txt";

/// The certificates of an archive, in order of their validity.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    certificates: BTreeMap<(jiff::Timestamp, [u8; 32]), Certificate>,
    signer: Option<[u8; 32]>,
}

impl Sheet {
    pub(super) fn add(&mut self, certificate: Certificate) {
        let key = (certificate.not_before, certificate.sha256_fingerprint);
        self.certificates.entry(key).or_insert(certificate);
    }

    pub(super) fn add_signer(&mut self, certificate: &Certificate) {
        self.signer = Some(certificate.sha256_fingerprint);
        self.add(certificate.clone());
    }

    /// Names and contents of the files.
    pub(super) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = vec![(SHEET.to_owned(), self.text().into_bytes())];
        for certificate in self.certificates.values() {
            files.push((name_of(certificate), pem(certificate).into_bytes()));
            if Some(certificate.sha256_fingerprint) == self.signer {
                files.push((SIGNER.to_owned(), pem(certificate).into_bytes()));
            }
        }
        files
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if self.certificates.is_empty() {
            text.push_str("No certificate signed anything in this archive.\r\n");
        }
        for certificate in self.certificates.values() {
            let usage = certificate.key_usage.map_or("not restricted".to_owned(), in_words);
            let signs = if Some(certificate.sha256_fingerprint) == self.signer {
                " (it signs manifest.json)"
            } else {
                ""
            };
            for (name, value) in [
                ("File", format!("{}{signs}", name_of(certificate))),
                ("Subject", certificate.subject.clone()),
                ("Issuer", certificate.issuer.clone()),
                ("Serial number", certificate.serial_number.clone()),
                ("Valid from", certificate.not_before.to_string()),
                ("Valid until", certificate.not_after.to_string()),
                ("SHA-256", certificate.fingerprint_hex()),
                ("SHA-1", certificate.sha1_fingerprint_hex()),
                ("Key", certificate.public_key.to_string()),
                ("Key usage", usage),
            ] {
                let value = super::index::visible(&value);
                let _ = write!(text, "{name:<14} {value}\r\n");
            }
            text.push_str("\r\n");
        }
        text
    }
}

fn name_of(certificate: &Certificate) -> String {
    format!(
        "certificates/{}.pem",
        &hex::encode(certificate.sha256_fingerprint)[..16]
    )
}

fn pem(certificate: &Certificate) -> String {
    let base64 = STANDARD.encode(&certificate.der);
    let mut pem = "-----BEGIN CERTIFICATE-----\n".to_owned();
    for line in base64.as_bytes().chunks(64) {
        pem.extend(line.iter().map(|byte| char::from(*byte)));
        pem.push('\n');
    }
    pem + "-----END CERTIFICATE-----\n"
}

fn in_words(usage: KeyUsage) -> String {
    let uses = [
        (usage.digital_signature, "digitalSignature"),
        (usage.non_repudiation, "nonRepudiation"),
        (usage.key_encipherment, "keyEncipherment"),
        (usage.certificate_signing, "keyCertSign"),
    ];
    let uses: Vec<&str> = uses
        .iter()
        .filter(|(is_used, _)| *is_used)
        .map(|(_, name)| *name)
        .collect();
    if uses.is_empty() {
        "none of these".to_owned()
    } else {
        uses.join(", ")
    }
}
