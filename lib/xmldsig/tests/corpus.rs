//! Runs the corpus of each fuzz target without a fuzzer.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xmldsig::Method;

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz targets' own crate calls them")]
mod fuzz;

/// Runs `check` on every input of a target, of which there must be `at_least`.
fn replay(target: &str, at_least: usize, check: impl Fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).unwrap();
    let files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= at_least, "{target} has {} inputs", files.len());
    for file in files {
        eprintln!("{}", file.display());
        check(&std::fs::read(file).unwrap());
    }
}

#[test]
fn canonical_forms_are_stable() {
    replay("canonicalize", 4, fuzz::canonicalize);
}

#[test]
fn whatever_can_be_signed_verifies() {
    replay("sign_foreign", 5, fuzz::sign_foreign);
}

#[test]
fn reports_agree_with_verdicts() {
    replay("verify", 2, fuzz::verify);
}

#[test]
fn no_file_makes_the_p12_reader_panic() {
    replay("pkcs12", 2, fuzz::pkcs12);
}

#[test]
fn certificates_are_read_as_openssl_reads_them() {
    replay("certificate", 3, fuzz::certificate);
}

/// The fuzzer links libxml2. Here `xmllint` replaces it, which keeps comments and has no option against that.
#[test]
fn canonical_forms_are_those_of_libxml2() {
    if Command::new("xmllint").arg("--version").output().is_err() {
        eprintln!("skipped: canonical forms beside those of libxml2 (xmllint is not installed)");
        return;
    }
    replay("differential", 4, |xml| {
        let has_comment = xml.windows(4).any(|window| window == b"<!--");
        if !has_comment {
            fuzz::differential(xml, xmllint);
        }
    });
}

fn xmllint(xml: &[u8], method: Method) -> Option<Vec<u8>> {
    let option = match method {
        Method::Inclusive => "--c14n",
        Method::Exclusive => "--exc-c14n",
    };
    let mut child = Command::new("xmllint")
        .args(["--nonet", option, "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The process may exit before it has read all input.
    let _ = child.stdin.take().unwrap().write_all(xml);
    let output = child.wait_with_output().unwrap();
    output.status.success().then_some(output.stdout)
}
