use super::*;

fn tokens(xml: &[u8]) -> Result<usize, XmlErrorKind> {
    let limits = Limits {
        max_bytes: 1000,
        max_depth: 4,
        max_attributes: 4,
    };
    let text = decode(xml, &limits).map_err(|error| error.kind)?;
    let mut reader = Reader::new(text, 0..text.len(), &limits);
    let mut count = 0;
    loop {
        match reader.next() {
            Ok(Token::EndOfDocument) => return Ok(count),
            Ok(_) => count += 1,
            Err(error) => return Err(error.kind),
        }
    }
}

#[test]
fn tokens_carry_the_source_text() {
    let text = "<?xml version='1.0'?>\n<a x='1'>t&amp;<b/><![CDATA[c]]><?p  d ?></a >";
    let mut reader = Reader::new(text, 0..text.len(), &Limits::default());
    let mut seen = Vec::new();
    loop {
        match reader.next() {
            Ok(Token::EndOfDocument) => break,
            Ok(Token::Start(tag)) => {
                seen.push(format!("<{}|{}@{}", tag.name, tag.attributes, &text[reader.position()]))
            }
            Ok(token) => seen.push(format!("{token:?}")),
            Err(error) => panic!("{error}"),
        }
    }
    let expected = [
        "<a| x='1'@<a x='1'>",
        "Text(\"t\")",
        "Reference('&')",
        "<b|@<b/>",
        "End(\"b\")",
        "Cdata(\"c\")",
        "Instruction { target: \"p\", data: \"d \" }",
        "End(\"a\")",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn only_elements_that_are_their_own_canonical_form_are_plain_leaves() {
    for (xml, length) in [
        ("<a>x</a>", 8),
        ("<a></a>", 7),
        ("<a>x &amp; &lt;y&gt;</a><b>", 24),
        ("<a>&amp;</a>", 12),
        ("<a> x</a>", 0),
        ("<a>\n</a>", 0),
        ("<a>x>y</a>", 0),
        ("<a>x\ry</a>", 0),
        ("<a>x&#65;</a>", 0),
        ("<a>&quot;</a>", 0),
        ("<a>x<b/></a>", 0),
        ("<a>x</a >", 0),
        ("<a>x</b>", 0),
        ("<a>x</ab>", 0),
        ("<a b='1'>x</a>", 0),
        ("<a >x</a>", 0),
        ("<a/>", 0),
        ("<p:a>x</p:a>", 0),
        ("<ñ>x</ñ>", 0),
        ("<1>x</1>", 0),
        ("<Signature>x</Signature>", 0),
        ("<Signatures>x</Signatures>", 26),
        ("<a>x", 0),
        ("<a>x</a", 0),
        ("<a>x&amp", 0),
        ("x", 0),
        ("", 0),
    ] {
        assert_eq!(plain_leaf(xml.as_bytes()).unwrap_or_default(), length, "{xml}");
    }
}

#[test]
fn leaves_are_passed_over_inside_of_the_root_and_within_the_depth() {
    let text = "<r><a>1</a><b>2</b><c><d>3</d></c></r>";
    let limits = Limits {
        max_depth: 2,
        ..Limits::default()
    };
    let mut reader = Reader::new(text, 0..text.len(), &limits);
    assert!(reader.plain_leaves().is_empty());
    assert!(matches!(reader.next(), Ok(Token::Start(_))));
    assert_eq!(&text[reader.plain_leaves()], "<a>1</a><b>2</b>");
    assert!(matches!(reader.next(), Ok(Token::Start(_))));
    assert!(reader.plain_leaves().is_empty());
    assert!(matches!(reader.next(), Err(error) if error.kind == XmlErrorKind::TooDeep { limit: 2 }));
}

#[test]
fn what_is_not_well_formed_is_refused() {
    for bad in [
        "",
        " ",
        "text",
        "<a>",
        "</a>",
        "<a></b>",
        "<a/><b/>",
        "<a/>x",
        "x<a/>",
        "<a/>&amp;",
        "<![CDATA[x]]><a/>",
        "<1/>",
        "<a:b:c/>",
        "<a",
        "<a b",
        "<>",
        "< a/>",
        "<a></ a>",
        "<a>&</a>",
        "<a>& b</a>",
        "<a>&#0;</a>",
        "<a>&x;</a>",
        "<a><!-- -- --></a>",
        "<!-->",
        "<!--->",
        "<a><?xml version='1.0'?></a>",
        " <?xml version='1.0'?><a/>",
        "<?xml?><a/>",
        "<?xml version='1.0' x='1'?><a/>",
        "<?xml encoding='utf-8'?><a/>",
        "<?xml version='1.0' standalone='maybe'?><a/>",
        "<?XML a?><a/>",
        "<? a?><a/>",
        "<a><![CDATA[</a>",
        "<a><![cdata[x]]></a>",
        "<a>\u{0}</a>",
    ] {
        assert!(tokens(bad.as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn limits_and_encodings_have_their_own_errors() {
    assert_eq!(
        tokens(b"<a><b><c><d><e/></d></c></b></a>"),
        Err(XmlErrorKind::TooDeep { limit: 4 })
    );
    assert_eq!(
        tokens(&[b' '; 1001]),
        Err(XmlErrorKind::TooLarge {
            bytes: 1001,
            limit: 1000
        })
    );
    assert_eq!(tokens(b"\xEF\xBB\xBF<a/>"), Err(XmlErrorKind::ByteOrderMark));
    assert_eq!(tokens(b"<a>\xF1</a>"), Err(XmlErrorKind::NotUtf8));
    assert_eq!(tokens(b"<!DOCTYPE a><a/>"), Err(XmlErrorKind::Doctype));
    assert_eq!(
        tokens(b"<!DOCTYPE a [<!ENTITY b SYSTEM 'file:///etc/passwd'>]><a>&b;</a>"),
        Err(XmlErrorKind::Doctype)
    );
    assert_eq!(
        tokens(b"<?xml version='1.1'?><a/>"),
        Err(XmlErrorKind::Version("1.1".to_owned()))
    );
    assert_eq!(
        tokens(b"<?xml version='1.0' encoding='ISO-8859-1'?><a/>"),
        Err(XmlErrorKind::Encoding("ISO-8859-1".to_owned()))
    );
    assert_eq!(
        tokens(b"<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\" ?><a/>"),
        Ok(2)
    );
}

#[test]
fn c12_another_encoding_is_named_whatever_the_bytes() {
    for (bytes, named) in [
        (
            &b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xF1</a>"[..],
            "ISO-8859-1",
        ),
        (b"<?xml version='1.0' encoding='us-ascii'?><a>a</a>", "us-ascii"),
        (
            b"<?xml version=\"1.0\" encoding=\"windows-1252\"?><a>\x80</a>",
            "windows-1252",
        ),
        (b"\xFF\xFE<\0a\0/\0>\0", "UTF-16"),
        (b"\0<\0a\0/\0>", "UTF-16"),
        (b"<\0\0\0a\0\0\0", "UTF-32"),
    ] {
        assert_eq!(tokens(bytes), Err(XmlErrorKind::Encoding(named.to_owned())), "{named}");
    }
    // Without a declaration, only the invalid byte is known.
    assert_eq!(tokens(b"<?xml version='1.0'?><a>\xF1</a>"), Err(XmlErrorKind::NotUtf8));
    assert_eq!(tokens(b"<a>\0</a>"), Err(XmlErrorKind::ForbiddenCharacter(0)));
}
