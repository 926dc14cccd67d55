//! P12 files in the formats of twenty years, made with the `openssl` tool, through the API.

use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use test_certificates::{Cipher, Party};

use crate::{Api, fault, is};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/bench/gen_keys.sh");
const PIN: &str = "prueba123";

/// File, PIN, and the code of the error, if it is rejected.
const FILES: [(&str, &str, Option<&str>); 14] = [
    ("modern", PIN, None),
    ("legacy", PIN, None),
    ("des3", PIN, None),
    ("empty", "", None),
    ("utf8", "contraseña", None),
    ("utf8_legacy", "contraseña", None),
    // The file has a PIN, so only the integrity check shows whether it was altered.
    ("nomac", PIN, Some("no_mac")),
    ("ca_first", PIN, None),
    ("chain_legacy", PIN, None),
    ("certonly", PIN, Some("no_key")),
    ("modern", "equivocada", Some("wrong_password")),
    ("legacy", "equivocada", Some("wrong_password")),
    ("nomac", "equivocada", Some("wrong_password")),
    ("empty", "equivocada", Some("wrong_password")),
];

#[tokio::test]
async fn every_file_of_the_matrix_is_taken_or_refused_with_its_own_code() {
    let Some((_folder, keys)) = files() else { return };
    let api = Api::start().await;
    let now = ecf_runtime::Clock::system().now();
    api.stack.clock().advance(api.stack.clock().now().duration_until(now));
    for (name, pin, refusal) in FILES {
        let p12 = std::fs::read(keys.join(format!("{name}.p12"))).unwrap();
        let answer = api.upload(&p12, pin).await;
        match refusal {
            None => {
                answer.expect(201);
            }
            Some("wrong_password") => {
                assert_eq!(fault(&answer.expect(422)), is("body/pin", "wrong_password"), "{name}");
            }
            Some(code) => assert_eq!(fault(&answer.expect(422)), is("body/certificate", code), "{name}"),
        }
    }
    // Six files hold one key, two another.
    assert_eq!(api.listed().await.len(), 2);
}

/// The same for files that need no tool, and for files that no real tool writes.
#[tokio::test]
async fn files_of_every_cipher_are_taken_and_those_that_cannot_sign_are_told_apart() {
    let api = Api::start().await;
    let (from, to) = (
        "2026-01-01T00:00:00Z".parse().unwrap(),
        "2028-01-01T00:00:00Z".parse().unwrap(),
    );
    let party = |name: &str| Party::new(name, "IDCDO-00100000001", from, to).unwrap();
    let (signer, other) = (party("Firmante"), party("Otra"));
    let authority = Party::authority("Autoridad", from, to, None).unwrap();
    let leaf = authority.issue("Hoja", "IDCDO-00100000001", from, to).unwrap();
    let unusable = Party::without_signing_usage("Cifrado", "IDCDO-00100000001", from, to).unwrap();
    let pack = |key: Option<&Party>, certificates: &[&Party], cipher, pin: &str| {
        test_certificates::file(key, certificates, cipher, pin).unwrap()
    };
    for (file, pin) in [
        (pack(Some(&signer), &[&signer], Cipher::Aes256, PIN), PIN),
        (
            pack(Some(&signer), &[&signer], Cipher::TripleDes, "contraseña"),
            "contraseña",
        ),
        (
            pack(Some(&signer), &[&signer], Cipher::Rc2With40Bits, "żółć €"),
            "żółć €",
        ),
        (pack(Some(&leaf), &[&authority, &other, &leaf], Cipher::Aes256, ""), ""),
    ] {
        api.upload(&file, pin).await.expect(201);
    }
    for (file, code) in [
        (pack(None, &[&signer], Cipher::Aes256, PIN), "no_key"),
        (pack(Some(&signer), &[&other], Cipher::Aes256, PIN), "key_mismatch"),
        (pack(Some(&signer), &[], Cipher::Aes256, PIN), "no_certificate"),
        (pack(Some(&unusable), &[&unusable], Cipher::Aes256, PIN), "key_usage"),
    ] {
        let refused = api.upload(&file, PIN).await.expect(422);
        assert_eq!(fault(&refused), is("body/certificate", code), "{refused}");
    }
    assert_eq!(api.listed().await.len(), 2);
}

fn files() -> Option<(TempDir, PathBuf)> {
    if !Path::new(SCRIPT).is_file() {
        eprintln!("skipped: the matrix of P12 files (../shared is not there)");
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    let made = Command::new("sh").arg(SCRIPT).arg(&keys).output();
    if !made.is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: the matrix of P12 files (the openssl tool is not there)");
        return None;
    }
    Some((folder, keys))
}
