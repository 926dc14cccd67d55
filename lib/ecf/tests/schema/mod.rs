//! Validation under the official schemas, which are not part of this repository. It is skipped, with a message, where
//! they are missing.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Validates documents, with a placeholder for the signature. Returns false when schemas or xmllint are missing.
pub(crate) fn validate_all(schema: &str, documents: &[(String, String)]) -> bool {
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../shared/reference/xsd/{schema}.xsd"));
    if !schema.exists() {
        eprintln!("skipped: validation under the official schemas (../shared is not there)");
        return false;
    }
    let mut xmllint = Command::new("xmllint");
    xmllint.arg("--noout").arg("--schema").arg(&schema);
    for (case, xml) in documents {
        let (body, close) = xml.split_at(xml.rfind("</").unwrap());
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{case}.xml"));
        fs::write(&file, format!("{body}<Signature/>{close}")).unwrap();
        xmllint.arg(file);
    }
    let Ok(output) = xmllint.output() else {
        eprintln!("skipped: validation under the official schemas (xmllint is not there)");
        return false;
    };
    let told = String::from_utf8_lossy(&output.stderr);
    let faults: Vec<&str> = told
        .lines()
        .filter(|line| !line.ends_with(" validates"))
        .take(10)
        .collect();
    assert!(output.status.success(), "{faults:#?}");
    true
}
