//! Our canonical forms compared with those of libxml2, and our XML reader compared with quick-xml.

#![expect(clippy::unwrap_used, reason = "tests")]

mod common;

use std::path::PathBuf;
use std::process::Command;

use common::{run, shared, write};
use proptest::prelude::*;
use xmldsig::{Limits, Method, XmlErrorKind, canonicalize};

fn ours(xml: &str, method: Method) -> Vec<u8> {
    canonicalize(xml.as_bytes(), method, &Limits::default()).unwrap_or_else(|error| panic!("{error}: {xml}"))
}

/// The output of `xmllint`; `None` when it is not installed.
fn xmllint(option: &str, path: &str) -> Option<Vec<u8>> {
    let output = run("xmllint", &["--nonet", option, path])?;
    assert!(
        output.status.success(),
        "xmllint: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(output.stdout)
}

/// `--c14n` keeps comments and ours does not, so only documents without comments are compared.
fn assert_agrees(name: &str, xml: &str) -> Option<()> {
    let path = write(&format!("c14n-{name}.xml"), xml.as_bytes());
    for (method, option) in [(Method::Inclusive, "--c14n"), (Method::Exclusive, "--exc-c14n")] {
        let theirs = xmllint(option, path.to_str().unwrap())?;
        let ours = ours(xml, method);
        assert_eq!(
            String::from_utf8_lossy(&ours),
            String::from_utf8_lossy(&theirs),
            "{name} {method:?}: {xml}"
        );
        // Canonical bytes are their own canonical form.
        assert_eq!(
            canonicalize(&ours, method, &Limits::default()).unwrap(),
            ours,
            "{name} {method:?}"
        );
    }
    Some(())
}

const DOCUMENTS: [(&str, &str); 16] = [
    ("empty", "<a/>"),
    ("blank-in-tags", "<a  b = '1'\n\tc=\"2\" ><d ></d ><e\n/></a\n>"),
    (
        "entities",
        "<a b='&lt;&amp;&gt;&quot;&apos;'>&lt;&amp;&gt;&quot;&apos;&#241;&#x1F600;</a>",
    ),
    (
        "cr",
        "<a b='1\r\n2\r3&#13;4&#10;5&#9;6\t7'>x\r\ny\rz&#13;w&#10;&#9;</a>",
    ),
    ("cdata", "<a><![CDATA[<&>\"' ]] > \r\n]]>x<![CDATA[]]></a>"),
    ("text-gt", "<a>1 > 2 ]] > 3 ]]&gt;</a>"),
    (
        "default-redeclared",
        "<a xmlns='urn:a'><b xmlns='urn:a'><c xmlns=''><d xmlns=''/><e xmlns='urn:a'/></c></b></a>",
    ),
    ("empty-default-at-root", "<a xmlns=''><b xmlns=''/></a>"),
    (
        "prefixes",
        "<z:a xmlns:z='urn:z' xmlns:b='urn:b' xmlns='urn:d'><b:c xmlns:q='urn:q' b:x='1' q:x='2' x='3'/><z:d xmlns:z='urn:z2'/></z:a>",
    ),
    (
        "prefix-switched",
        "<p:a xmlns:p='urn:1'><p:b xmlns:p='urn:2'><p:c xmlns:p='urn:1'/></p:b></p:a>",
    ),
    (
        "siblings",
        "<r><a xmlns:x='urn:x'><x:b/></a><a xmlns:x='urn:x'><x:b/></a></r>",
    ),
    (
        "attribute-order",
        "<e xmlns:a='http://www.w3.org' xmlns:b='http://www.ietf.org' b:attr='1' attr2='2' a:attr='3' attr='4' xml:lang='es' xml:space='default'/>",
    ),
    (
        "unused",
        "<ECF xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' xmlns:xsd='http://www.w3.org/2001/XMLSchema'><a xsi:type='xsd:string'>x</a></ECF>",
    ),
    (
        "xml-prefix",
        "<a xmlns:xml='http://www.w3.org/XML/1998/namespace' xml:id='x'><xml:b/></a>",
    ),
    (
        "instructions",
        "<?xml version='1.0'?>\n<?one?>\n\n<?two  x y ?><a><?three\n\nz?></a>\n<?four?> <?five?>\n",
    ),
    ("names", "<Año ñ='1'><_a-b.c1/><日本 語='x'/></Año>"),
];

#[test]
fn constructed_documents_agree_with_libxml2() {
    for (name, xml) in DOCUMENTS {
        if assert_agrees(name, xml).is_none() {
            return;
        }
    }
}

#[test]
fn the_vectors_and_edge_documents_agree_with_libxml2() {
    let mut files: Vec<PathBuf> = Vec::new();
    if let Some(folder) = shared("reference/vectors") {
        files.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
    }
    if let Some(script) = shared("bench/gen_docs.py") {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("gen_docs");
        match Command::new("python3").arg(script).arg(&folder).output() {
            Ok(output) if output.status.success() => {
                files.extend(std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()));
            }
            _ => eprintln!("skipped: documents of gen_docs.py (python3 is not there)"),
        }
    }
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|extension| extension == "xml"))
    {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let xml = std::fs::read_to_string(file).unwrap().replace("<!-- c -->", "");
        if assert_agrees(&name, &xml).is_none() {
            return;
        }
    }
}

/// xmllint 2.9 writes the ampersand unescaped, which is not even well-formed; such documents are not compared.
#[test]
fn ampersands_in_namespaces_are_escaped() {
    assert_eq!(
        ours("<a xmlns='urn:a?b=1&amp;c=2'/>", Method::Inclusive),
        b"<a xmlns=\"urn:a?b=1&amp;c=2\"></a>"
    );
}

#[test]
fn relative_namespaces_are_refused_as_the_recommendation_demands() {
    let error = canonicalize(b"<a xmlns='relative'/>", Method::Inclusive, &Limits::default()).unwrap_err();
    assert_eq!(error.kind, XmlErrorKind::RelativeNamespace("relative".to_owned()));
}

/// An element with all relevant constructs, from few names, so that declarations shadow each other.
fn element() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        "[ a-cñ>\"'\n\t\r]{0,6}",
        Just("&amp;".to_owned()),
        Just("&#13;".to_owned()),
        Just("&lt;&gt;&quot;".to_owned()),
        Just("<![CDATA[<&>\r\n]]>".to_owned()),
        Just("<?p q?>".to_owned()),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let declarations = prop::collection::btree_map(
            prop_oneof![Just("xmlns"), Just("xmlns:p"), Just("xmlns:q")],
            prop_oneof![Just("urn:1"), Just("urn:2")],
            0..3,
        );
        let attributes = prop::collection::btree_map(
            prop_oneof![Just("b"), Just("a"), Just("p:a"), Just("r:b"), Just("xml:lang")],
            "[a-c&&[^&<]]{0,2}(&#9;|&#10;|&lt;|\n|\"\"){0,1}".prop_map(|value| value.replace('"', "")),
            0..4,
        );
        let names = prop_oneof![Just("a"), Just("p:b"), Just("r:c")];
        (names, declarations, attributes, prop::collection::vec(inner, 0..5)).prop_map(
            |(name, declarations, attributes, content)| {
                let mut xml = format!("<{name}");
                for (declaration, uri) in declarations {
                    xml.push_str(&format!(" {declaration}='{uri}'"));
                }
                for (attribute, value) in attributes {
                    xml.push_str(&format!("\n {attribute}=\"{value}\""));
                }
                if content.is_empty() {
                    return xml + "/>";
                }
                format!("{xml}>{}</{name}>", content.concat())
            },
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn generated_documents_agree_with_libxml2(content in prop::collection::vec(element(), 1..4)) {
        let xml = format!("<r xmlns:p='urn:p' xmlns:r='urn:r'>{}</r>", content.concat());
        assert_agrees("generated", &xml);
    }

    /// A document that quick-xml reads without an error has the same elements and text here, or is refused for a reason
    /// that quick-xml leaves to its callers.
    #[test]
    fn reading_agrees_with_quick_xml(content in prop::collection::vec(element(), 1..4)) {
        let xml = format!("<r xmlns:p='urn:p' xmlns:r='urn:r'>{}</r>", content.concat());
        let canonical = ours(&xml, Method::Inclusive);
        prop_assert_eq!(events(&xml), events(std::str::from_utf8(&canonical).unwrap()));
    }
}

/// Names of elements and the text between tags, as quick-xml reads them.
fn events(xml: &str) -> Vec<String> {
    use quick_xml::events::Event;
    let mut reader = quick_xml::Reader::from_str(xml);
    reader.config_mut().expand_empty_elements = true;
    let mut seen = vec![String::new()];
    loop {
        match reader.read_event().unwrap() {
            Event::Eof => return seen,
            Event::Start(start) => seen.extend([format!("<{}", start.name().0), String::new()]),
            Event::End(end) => seen.extend([format!("/{}", end.name().0), String::new()]),
            Event::PI(instruction) => seen.extend([format!("?{}", instruction.target()), String::new()]),
            Event::Text(text) => seen.last_mut().unwrap().push_str(&text.xml10_content()),
            Event::CData(text) => seen.last_mut().unwrap().push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let character =
                    reference
                        .resolve_char_ref()
                        .unwrap()
                        .unwrap_or_else(|| match &*reference.xml10_content() {
                            "amp" => '&',
                            "lt" => '<',
                            "gt" => '>',
                            "quot" => '"',
                            "apos" => '\'',
                            other => panic!("{other}"),
                        });
                seen.last_mut().unwrap().push(character);
            }
            other => panic!("{other:?}"),
        }
    }
}
