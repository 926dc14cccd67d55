//! Runs the corpus of the fuzz target without a fuzzer.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::path::Path;

#[path = "../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "the fuzz target's own crate calls it")]
mod fuzz;

#[test]
fn s5_the_work_on_a_document_grows_with_its_size() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/receive");
    let entries = std::fs::read_dir(folder).unwrap();
    let files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 5, "{} inputs", files.len());
    for file in files {
        eprintln!("{}", file.display());
        fuzz::receive(&std::fs::read(file).unwrap());
    }
    // Larger than a fuzzer generates in a reasonable time.
    for shape in ["<a/>", "<Item><a/></Item>", "<b c=\"1\"/>", "&amp;", "texto"] {
        let many = format!(
            "<ECF><Encabezado><IdDoc>{}</IdDoc></Encabezado></ECF>",
            shape.repeat(50_000)
        );
        fuzz::receive(many.as_bytes());
    }
    let different: String = (0..50_000).map(|number| format!("<a{number}/>")).collect();
    fuzz::receive(format!("<ECF>{different}</ECF>").as_bytes());
}
