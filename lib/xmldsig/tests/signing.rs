//! What we sign, judged by ourselves, by the vectors of `../shared`, and by xmlsec1.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{identity, receipt, run, shared, write};
use xmldsig::{Limits, SignError, Signed, sign, sign_foreign, verify};

/// Verifies with our verifier and, where it is installed, with xmlsec1.
fn assert_verifies(name: &str, signed: &Signed) {
    let verified = verify(&signed.xml, &Limits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(!verified.whitespace_dropped);
    assert_eq!(verified.signature_value, signed.signature_value);
    assert_eq!(verified.certificate, *identity().certificate());
    let path = write(&format!("{name}.xml"), &signed.xml);
    let Some(output) = run("xmlsec1", &["--verify", "--insecure", path.to_str().unwrap()]) else {
        return;
    };
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: xmlsec1 says {words}");
}

#[test]
fn canonical_documents_are_signed_as_they_are() {
    for items in [1, 10, 1000] {
        let document = receipt(items);
        let signed = sign(document.as_bytes(), identity()).unwrap();
        assert_verifies(&format!("receipt-{items}"), &signed);
        let verified = verify(&signed.xml, &Limits::default()).unwrap();
        assert_eq!(verified.document, document.as_bytes());
        // Nothing but the signature was added, and no white space with it.
        let text = String::from_utf8(signed.xml.clone()).unwrap();
        let (before, rest) = text.split_once("<Signature").unwrap();
        let (signature, after) = rest.split_once("</Signature>").unwrap();
        assert_eq!(format!("{before}{after}"), document);
        assert!(!signature.contains(['\n', '\r', '\t']));
        assert!(!signature.contains("> <"));
        assert_eq!(signed.digest, openssl::sha::sha256(document.as_bytes()));
    }
}

#[test]
fn the_same_document_and_key_give_the_same_bytes() {
    assert_eq!(
        sign(b"<a>x</a>", identity()).unwrap(),
        sign(b"<a>x</a>", identity()).unwrap()
    );
}

#[test]
fn documents_of_others_are_signed_in_canonical_form() {
    let sources = [
        (
            "seed",
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\r\n<SemillaModel xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\">\r\n  <valor>c2VtaWxsYQ==</valor>\r\n  <fecha>2026-06-01T11:59:31-04:00</fecha>\r\n</SemillaModel>\r\n",
        ),
        ("plain", "<a>\n <b/>\n</a>"),
        (
            "default",
            "<a xmlns='urn:x' xml:lang='es' q='1'><b xmlns=''>x &#13; y</b><!-- c --></a>",
        ),
        (
            "prefix",
            "<p:a xmlns:p='urn:p' xmlns:unused='urn:u' xml:space='preserve' p:z='1' a='2'> <p:b><![CDATA[<&>]]></p:b></p:a>",
        ),
        ("instruction", "<?before x?><a>ñ<?inside?></a><?after y?>"),
        (
            "signature-prefix",
            "<ds:a xmlns:ds='http://www.w3.org/2000/09/xmldsig#'><ds:b/></ds:a>",
        ),
        (
            "signature-namespace",
            "<a xmlns='http://www.w3.org/2000/09/xmldsig#'><b/></a>",
        ),
    ];
    for (name, source) in sources {
        let signed = sign_foreign(source.as_bytes(), identity(), &Limits::default())
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_verifies(&format!("foreign-{name}"), &signed);
    }
}

#[test]
fn signed_information_is_the_same_as_in_the_vectors() {
    let Some(folder) = shared("reference/vectors") else {
        return;
    };
    for file in ["seed-signed.xml", "acecf-signed.xml"] {
        let vector = std::fs::read_to_string(folder.join(file)).unwrap();
        let start = vector.find("<Signature").unwrap();
        let end = vector.find("</Signature>").unwrap() + "</Signature>".len();
        let unsigned = format!("{}{}", &vector[..start], &vector[end..]);
        let signed = sign_foreign(unsigned.as_bytes(), identity(), &Limits::default()).unwrap();
        let ours = String::from_utf8(signed.xml).unwrap();
        // The vector keeps the root as it was received, ours is canonical.
        let signed_info =
            |text: &str| text[text.find("<Signature ").unwrap()..text.find("<SignatureValue>").unwrap()].to_owned();
        assert_eq!(signed_info(&ours), signed_info(&vector), "{file}");
    }
}

#[test]
fn signed_or_broken_documents_are_refused() {
    let signed = sign(b"<a>x</a>", identity()).unwrap();
    assert!(matches!(sign(&signed.xml, identity()), Err(SignError::AlreadySigned)));
    let limits = Limits::default();
    assert!(matches!(
        sign_foreign(&signed.xml, identity(), &limits),
        Err(SignError::AlreadySigned)
    ));
    assert!(matches!(
        sign_foreign(b"<a>", identity(), &limits),
        Err(SignError::Xml(_))
    ));
    assert!(matches!(
        sign(b"<a b=\"c\"></a>", identity()),
        Err(SignError::NotCanonical(_))
    ));
}
