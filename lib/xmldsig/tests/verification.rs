//! Documents that must verify, and documents that must be refused, each with its reason.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use common::{identity, receipt, shared};
use proptest::prelude::*;
use xmldsig::{Check, CheckResult, Limits, VerifyError, XmlErrorKind, examine, sign, verify};

fn refusal(xml: &str) -> VerifyError {
    verify(xml.as_bytes(), &Limits::default()).expect_err("it must be refused")
}

fn signed() -> String {
    String::from_utf8(sign(receipt(2).as_bytes(), identity()).unwrap().xml).unwrap()
}

/// The text before the signature, the signature, and the text after it.
fn cut(xml: &str) -> (String, String, String) {
    let start = xml.find("<Signature xmlns").unwrap();
    let end = xml.find("</Signature>").unwrap() + "</Signature>".len();
    (
        xml[..start].to_owned(),
        xml[start..end].to_owned(),
        xml[end..].to_owned(),
    )
}

#[test]
fn the_vectors_verify_and_the_tampered_one_does_not() {
    let Some(folder) = shared("reference/vectors") else {
        return;
    };
    for (file, code) in [
        ("seed-signed.xml", "gQdBjH"),
        ("ecf-31-signed.xml", "ttAvIE"),
        ("ecf-32-lt250k-signed.xml", "m7YGyX"),
        ("rfce-signed.xml", ""),
        ("acecf-signed.xml", "vceRIU"),
    ] {
        let xml = std::fs::read(folder.join(file)).unwrap();
        let verified = verify(&xml, &Limits::default()).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(verified.signature_value.starts_with(code), "{file}");
        assert_eq!(
            verified.certificate.subject_serial.as_deref(),
            Some("IDCDO-00100000009")
        );
        assert!(!verified.whitespace_dropped);
    }
    let tampered = std::fs::read_to_string(folder.join("bad-ecf-31-tampered.xml")).unwrap();
    assert!(matches!(refusal(&tampered), VerifyError::Digest { .. }));
}

#[test]
fn a_document_indented_after_signing_verifies_as_the_authority_reads_it() {
    let indented = signed().replace("><", ">\n  <");
    let verified = verify(indented.as_bytes(), &Limits::default()).unwrap();
    assert!(verified.whitespace_dropped);
    assert_eq!(verified.document, receipt(2).as_bytes());
    // A blank added to a value does not make a blank node.
    assert!(matches!(
        refusal(&indented.replace("<Version>1.0", "<Version> 1.0")),
        VerifyError::Digest { .. }
    ));
}

#[test]
fn line_breaks_in_base64_and_declarations_do_not_matter() {
    let xml = signed();
    let value = sign(receipt(2).as_bytes(), identity()).unwrap().signature_value;
    let broken = value
        .as_bytes()
        .chunks(64)
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect::<Vec<_>>()
        .join("&#13;\n");
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        xml.replace(&value, &format!("\n{broken}\n"))
    );
    let verified = verify(xml.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(verified.signature_value, value);
}

#[test]
fn every_refusal_has_its_reason() {
    let xml = signed();
    let (before, signature, after) = cut(&xml);
    let replaced = |from: &str, to: &str| {
        assert!(xml.contains(from), "{from}");
        refusal(&xml.replacen(from, to, 1))
    };
    let rsa = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256";
    let c14n = "http://www.w3.org/TR/2001/REC-xml-c14n-20010315";
    let sha256 = "http://www.w3.org/2001/04/xmlenc#sha256";
    let enveloped = "http://www.w3.org/2000/09/xmldsig#enveloped-signature";
    let transform = format!("<Transform Algorithm=\"{enveloped}\"></Transform>");

    assert_eq!(refusal(&format!("{before}{after}")), VerifyError::NoSignature);
    assert_eq!(
        refusal(&format!("{before}{signature}{signature}{after}")),
        VerifyError::SeveralSignatures
    );
    assert_eq!(
        refusal(&xml.replace("<FechaHoraFirma>", &format!("<FechaHoraFirma>{signature}"))),
        VerifyError::SeveralSignatures
    );
    assert_eq!(
        refusal(&format!("{before}<Wrapper>{signature}</Wrapper>{after}")),
        VerifyError::SignatureMoved
    );
    assert_eq!(refusal(&format!("<Outer>{xml}</Outer>")), VerifyError::SignatureMoved);
    assert_eq!(refusal(&signature), VerifyError::SignatureMoved);
    assert_eq!(
        replaced("xmlns=\"http://www.w3.org/2000/09/xmldsig#\"", "xmlns=\"urn:x\""),
        VerifyError::NoSignature
    );

    for other in [
        "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
        "http://www.w3.org/2000/09/xmldsig#hmac-sha1",
        "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256",
        "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256",
        "",
    ] {
        assert_eq!(replaced(rsa, other), VerifyError::SignatureMethod(other.to_owned()));
    }
    for other in [
        "http://www.w3.org/2006/12/xml-c14n11",
        "http://www.w3.org/TR/2001/REC-xml-c14n-20010315#WithComments",
        "http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
    ] {
        assert_eq!(replaced(c14n, other), VerifyError::Canonicalization(other.to_owned()));
    }
    for other in [
        "http://www.w3.org/2000/09/xmldsig#sha1",
        "http://www.w3.org/2001/04/xmldsig-more#md5",
    ] {
        assert_eq!(replaced(sha256, other), VerifyError::DigestMethod(other.to_owned()));
    }
    for other in ["#x", "http://localhost/x", "file:///etc/passwd"] {
        assert_eq!(
            replaced("URI=\"\"", &format!("URI=\"{other}\"")),
            VerifyError::ReferenceUri(Some(other.to_owned()))
        );
    }
    assert_eq!(replaced(" URI=\"\"", ""), VerifyError::ReferenceUri(None));
    for foreign in [
        "<Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xslt-19991116\"><x xmlns=\"\"/></Transform>",
        "<Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xpath-19991116\"><XPath>self::x</XPath></Transform>",
        "<Transform Algorithm=\"http://www.w3.org/2000/09/xmldsig#base64\"/>",
    ] {
        assert!(
            matches!(replaced(&transform, foreign), VerifyError::Transforms { .. }),
            "{foreign}"
        );
        assert!(
            matches!(
                replaced(&transform, &format!("{transform}{foreign}")),
                VerifyError::Transforms { .. }
            ),
            "{foreign}"
        );
    }
    let exclusive = "<Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"/>";
    for order in [
        String::new(),
        format!("{exclusive}{transform}"),
        format!("{transform}{transform}"),
        format!("{transform}{exclusive}{exclusive}"),
    ] {
        assert!(
            matches!(replaced(&transform, &order), VerifyError::Transforms { .. }),
            "{order}"
        );
    }
    let prefix_list = exclusive.replace(
        "/>",
        "><InclusiveNamespaces xmlns=\"http://www.w3.org/2001/10/xml-exc-c14n#\" PrefixList=\"a\"/></Transform>",
    );
    assert!(matches!(
        replaced(&transform, &format!("{transform}{prefix_list}")),
        VerifyError::Structure(_)
    ));
    let reference = &signature[signature.find("<Reference").unwrap()..signature.find("</SignedInfo>").unwrap()];
    assert_eq!(
        replaced(reference, &format!("{reference}{reference}")),
        VerifyError::References { found: 2 }
    );
    assert_eq!(replaced(reference, ""), VerifyError::References { found: 0 });
}

#[test]
fn malformed_signatures_are_refused() {
    let xml = signed();
    let (_, signature, _) = cut(&xml);
    let part = |from: &str, to: &str| &signature[signature.find(from).unwrap()..signature.find(to).unwrap() + to.len()];
    let key_info = part("<KeyInfo>", "</KeyInfo>");
    let value = part("<SignatureValue>", "</SignatureValue>");
    let method = part("<SignatureMethod", "</SignatureMethod>");
    let digest = part("<DigestValue>", "</DigestValue>");
    let refused = |from: &str, to: &str| refusal(&xml.replacen(from, to, 1));
    let truncated = method.replace("></", "><HMACOutputLength>8</HMACOutputLength></");
    for (from, to) in [
        (key_info, ""),
        (value, ""),
        (value, &*format!("{value}{value}")),
        (key_info, &format!("{key_info}<Object>x</Object>")),
        (key_info, &format!("{key_info}text")),
        (method, &truncated),
        (method, &format!("{method}{method}")),
        (method, &method.replace("Algorithm", "Method")),
        (digest, ""),
        (value, "<SignatureValue><x/></SignatureValue>"),
        (value, "<x:SignatureValue xmlns:x=\"urn:x\">AA==</x:SignatureValue>"),
        (value, &format!("<?x?>{value}")),
    ] {
        assert!(
            matches!(refused(from, to), VerifyError::Structure(_)),
            "{from} -> {to}: {:?}",
            refused(from, to)
        );
    }
    assert_eq!(refused(key_info, "<KeyInfo></KeyInfo>"), VerifyError::NoCertificate);
    assert_eq!(
        refused(
            key_info,
            "<KeyInfo><KeyValue><RSAKeyValue><Modulus>AQ==</Modulus></RSAKeyValue></KeyValue></KeyInfo>"
        ),
        VerifyError::NoCertificate
    );
    assert_eq!(
        refused("<X509Certificate>M", "<X509Certificate>*"),
        VerifyError::Base64 {
            element: "X509Certificate"
        }
    );
    assert!(matches!(
        refused("<X509Certificate>M", "<X509Certificate>A"),
        VerifyError::Certificate(_)
    ));
    assert_eq!(
        refused(digest, "<DigestValue>AAAA</DigestValue>"),
        VerifyError::DigestLength { found: 3 }
    );
    assert_eq!(
        refused(digest, "<DigestValue>A</DigestValue>"),
        VerifyError::Base64 { element: "DigestValue" }
    );
    assert_eq!(
        refused(value, "<SignatureValue>!</SignatureValue>"),
        VerifyError::Base64 {
            element: "SignatureValue"
        }
    );
    for short in ["", "AA==", &value["<SignatureValue>".len()..][..172]] {
        assert_eq!(
            refused(value, &format!("<SignatureValue>{short}</SignatureValue>")),
            VerifyError::SignatureValue
        );
    }
    let other = sign(b"<a>x</a>", identity()).unwrap().signature_value;
    assert_eq!(
        refused(value, &format!("<SignatureValue>{other}</SignatureValue>")),
        VerifyError::SignatureValue
    );
}

#[test]
fn bombs_are_refused_at_their_limit() {
    let within = |xml: &[u8], kind: &dyn Fn(&XmlErrorKind) -> bool| match verify(xml, &Limits::default()) {
        Err(VerifyError::Xml(error)) => assert!(kind(&error.kind), "{error}"),
        other => panic!("{other:?}"),
    };
    let laughs = "<!DOCTYPE a [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'><!ENTITY c '&b;&b;&b;&b;&b;&b;&b;&b;'>]><a>&c;</a>";
    within(laughs.as_bytes(), &|kind| *kind == XmlErrorKind::Doctype);
    within(b"<!DOCTYPE a SYSTEM 'http://localhost/x.dtd'><a/>", &|kind| {
        *kind == XmlErrorKind::Doctype
    });
    within(b"<a>&undefined;</a>", &|kind| {
        matches!(kind, XmlErrorKind::UnknownEntity(_))
    });
    within("<a>".repeat(10_000).as_bytes(), &|kind| {
        matches!(kind, XmlErrorKind::TooDeep { .. })
    });
    within(&vec![b'x'; 50 << 20], &|kind| {
        matches!(kind, XmlErrorKind::TooLarge { .. })
    });
    let attributes: String = (0..100_000).map(|at| format!(" a{at}=''")).collect();
    within(format!("<a{attributes}/>").as_bytes(), &|kind| {
        matches!(kind, XmlErrorKind::TooManyAttributes { .. })
    });
    let declarations: String = (0..40).map(|at| format!(" xmlns:a{at}='urn:{at}'")).collect();
    within(
        format!("<a{declarations}><b{declarations}><c{declarations}><d{declarations}/></c></b></a>").as_bytes(),
        &|kind| matches!(kind, XmlErrorKind::TooManyNamespaces { .. }),
    );
    within("<a>".repeat(63).as_bytes(), &|kind| {
        matches!(kind, XmlErrorKind::Unclosed(_))
    });
    within(format!("<a>{}", "<".repeat(1 << 20)).as_bytes(), &|kind| {
        matches!(kind, XmlErrorKind::Syntax(_) | XmlErrorKind::Name(_))
    });
    within(b"\xEF\xBB\xBF<a/>", &|kind| *kind == XmlErrorKind::ByteOrderMark);
}

#[test]
fn the_report_tells_every_check() {
    let outcomes = |xml: &str| {
        examine(xml.as_bytes(), &Limits::default())
            .outcomes()
            .map(|(_, outcome)| outcome)
            .collect::<Vec<_>>()
    };
    let xml = signed();
    assert!(outcomes(&xml).iter().all(|outcome| *outcome == CheckResult::Passed));
    // A changed document with an intact signature: only the digest check fails.
    let report = examine(xml.replace("187.50", "187.51").as_bytes(), &Limits::default());
    assert!(!report.is_valid());
    assert!(report.certificate.is_some());
    for (check, outcome) in report.outcomes() {
        assert_eq!(
            matches!(outcome, CheckResult::Failed(_)),
            check == Check::Digest,
            "{check:?} {outcome:?}"
        );
    }
    // A weak signature method: the signature value is not checked, all other checks run.
    let weak = outcomes(&xml.replace("xmldsig-more#rsa-sha256", "xmldsig-more#rsa-md5"));
    assert!(matches!(
        weak[Check::Algorithms as usize],
        CheckResult::Failed(VerifyError::SignatureMethod(_))
    ));
    assert_eq!(weak[Check::Digest as usize], CheckResult::Passed);
    assert_eq!(weak[Check::SignatureValue as usize], CheckResult::NotReached);
    let broken = outcomes("<a>");
    assert!(matches!(broken[0], CheckResult::Failed(_)));
    assert!(broken[1..].iter().all(|outcome| *outcome == CheckResult::NotReached));
    let codes: std::collections::BTreeSet<_> = Check::ALL.into_iter().map(Check::code).collect();
    assert_eq!(codes.len(), Check::ALL.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    /// Every byte from the root to the end of the signature value is protected, except for the kind of blank between
    /// attributes of a tag. `KeyInfo` after it is not signed.
    #[test]
    fn no_byte_can_be_changed(at in any::<prop::sample::Index>(), with in any::<u8>()) {
        let original = signed().into_bytes();
        let end = signed().find("</SignatureValue>").unwrap();
        let at = at.index(end);
        prop_assume!(original[at] != with);
        let tag = original[..at].iter().rposition(|byte| matches!(byte, b'<' | b'>'));
        let is_in_tag = tag.is_some_and(|place| original[place] == b'<');
        prop_assume!(!(is_in_tag && original[at] == b' ' && matches!(with, b'\t' | b'\n' | b'\r')));
        let mut altered = original;
        altered[at] = with;
        prop_assert!(verify(&altered, &Limits::default()).is_err());
    }

    #[test]
    fn nothing_makes_it_panic(start in any::<prop::sample::Index>(), length in 0..200_usize, junk in "[<>&;/!?='\"\\[\\]CDATA#x0-9a-z: \\-]{0,40}") {
        let original = signed().into_bytes();
        let start = start.index(original.len());
        let end = original.len().min(start + length);
        let mut altered = original;
        altered.splice(start..end, junk.bytes());
        let _ = verify(&altered, &Limits::default());
    }
}
