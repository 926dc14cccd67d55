//! Our signatures, verified by our verifier, by the vectors of `../shared`, and by xmlsec1.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{identity, receipt, run, shared, write};
use openssl::pkey::PKey;
use openssl::rsa::Rsa;
use xmldsig::{Limits, Method, SignError, SignedDocument, canonicalize, sign, sign_foreign, verify};

/// Verifies with our verifier and, if installed, with xmlsec1.
fn assert_verifies(name: &str, signed: &SignedDocument) {
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
        // Only the signature and character references were added, without white space.
        let text = String::from_utf8(signed.xml.clone()).unwrap();
        let (before, rest) = text.split_once("<Signature").unwrap();
        let (signature, after) = rest.split_once("</Signature>").unwrap();
        let unsigned = format!("{before}{after}");
        let canonical = canonicalize(unsigned.as_bytes(), Method::Inclusive, &Limits::default()).unwrap();
        assert_eq!(canonical, document.as_bytes());
        assert!(!unsigned.contains(['"', '\'']));
        assert!(!signature.contains(['\n', '\r', '\t']));
        assert!(!signature.contains("> <"));
        assert_eq!(signed.digest, openssl::sha::sha256(document.as_bytes()));
    }
}

#[test]
fn c15_five_characters_are_signed_raw_and_stored_as_references() {
    let canonical = "<ECF><RazonSocialEmisor>O'Neill &amp; \"Hijos\" ©2026 ®</RazonSocialEmisor><NombreItem>Café 5 €</NombreItem></ECF>";
    let stored = "<ECF><RazonSocialEmisor>O&#39;Neill &amp; &#34;Hijos&#34; &#169;2026 &#174;</RazonSocialEmisor>\
                  <NombreItem>Café 5 &#8364;</NombreItem><Signature ";
    let signed = sign(canonical.as_bytes(), identity()).unwrap();
    assert!(
        signed.xml.starts_with(stored.as_bytes()),
        "{}",
        String::from_utf8_lossy(&signed.xml)
    );
    // The digest and the verified document are those of the canonical form.
    assert_eq!(signed.digest, openssl::sha::sha256(canonical.as_bytes()));
    assert_eq!(
        verify(&signed.xml, &Limits::default()).unwrap().document,
        canonical.as_bytes()
    );
    assert_verifies("references", &signed);
    // A form of the portal, with the same characters in attributes, where they may be raw.
    let form = "<Postulacion a=\"it's © €\" b='\"'>L'Oréal \"®\"</Postulacion>";
    let signed = sign_foreign(form.as_bytes(), identity(), &Limits::default()).unwrap();
    let expected = "<Postulacion a=\"it's © €\" b=\"&quot;\">L&#39;Oréal &#34;&#174;&#34;<Signature ";
    assert!(
        signed.xml.starts_with(expected.as_bytes()),
        "{}",
        String::from_utf8_lossy(&signed.xml)
    );
    assert_verifies("references-foreign", &signed);
}

/// Signatures of xmlsec1, in every form that the profile allows, on ordinary and on difficult documents.
#[test]
fn what_xmlsec1_signs_verifies_here() {
    let inclusive = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";
    let exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#";
    let key = PKey::from_rsa(Rsa::generate(2048).unwrap()).unwrap();
    let (from, to) = (
        "2020-01-01T00:00:00Z".parse().unwrap(),
        "2040-01-01T00:00:00Z".parse().unwrap(),
    );
    let certificate = test_certificates::self_signed(&key, "Firma ajena", "IDCDO-00100000002", from, to).unwrap();
    let key_path = write("foreign-key.pem", &key.private_key_to_pem_pkcs8().unwrap());
    let certificate_path = write("foreign-certificate.pem", &certificate.to_pem().unwrap());
    let keys = format!("{},{}", key_path.display(), certificate_path.display());
    for (name, before, after) in FOREIGN_DOCUMENTS {
        for prefix in ["", "ds:"] {
            for method in [inclusive, exclusive] {
                for transform in [None, Some(inclusive), Some(exclusive)] {
                    let template = template(prefix, method, transform);
                    let xml = format!("{before}{}{after}", template);
                    let path = write("foreign-template.xml", xml.as_bytes());
                    let arguments = ["--sign", "--privkey-pem", &keys, path.to_str().unwrap()];
                    let Some(output) = run("xmlsec1", &arguments) else {
                        return;
                    };
                    let case = format!("{name}, prefix {prefix:?}, {method}, {transform:?}");
                    assert!(
                        output.status.success(),
                        "{case}: {}",
                        String::from_utf8_lossy(&output.stderr)
                    );
                    let verified = verify(&output.stdout, &Limits::default());
                    let verified = verified.unwrap_or_else(|error| panic!("{case}: {error}"));
                    assert_eq!(verified.certificate.subject_cn, "Firma ajena");
                    assert!(!verified.whitespace_dropped, "{case}");
                }
            }
        }
    }
}

/// Name, text before the signature, text after it.
const FOREIGN_DOCUMENTS: [(&str, &str, &str); 6] = [
    ("bare", "<ECF><a>ñ</a>", "</ECF>"),
    (
        "declarations",
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<ECF xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\"><a xsi:nil=\"true\"/>",
        "</ECF>\n",
    ),
    ("indented", "<ECF>\n  <a>1</a>\n  ", "\n</ECF>\n"),
    (
        "default namespace",
        "<x:r xmlns:x='urn:x' xmlns='urn:d' xml:lang='es'><b x:c='1' a='2'/>",
        "<d/></x:r>",
    ),
    (
        "difficult text",
        "<r><a>&gt; > &quot;' &#13;&#10;\r\n &#9;</a><b><![CDATA[a & b <c>]]></b><!-- c --> <c/>\u{1F600}   ",
        "<?after x?></r>",
    ),
    ("instructions", "<?one?><r>", "</r><?two three?>"),
];

fn template(prefix: &str, method: &str, transform: Option<&str>) -> String {
    let declaration = if prefix.is_empty() { "xmlns" } else { "xmlns:ds" };
    let transform = transform.map_or(String::new(), |uri| format!("<Transform Algorithm=\"{uri}\"/>"));
    let template = format!(
        "<Signature {declaration}=\"http://www.w3.org/2000/09/xmldsig#\"><SignedInfo>\n\
         <CanonicalizationMethod Algorithm=\"{method}\"/>\
         <SignatureMethod Algorithm=\"http://www.w3.org/2001/04/xmldsig-more#rsa-sha256\"/><Reference URI=\"\"><Transforms>\
         <Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#enveloped-signature\"/>{transform}</Transforms>\
         <DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"/><DigestValue></DigestValue></Reference>\
         </SignedInfo><SignatureValue></SignatureValue><KeyInfo><X509Data><X509Certificate></X509Certificate></X509Data>\
         </KeyInfo></Signature>"
    );
    // Adds the prefix to every tag.
    template
        .replace("</", "\u{1}")
        .replace('<', &format!("<{prefix}"))
        .replace('\u{1}', &format!("</{prefix}"))
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
        // The vector keeps the root as received, ours is canonical.
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
