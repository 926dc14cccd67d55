use ecf::{Environment, ReceiptType};
use ecf_language::Bilingual;
use jiff::{Timestamp, civil};
use serde_json::{Value, json};

use super::*;

fn fields(root: &'static str, json: &str) -> Fields {
    let Node::Object(members) = Node::parse(json.as_bytes()).unwrap() else {
        panic!("an object was expected");
    };
    Fields::new(root, members)
}

/// Reads one field of a body and returns its value, or its only error as `(type, msg, ctx)`.
fn read<T>(json: &str, end: impl FnOnce(&mut Fields) -> Option<T>) -> Result<Option<T>, (String, String, Value)> {
    let mut fields = fields("body", json);
    let value = end(&mut fields);
    let Some(error) = fields.errors.pop() else {
        return Ok(value);
    };
    assert!(value.is_none(), "a wrong field has no value");
    assert!(fields.errors.is_empty(), "one error was expected");
    assert_eq!(error.loc[..2], ["body", "x"]);
    let mut ctx = error.ctx;
    assert_eq!(
        ctx.remove("code"),
        Some(json!(error.kind)),
        "a field's kind is its code"
    );
    Err((error.kind.into_owned(), error.msg.en.into_owned(), Value::Object(ctx)))
}

fn kind<T>(result: Result<Option<T>, (String, String, Value)>) -> Option<String> {
    result.err().map(|(kind, _, _)| kind)
}

#[test]
fn every_error_is_reported_at_once_in_order_of_declaration() {
    struct Request(String, ReceiptType, Option<String>, i64);
    impl FromFields for Request {
        fn read(fields: &mut Fields) -> Option<Self> {
            let key = fields.text("idempotency_key").length(1..=100).required();
            let kind = fields.receipt_type("ecf_type").required();
            let note = fields.text("note").length(1..=3).optional();
            let count = fields.integer("count").range(1..=5).or(1);
            Some(Self(key?, kind?, note, count))
        }
    }
    let members = fields("body", r#"{"idempotency_key":"a","ecf_type":31}"#).members;
    let Request(key, kind, note, count) = Fields::read_all("body", members).unwrap();
    assert_eq!((key.as_str(), kind.as_str(), note, count), ("a", "31", None, 1));
    let members = fields("body", r#"{"note":"four","count":"x","ecf_type":"99"}"#).members;
    let Err(error) = Fields::read_all::<Request>("body", members) else {
        panic!("the request is wrong");
    };
    let shown = format!("{error:?}");
    let places: Vec<_> = ["idempotency_key", "ecf_type", "note", "count"]
        .map(|name| shown.find(name))
        .into();
    assert!(places.iter().all(Option::is_some), "{shown}");
    assert!(places.is_sorted(), "{shown}");
}

#[test]
fn an_error_in_an_optional_field_fails_the_request() {
    struct Request;
    impl FromFields for Request {
        fn read(fields: &mut Fields) -> Option<Self> {
            fields.boolean("x").optional();
            Some(Self)
        }
    }
    let read = |json: &str| Fields::read_all::<Request>("body", fields("body", json).members).is_ok();
    assert!(read("{}"));
    assert!(read(r#"{"x":true}"#));
    assert!(!read(r#"{"x":"perhaps"}"#));
}

#[test]
fn absent_and_null_are_alike() {
    for json in ["{}", r#"{"x":null}"#] {
        assert_eq!(
            kind(read(json, |fields| fields.text("x").required())).as_deref(),
            Some("missing")
        );
        assert_eq!(read(json, |fields| fields.text("x").optional()), Ok(None));
        assert_eq!(read(json, |fields| Some(fields.integer("x").or(50))), Ok(Some(50)));
        assert!(!fields("body", json).is_given("x"));
    }
    let mut fields = fields("body", r#"{"x":false}"#);
    assert!(fields.is_given("x"));
    fields.boolean("x").optional();
    assert!(fields.is_given("x"), "reading a field does not take it back");
}

#[test]
fn a_length_counts_characters() {
    let read = |json: &str| read(json, |fields| fields.text("x").length(2..=3).optional());
    assert_eq!(read(r#"{"x":"ñáü"}"#), Ok(Some("ñáü".to_owned())));
    assert_eq!(
        read(r#"{"x":"ñ"}"#),
        Err((
            "string_too_short".to_owned(),
            "String should have at least 2 characters".to_owned(),
            json!({"min_length": 2})
        ))
    );
    assert_eq!(
        read(r#"{"x":"ñáüó"}"#),
        Err((
            "string_too_long".to_owned(),
            "String should have at most 3 characters".to_owned(),
            json!({"max_length": 3})
        ))
    );
    assert_eq!(kind(read(r#"{"x":12}"#)).as_deref(), Some("string_type"));
}

#[test]
fn a_receipt_type_may_be_text_or_number() {
    let read = |json: &str| read(json, |fields| fields.receipt_type("x").required());
    let thirty_one: ReceiptType = "31".parse().unwrap();
    assert_eq!(read(r#"{"x":"31"}"#), Ok(Some(thirty_one)));
    assert_eq!(read(r#"{"x":31}"#), Ok(Some(thirty_one)));
    assert_eq!(kind(read(r#"{"x":"35"}"#)).as_deref(), Some("string_pattern_mismatch"));
    assert_eq!(kind(read(r#"{"x":"3"}"#)).as_deref(), Some("string_too_short"));
    assert_eq!(kind(read(r#"{"x":"031"}"#)).as_deref(), Some("string_too_long"));
    assert_eq!(kind(read(r#"{"x":true}"#)).as_deref(), Some("string_type"));
}

#[test]
fn an_environment_is_spelled_exactly() {
    let read = |json: &str| read(json, |fields| fields.environment("x").optional());
    assert_eq!(read(r#"{"x":"ecf"}"#), Ok(Some(Environment::Ecf)));
    let expected = "'TesteCF', 'CerteCF' or 'ecf'";
    assert_eq!(
        read(r#"{"x":"eCF"}"#),
        Err((
            "enum".to_owned(),
            format!("Input should be {expected}"),
            json!({"expected": expected})
        ))
    );
}

#[test]
fn booleans_take_fastapis_words() {
    let read = |json: &str| read(json, |fields| fields.boolean("x").optional());
    for yes in ["true", "1", r#""true""#, r#""True""#, r#""on""#, r#""yes""#, r#""1""#] {
        assert_eq!(read(&format!(r#"{{"x":{yes}}}"#)), Ok(Some(true)), "{yes}");
    }
    for no in ["false", "0", r#""false""#, r#""off""#, r#""n""#] {
        assert_eq!(read(&format!(r#"{{"x":{no}}}"#)), Ok(Some(false)), "{no}");
    }
    assert_eq!(kind(read(r#"{"x":"si"}"#)).as_deref(), Some("bool_parsing"));
    assert_eq!(kind(read(r#"{"x":2}"#)).as_deref(), Some("bool_parsing"));
    assert_eq!(kind(read(r#"{"x":[]}"#)).as_deref(), Some("bool_type"));
}

#[test]
fn whole_numbers_keep_to_their_range() {
    let read = |json: &str| read(json, |fields| fields.integer("x").range(1..=100).optional());
    assert_eq!(read(r#"{"x":1}"#), Ok(Some(1)));
    assert_eq!(read(r#"{"x":"100"}"#), Ok(Some(100)));
    assert_eq!(
        read(r#"{"x":0}"#),
        Err((
            "greater_than_equal".to_owned(),
            "Input should be greater than or equal to 1".to_owned(),
            json!({"ge": 1})
        ))
    );
    assert_eq!(
        read(r#"{"x":"101"}"#),
        Err((
            "less_than_equal".to_owned(),
            "Input should be less than or equal to 100".to_owned(),
            json!({"le": 100})
        ))
    );
    assert_eq!(kind(read(r#"{"x":1.5}"#)).as_deref(), Some("int_from_float"));
    assert_eq!(
        kind(read(r#"{"x":99999999999999999999}"#)).as_deref(),
        Some("int_from_float")
    );
    assert_eq!(kind(read(r#"{"x":"many"}"#)).as_deref(), Some("int_parsing"));
    assert_eq!(kind(read(r#"{"x":{}}"#)).as_deref(), Some("int_type"));
}

#[test]
fn an_instant_without_offset_is_local_time_of_the_country() {
    let ten: Timestamp = "2026-11-27T14:00:00Z".parse().unwrap();
    let table = [
        ("2026-11-27T14:00:00Z", Some(ten)),
        ("2026-11-27T10:00:00-04:00", Some(ten)),
        ("2026-11-27T16:00:00+02:00", Some(ten)),
        // The value in a query whose plus sign was not encoded.
        ("2026-11-27T16:00:00 02:00", Some(ten)),
        ("2026-11-27T10:00:00", Some(ten)),
        ("2026-11-27 10:00:00", Some(ten)),
        ("2026-11-27T10:00", Some(ten)),
        ("2026-11-27", Some("2026-11-27T04:00:00Z".parse().unwrap())),
        ("27-11-2026", None),
        ("2026-02-30T10:00:00", None),
        ("2026-11-27T25:00:00Z", None),
        ("tomorrow", None),
        ("", None),
    ];
    for (text, expected) in table {
        let result = read(&format!(r#"{{"x":"{text}"}}"#), |fields| fields.instant("x").optional());
        match expected {
            Some(instant) => assert_eq!(result, Ok(Some(instant)), "{text}"),
            None => assert_eq!(kind(result).as_deref(), Some("datetime_parsing"), "{text}"),
        }
    }
    assert_eq!(
        kind(read(r#"{"x":5}"#, |fields| fields.instant("x").optional())).as_deref(),
        Some("datetime_type")
    );
}

#[test]
fn a_date_has_no_time_of_day() {
    let read = |json: &str| read(json, |fields| fields.date("x").optional());
    assert_eq!(read(r#"{"x":"2028-12-31"}"#), Ok(Some(civil::date(2028, 12, 31))));
    for wrong in ["31-12-2028", "2028-12-31T00:00:00", "2028-02-30"] {
        assert_eq!(
            kind(read(&format!(r#"{{"x":"{wrong}"}}"#))).as_deref(),
            Some("date_parsing"),
            "{wrong}"
        );
    }
}

#[test]
fn base64_may_be_wrapped_and_unpadded_and_is_never_shown_back() {
    let bytes = |json: &str| read(json, |fields| fields.base64("x").required());
    assert_eq!(bytes(r#"{"x":"/wD+"}"#), Ok(Some(vec![0xff, 0, 0xfe])));
    assert_eq!(bytes(r#"{"x":"/w\r\nD+\n"}"#), Ok(Some(vec![0xff, 0, 0xfe])));
    assert_eq!(bytes(r#"{"x":"/w"}"#), Ok(Some(vec![0xff])));
    assert_eq!(bytes(r#"{"x":"/w=="}"#), Ok(Some(vec![0xff])));
    let mut fields = fields("body", r#"{"x":"*secret*"}"#);
    assert_eq!(fields.base64("x").required(), None);
    assert_eq!(fields.errors[0].kind, "base64_decode");
    assert_eq!(fields.errors[0].input, Node::Null);
}

#[test]
fn what_was_given_is_shown_back_short_and_never_when_secret() {
    let mut fields = fields(
        "body",
        &format!(
            r#"{{"a":12.50,"b":"{}","c":"hunter2","d":{{"pin":"1"}}}}"#,
            "y".repeat(500)
        ),
    );
    fields.text("a").required();
    fields.text("b").length(1..=100).required();
    fields.text("c").length(16..=64).secret().required();
    fields.text("d").required();
    let inputs: Vec<Value> = fields
        .errors
        .iter()
        .map(|error| serde_json::to_value(&error.input).unwrap())
        .collect();
    assert_eq!(
        inputs,
        [
            json!(12.5),
            json!(format!("{}…", "y".repeat(200))),
            Value::Null,
            Value::Null
        ]
    );
}

#[test]
fn the_elements_of_a_list_are_named_by_position() {
    let mut fields = fields("body", r#"{"events":["accepted",5,null],"more":["ecf","x"],"none":[]}"#);
    assert_eq!(fields.texts("events").required(), None);
    assert_eq!(fields.texts("more").parse_each::<ecf::Environment>().required(), None);
    assert_eq!(fields.texts("none").items(1..=20).required(), None);
    assert_eq!(fields.texts("absent").optional(), None);
    let found: Vec<_> = fields
        .errors
        .iter()
        .map(|error| (error.loc.join("."), error.kind.as_ref()))
        .collect();
    assert_eq!(
        found,
        [
            ("body.events.1".to_owned(), "string_type"),
            ("body.events.2".to_owned(), "string_type"),
            ("body.more.1".to_owned(), "value_error"),
            ("body.none".to_owned(), "too_short"),
        ]
    );
    assert_eq!(fields.errors[2].input, Node::Text("x".into()));
    assert_eq!(
        Value::Object(fields.errors[3].ctx.clone()),
        json!({"code": "too_short", "field_type": "List", "min_length": 1, "actual_length": 0})
    );
}

#[test]
fn an_object_is_handed_on_whole() {
    let payload = |json: &str| read(json, |fields| fields.object("x").required());
    let node = payload(r#"{"x":{"b":1.10,"a":2}}"#).unwrap().unwrap();
    assert_eq!(serde_json::to_string(&node).unwrap(), r#"{"b":1.10,"a":2}"#);
    assert_eq!(kind(payload(r#"{"x":[1]}"#)).as_deref(), Some("dict_type"));
    assert_eq!(kind(payload("{}")).as_deref(), Some("missing"));
    let list = |json: &str| read(json, |fields| fields.list("x").items(1..=25).required());
    assert_eq!(list(r#"{"x":[{}]}"#), Ok(Some(vec![Node::Object(vec![])])));
    assert_eq!(kind(list(r#"{"x":{}}"#)).as_deref(), Some("list_type"));
}

#[test]
fn findings_in_a_document_stand_beside_the_other_errors() {
    let mut fields = fields("body", "{}");
    fields.text("idempotency_key").required();
    let path = ["Encabezado", "Totales"].map(str::to_owned).to_vec();
    let violation = Violation::rejected(path, "ESTRUCTURA-01", "missing", Bilingual::same("Totales is missing"));
    fields.reject_violations("payload", [&violation]);
    fields.reject("scheduled_for", "value_error", Bilingual::same("needs mode=deferred"));
    let places: Vec<_> = fields.errors.iter().map(|error| error.loc.join(".")).collect();
    assert_eq!(
        places,
        [
            "body.idempotency_key",
            "body.payload.Encabezado.Totales",
            "body.scheduled_for"
        ]
    );
}

#[test]
fn a_domain_type_explains_itself() {
    let result = read(r#"{"x":"12"}"#, |fields| {
        fields.parsed::<ecf::Environment>("x").required()
    });
    assert_eq!(
        result,
        Err((
            "value_error".to_owned(),
            "environment \"12\" is not one of TesteCF, CerteCF, ecf".to_owned(),
            json!({"error": "environment \"12\" is not one of TesteCF, CerteCF, ecf"})
        ))
    );
}

#[test]
fn a_form_is_shown_to_who_misses_it() {
    let read = |json: &str| read(json, |fields| fields.text("x").pattern("^[a-z]+$", is_lower).required());
    assert_eq!(read(r#"{"x":"abc"}"#), Ok(Some("abc".to_owned())));
    assert_eq!(
        read(r#"{"x":"ABC"}"#),
        Err((
            "string_pattern_mismatch".to_owned(),
            "String should match pattern '^[a-z]+$'".to_owned(),
            json!({"pattern": "^[a-z]+$"})
        ))
    );
}

fn is_lower(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase())
}

struct Change {
    name: ecf_store::FieldEdit<String>,
    inner: Option<Inner>,
}

#[derive(Debug, PartialEq)]
struct Inner(Option<i64>);

impl FromFields for Inner {
    fn read(fields: &mut Fields) -> Option<Self> {
        Some(Self(fields.integer("size").range(0..=9).optional()))
    }
}

impl FromFields for Change {
    fn read(fields: &mut Fields) -> Option<Self> {
        fields.refuse_null("inner");
        let name = fields.text("name").length(1..=3).optional();
        Some(Self {
            name: fields.edit("name", name),
            inner: fields.nested("inner"),
        })
    }
}

#[test]
fn a_change_tells_null_from_absent_and_reads_objects_within() {
    use ecf_store::FieldEdit;
    let read = |json: &str| crate::read_body::<Change>(Node::parse(json.as_bytes()).unwrap());
    for (json, name, inner) in [
        ("{}", FieldEdit::Keep, None),
        (r#"{"name": null}"#, FieldEdit::Clear, None),
        (
            r#"{"name": "a", "inner": {}}"#,
            FieldEdit::Set("a".to_owned()),
            Some(Inner(None)),
        ),
        (r#"{"inner": {"size": 9}}"#, FieldEdit::Keep, Some(Inner(Some(9)))),
    ] {
        let change = read(json).unwrap_or_else(|error| panic!("{json}: {error:?}"));
        assert_eq!((change.name, change.inner), (name, inner), "{json}");
    }
    for bad in [
        r#"{"name": "long"}"#,
        r#"{"inner": null}"#,
        r#"{"inner": []}"#,
        r#"{"inner": {"size": 10}}"#,
        r#"{"inner": {"sice": 1}}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

struct Renamed;

impl FromFields for Renamed {
    fn read(fields: &mut Fields) -> Option<Self> {
        fields.text("settings").optional();
        let name = fields.text("name").required();
        if name.is_some() {
            fields.reject_value("name", "name_taken", Bilingual::same("somebody else has the name"));
        }
        fields.text("pin").secret().optional();
        fields.reject("pin", "missing", Bilingual::same("wrong with the rest"));
        Some(Self)
    }
}

async fn refusal(json: &str) -> Value {
    let Err(error) = crate::read_body::<Renamed>(Node::parse(json.as_bytes()).unwrap()) else {
        panic!("the request is wrong");
    };
    let response = axum::response::IntoResponse::into_response(error);
    let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[tokio::test]
async fn a7_what_came_is_shown_back_unless_it_is_a_secret() {
    let body = refusal(
        r#"{"zzz":"val","list":[1,{"a":true}],"userPin":"1234","pim":"1234","deep":{"api_key":"k"},"name":"Ana","pin":"9999"}"#,
    )
    .await;
    let shown: Vec<_> = body["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| json!([error["loc"][1], error["type"], error["input"], error["ctx"]["code"]]))
        .collect();
    assert_eq!(
        json!(shown),
        json!([
            ["zzz", "extra_forbidden", "val", "extra_forbidden"],
            ["list", "extra_forbidden", [1, {"a": true}], "extra_forbidden"],
            ["userPin", "extra_forbidden", null, "extra_forbidden"],
            ["pim", "extra_forbidden", null, "extra_forbidden"],
            ["deep", "extra_forbidden", null, "extra_forbidden"],
            ["name", "value_error", "Ana", "name_taken"],
            ["pin", "missing", null, "missing"],
        ])
    );
}

#[tokio::test]
async fn a10_a_refusal_lists_a_hundred_errors_and_counts_the_others() {
    let members: Vec<String> = (0..60_000).map(|number| format!("\"campo{number}\":1")).collect();
    let started = std::time::Instant::now();
    let body = refusal(&format!("{{{}}}", members.join(","))).await;
    eprintln!("60,000 unknown members were refused after {:?}", started.elapsed());
    let detail = body["detail"].as_array().unwrap();
    assert_eq!(detail.len(), 101);
    assert_eq!(
        detail[100],
        json!({
            "loc": ["body"],
            "msg": "59902 more findings are not listed: correct these first",
            "type": "too_many_errors",
            "input": null,
            "ctx": { "code": "too_many_errors", "shown": 100, "total": 60_002 },
        })
    );
    let size = serde_json::to_vec(&body).unwrap().len();
    assert!(size < 64 * 1024, "{size} bytes");
}

#[tokio::test]
async fn a10_long_names_and_values_are_cut() {
    let long = "x".repeat(1_000_000);
    let body = refusal(&format!(r#"{{"{long}":"{long}","name":{{"a":"{long}"}}}}"#)).await;
    let size = serde_json::to_vec(&body).unwrap().len();
    assert!(size < 4 * 1024, "{size} bytes");
    let error = read(&format!(r#"{{"x":"{long}"}}"#), |fields| {
        fields.parsed::<ecf::Rnc>("x").required()
    });
    let (_, msg, ctx) = error.unwrap_err();
    assert!(msg.len() < 1_100 && ctx.to_string().len() < 1_100, "{}", msg.len());
}

#[test]
fn a10_a_rendered_list_is_shortened_and_its_count_stays_right() {
    let error = |number: usize| json!({"loc": ["body", number.to_string()], "ctx": {"code": "missing"}});
    let mut list: Vec<Value> = (0..30).map(error).collect();
    FieldError::shorten(&mut list, 30);
    assert_eq!(list.len(), 30);
    FieldError::shorten(&mut list, 20);
    assert_eq!(
        (list.len(), &list[20]["ctx"]),
        (21, &json!({"code": "too_many_errors", "shown": 20, "total": 30}))
    );
    FieldError::shorten(&mut list, 5);
    assert_eq!(
        (list.len(), &list[5]["ctx"]),
        (6, &json!({"code": "too_many_errors", "shown": 5, "total": 30}))
    );
}

#[test]
fn a1_a_member_that_nothing_reads_is_refused_with_the_name_that_was_meant() {
    struct Request;
    impl FromFields for Request {
        fn read(fields: &mut Fields) -> Option<Self> {
            fields.belong_in_query(&["dry_run"]);
            fields.text("idempotency_key").required()?;
            fields.instant("scheduled_for").optional();
            fields.nested::<Inner>("inner");
            Some(Self)
        }
    }
    let read = |json: &str| {
        let mut fields = fields("body", json);
        assert!(Request::read(&mut fields).is_some(), "{json}");
        fields.refuse_unknown();
        let shown = fields
            .errors
            .iter()
            .map(|error| format!("{} {}: {}", error.loc.join("."), error.kind, error.msg.en));
        shown.collect::<Vec<_>>()
    };
    let table: [(&str, &[&str]); 5] = [
        (r#"{"idempotency_key":"a","scheduled_for":null}"#, &[]),
        (
            r#"{"idempotency_key":"a","scheduledFor":"2026-12-01"}"#,
            &["body.scheduledFor extra_forbidden: Extra inputs are not permitted; did you mean scheduled_for?"],
        ),
        (
            r#"{"idempotency_key":"a","schedule":null}"#,
            &["body.schedule extra_forbidden: Extra inputs are not permitted; did you mean scheduled_for?"],
        ),
        (
            r#"{"idempotency_key":"a","dry_run":true}"#,
            &[
                "body.dry_run extra_forbidden: Extra inputs are not permitted here: dry_run is a parameter of the query, ?dry_run=",
            ],
        ),
        (
            r#"{"idempotency_key":"a","inner":{"sizes":1}}"#,
            &["body.inner.sizes extra_forbidden: Extra inputs are not permitted; did you mean size?"],
        ),
    ];
    for (json, expected) in table {
        assert_eq!(read(json), expected, "{json}");
    }
}
