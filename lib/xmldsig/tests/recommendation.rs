//! The examples of Canonical XML 1.0, section 3. Most have a document type declaration, which is refused; they pass
//! without it, as far as it changes nothing else.

#![expect(clippy::unwrap_used, reason = "tests")]

use xmldsig::{Limits, Method, XmlErrorKind, canonicalize};

struct Example {
    section: &'static str,
    /// The declaration of the example that the profile refuses, and the error.
    refused: Option<(&'static str, XmlErrorKind)>,
    /// The rest of the example.
    source: &'static str,
    canonical: &'static str,
}

fn examples() -> Vec<Example> {
    let doctype = |declaration| Some((declaration, XmlErrorKind::Doctype));
    vec![
        Example {
            section: "3.1 instructions, comments, and outside of the document element",
            refused: doctype("<!DOCTYPE doc SYSTEM \"doc.dtd\">\n"),
            source: "<?xml-stylesheet   href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n\n<doc>Hello, world!<!-- Comment 1 --></doc>\n\n\
                     <?pi-without-data     ?>\n\n<!-- Comment 2 -->\n\n<!-- Comment 3 -->\n",
            canonical: "<?xml-stylesheet href=\"doc.xsl\"\n   type=\"text/xsl\"   ?>\n<doc>Hello, world!</doc>\n<?pi-without-data?>",
        },
        Example {
            section: "3.2 white space in document content",
            refused: None,
            source: "<doc>\n   <clean>   </clean>\n   <dirty>   A   B   </dirty>\n   <mixed>\n      A\n      <clean>   </clean>\n      B\n      \
                     <dirty>   A   B   </dirty>\n      C\n   </mixed>\n</doc>\n",
            canonical: "<doc>\n   <clean>   </clean>\n   <dirty>   A   B   </dirty>\n   <mixed>\n      A\n      <clean>   </clean>\n      B\n      \
                        <dirty>   A   B   </dirty>\n      C\n   </mixed>\n</doc>",
        },
        Example {
            // The default attribute of e9 depends on the declaration.
            section: "3.3 start and end tags",
            refused: doctype("<!DOCTYPE doc [<!ATTLIST e9 attr CDATA \"default\">]>\n"),
            source: "<doc>\n   <e1   />\n   <e2   ></e2>\n   <e3   name = \"elem3\"   id=\"elem3\"   />\n   \
                     <e4   name=\"elem4\"   id=\"elem4\"   ></e4>\n   <e5 a:attr=\"out\" b:attr=\"sorted\" attr2=\"all\" attr=\"I'm\"\n      \
                     xmlns:b=\"http://www.ietf.org\"\n      xmlns:a=\"http://www.w3.org\"\n      xmlns=\"http://example.org\"/>\n   \
                     <e6 xmlns=\"\" xmlns:a=\"http://www.w3.org\">\n      <e7 xmlns=\"http://www.ietf.org\">\n         \
                     <e8 xmlns=\"\" xmlns:a=\"http://www.w3.org\">\n            <e9 xmlns=\"\" xmlns:a=\"http://www.ietf.org\"/>\n         \
                     </e8>\n      </e7>\n   </e6>\n</doc>\n",
            canonical: "<doc>\n   <e1></e1>\n   <e2></e2>\n   <e3 id=\"elem3\" name=\"elem3\"></e3>\n   \
                        <e4 id=\"elem4\" name=\"elem4\"></e4>\n   <e5 xmlns=\"http://example.org\" xmlns:a=\"http://www.w3.org\" \
                        xmlns:b=\"http://www.ietf.org\" attr=\"I'm\" attr2=\"all\" b:attr=\"sorted\" a:attr=\"out\"></e5>\n   \
                        <e6 xmlns:a=\"http://www.w3.org\">\n      <e7 xmlns=\"http://www.ietf.org\">\n         <e8 xmlns=\"\">\n            \
                        <e9 xmlns:a=\"http://www.ietf.org\"></e9>\n         </e8>\n      </e7>\n   </e6>\n</doc>",
        },
        Example {
            // Without the declaration, normNames and normId have type CDATA, so they keep their blanks as norm does.
            section: "3.4 character modifications and character references",
            refused: doctype(
                "<!DOCTYPE doc [\n<!ATTLIST normId id ID #IMPLIED>\n<!ATTLIST normNames attr NMTOKENS #IMPLIED>\n]>\n",
            ),
            source: "<doc>\n   <text>First line&#x0d;&#10;Second line</text>\n   <value>&#x32;</value>\n   \
                     <compute><![CDATA[value>\"0\" && value<\"10\" ?\"valid\":\"error\"]]></compute>\n   \
                     <compute expr='value>\"0\" &amp;&amp; value&lt;\"10\" ?\"valid\":\"error\"'>valid</compute>\n   \
                     <norm attr=' &apos;   &#x20;&#13;&#xa;&#9;   &apos; '/>\n</doc>\n",
            canonical: "<doc>\n   <text>First line&#xD;\nSecond line</text>\n   <value>2</value>\n   \
                        <compute>value&gt;\"0\" &amp;&amp; value&lt;\"10\" ?\"valid\":\"error\"</compute>\n   \
                        <compute expr=\"value>&quot;0&quot; &amp;&amp; value&lt;&quot;10&quot; ?&quot;valid&quot;:&quot;error&quot;\">valid</compute>\n   \
                        <norm attr=\" '    &#xD;&#xA;&#x9;   ' \"></norm>\n</doc>",
        },
        Example {
            // Entities are replaced by their content.
            section: "3.5 entity references",
            refused: doctype(
                "<!DOCTYPE doc [\n<!ATTLIST doc attrExtEnt ENTITY #IMPLIED>\n<!ENTITY ent1 \"Hello\">\n\
                 <!ENTITY ent2 SYSTEM \"world.txt\">\n<!ENTITY entExt SYSTEM \"earth.gif\" NDATA gif>\n\
                 <!NOTATION gif SYSTEM \"viewgif.exe\">\n]>\n",
            ),
            source: "<doc attrExtEnt=\"entExt\">\n   Hello, world!\n</doc>\n\n<!-- Let world.txt contain \"world\" (excluding the quotes) -->\n",
            canonical: "<doc attrExtEnt=\"entExt\">\n   Hello, world!\n</doc>",
        },
        Example {
            section: "3.6 UTF-8 encoding",
            refused: Some((
                "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>\n",
                XmlErrorKind::Encoding("ISO-8859-1".to_owned()),
            )),
            source: "<doc>&#169;</doc>\n",
            canonical: "<doc>\u{A9}</doc>",
        },
    ]
}

/// Section 3.7 is about subsets selected by an XPath expression, which the profile does not allow.
#[test]
fn the_examples_of_the_recommendation_are_canonicalised_or_refused() {
    for example in examples() {
        let section = example.section;
        let canonical = canonicalize(example.source.as_bytes(), Method::Inclusive, &Limits::default());
        let text = String::from_utf8(canonical.unwrap()).unwrap();
        assert_eq!(text, example.canonical, "{section}");
        if let Some((declaration, reason)) = example.refused {
            let whole = format!("{declaration}{}", example.source);
            let error = canonicalize(whole.as_bytes(), Method::Inclusive, &Limits::default()).unwrap_err();
            assert_eq!(error.kind, reason, "{section}");
        }
    }
    let subset = "<!DOCTYPE doc [\n<!ATTLIST e2 xml:space (default|preserve) 'preserve'>\n<!ATTLIST e3 id ID #IMPLIED>\n]>\n\
                  <doc xmlns=\"http://www.ietf.org\" xmlns:w3c=\"http://www.w3.org\"><e1><e2 xmlns=\"\"><e3 id=\"E3\"/></e2></e1></doc>";
    let error = canonicalize(subset.as_bytes(), Method::Inclusive, &Limits::default()).unwrap_err();
    assert_eq!(error.kind, XmlErrorKind::Doctype);
}
