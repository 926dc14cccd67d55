//! Attacks on verifiers, each refused with its reason. Time and memory are bounded by the limits, so the reasons name
//! them.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{identity, receipt};
use openssl::hash::MessageDigest;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use xmldsig::{Limits, Method, VerifyError, XmlErrorKind, canonicalize, sign, sign_foreign, verify};

fn signed() -> String {
    String::from_utf8(sign(receipt(1).as_bytes(), identity()).unwrap().xml).unwrap()
}

fn refusal(xml: &str) -> VerifyError {
    verify(xml.as_bytes(), &Limits::default()).expect_err("it must be refused")
}

fn xml_refusal(xml: &[u8], limits: &Limits) -> XmlErrorKind {
    match verify(xml, limits) {
        Err(VerifyError::Xml(error)) => error.kind,
        other => panic!("{other:?}"),
    }
}

/// Signature wrapping: the signed document is moved to a place where it is not read, and a forged one replaces it.
#[test]
fn a_wrapped_document_is_not_taken_for_the_forged_one() {
    let original = signed();
    let start = original.find("<Signature xmlns").unwrap();
    let end = original.find("</Signature>").unwrap() + "</Signature>".len();
    let signature = &original[start..end];
    let unsigned = format!("{}{}", &original[..start], &original[end..]);
    let forged = unsigned.replace("187.50", "999.99");
    let forged_body = &forged["<ECF>".len()..forged.len() - "</ECF>".len()];
    // By position: the original in an extra element, the signature moved with it or left behind.
    assert_eq!(
        refusal(&format!("<ECF>{forged_body}<Old>{original}</Old></ECF>")),
        VerifyError::SignatureMoved
    );
    assert!(matches!(
        refusal(&format!("<ECF>{forged_body}<Old>{unsigned}</Old>{signature}</ECF>")),
        VerifyError::Digest { .. }
    ));
    // In the signature's own Object, which the enveloped transform removes.
    let with_object = signature.replace("</Signature>", &format!("<Object>{unsigned}</Object></Signature>"));
    assert!(matches!(
        refusal(&format!("<ECF>{forged_body}{with_object}</ECF>")),
        VerifyError::Structure(_)
    ));
    // By identifier: the reference points to the original at any position, also when two elements share the identifier.
    let by_id = signature.replace("URI=\"\"", "URI=\"#a\"");
    let original_with_id = unsigned.replacen("<ECF>", "<ECF Id=\"a\">", 1);
    for root in ["<ECF>", "<ECF Id=\"a\">"] {
        assert_eq!(
            refusal(&format!(
                "{root}{forged_body}<Old>{original_with_id}</Old>{by_id}</ECF>"
            )),
            VerifyError::ReferenceUri(Some("#a".to_owned()))
        );
    }
}

/// Identifiers have no meaning here: duplicates are content like any other, covered by the digest.
#[test]
fn duplicate_identifiers_neither_help_nor_hurt() {
    let document = receipt(1)
        .replacen("<Encabezado>", "<Encabezado Id=\"a\">", 1)
        .replacen("<DetallesItems>", "<DetallesItems Id=\"a\">", 1);
    let signed = sign_foreign(document.as_bytes(), identity(), &Limits::default()).unwrap();
    let verified = verify(&signed.xml, &Limits::default()).unwrap();
    assert_eq!(verified.document, document.as_bytes());
    let text = String::from_utf8(signed.xml).unwrap();
    assert!(matches!(
        refusal(&text.replacen("Id=\"a\"", "Id=\"b\"", 1)),
        VerifyError::Digest { .. }
    ));
}

/// A verifier that lets the document choose the algorithm would use the public certificate as the secret of an HMAC.
#[test]
fn a_mac_keyed_with_the_public_certificate_is_no_signature() {
    let hmac = "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256";
    let xml = signed().replace("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", hmac);
    let start = xml.find("<SignedInfo>").unwrap();
    let end = xml.find("</SignedInfo>").unwrap() + "</SignedInfo>".len();
    let standing_alone = xml[start..end].replacen(
        "<SignedInfo>",
        "<SignedInfo xmlns=\"http://www.w3.org/2000/09/xmldsig#\">",
        1,
    );
    let signed_info = canonicalize(standing_alone.as_bytes(), Method::Inclusive, &Limits::default()).unwrap();
    let key = PKey::hmac(&identity().certificate().der).unwrap();
    let mac = Signer::new(MessageDigest::sha256(), &key)
        .unwrap()
        .sign_oneshot_to_vec(&signed_info)
        .unwrap();
    let value_start = xml.find("<SignatureValue>").unwrap() + "<SignatureValue>".len();
    let value_end = xml.find("</SignatureValue>").unwrap();
    let mac = openssl::base64::encode_block(&mac);
    let forged = format!("{}{mac}{}", &xml[..value_start], &xml[value_end..]);
    assert_eq!(refusal(&forged), VerifyError::SignatureMethod(hmac.to_owned()));
}

#[test]
fn ten_thousand_levels_are_refused_at_the_limit() {
    let limits = Limits::default();
    let deep = format!("{}{}", "<a>".repeat(10_000), "</a>".repeat(10_000));
    let inside = signed().replacen("<FechaHoraFirma>", &format!("{deep}<FechaHoraFirma>"), 1);
    for xml in [deep.as_str(), &inside, &"<a>".repeat(10_000)] {
        assert_eq!(
            xml_refusal(xml.as_bytes(), &limits),
            XmlErrorKind::TooDeep {
                limit: limits.max_depth
            }
        );
    }
}

#[test]
fn fifty_megabytes_are_refused_before_they_are_read() {
    let limits = Limits::default();
    let text = "x".repeat(50 << 20);
    let xml = signed().replacen("<FechaHoraFirma>", &format!("<Nota>{text}</Nota><FechaHoraFirma>"), 1);
    assert_eq!(
        xml_refusal(xml.as_bytes(), &limits),
        XmlErrorKind::TooLarge {
            bytes: xml.len(),
            limit: limits.max_bytes
        }
    );
    // With limits this wide, the document is verified: one text node costs only its bytes.
    let wide = Limits {
        max_bytes: 64 << 20,
        ..limits
    };
    assert!(matches!(verify(xml.as_bytes(), &wide), Err(VerifyError::Digest { .. })));
}

#[test]
fn entities_are_refused_before_they_are_resolved() {
    let original = signed();
    for (declaration, name) in [
        ("<!DOCTYPE ECF [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>", "e"),
        (
            "<!DOCTYPE ECF [<!ENTITY % p SYSTEM \"http://localhost/p.dtd\"> %p;]>",
            "e",
        ),
        ("<!DOCTYPE ECF PUBLIC \"-//X//Y\" \"http://localhost/x.dtd\">", "e"),
        (
            "<!DOCTYPE ECF [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\"><!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">]>",
            "c",
        ),
        ("<!doctype ECF>", "e"),
    ] {
        let inside = original.replacen("<FechaHoraFirma>", &format!("<Nota>&{name};</Nota><FechaHoraFirma>"), 1);
        let limits = Limits::default();
        for xml in [
            format!("{declaration}{inside}"),
            format!("<?xml version=\"1.0\"?>\n{declaration}\n{original}"),
        ] {
            assert_eq!(
                xml_refusal(xml.as_bytes(), &limits),
                XmlErrorKind::Doctype,
                "{declaration}"
            );
        }
        assert_eq!(
            xml_refusal(inside.as_bytes(), &limits),
            XmlErrorKind::UnknownEntity(name.to_owned())
        );
    }
}
