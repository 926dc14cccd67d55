use axum::body::{Body, to_bytes};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use super::*;

#[derive(Debug)]
struct Letter {
    scan: FormFile,
    to: String,
}

impl FromForm for Letter {
    fn read(form: &mut Form) -> Option<Self> {
        let scan = form.file("scan");
        let to = form.fields().text("to").length(0..=5).required();
        Some(Self { scan: scan?, to: to? })
    }
}

const TYPE: &str = "multipart/form-data; boundary=x";

fn form(parts: &[&[u8]]) -> Vec<u8> {
    let mut body = Vec::new();
    for part in parts {
        body.extend_from_slice(b"--x\r\nContent-Disposition: form-data; ");
        body.extend_from_slice(part);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"--x--\r\n");
    body
}

async fn read(content_type: &str, body: Vec<u8>) -> Result<Letter, (u16, Value)> {
    let request = Request::post("/").header(CONTENT_TYPE, content_type);
    let request = request.body(Body::from(body)).unwrap();
    match ValidForm::<Letter>::from_request(request, &()).await {
        Ok(ValidForm(letter)) => Ok(letter),
        Err(error) => {
            let response = error.into_response();
            let status = response.status().as_u16();
            let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
            Err((status, serde_json::from_slice(&body).unwrap()))
        }
    }
}

const SCAN: &[u8] = b"name=\"scan\"; filename=\"C:\\\\Users\\\\Jos\xc3\xa9\\\\Mis archivos\\\\a.bin\"\r\nContent-Type: application/x-pkcs12\r\n\r\n\x30\x80\r\n--\xff";

#[tokio::test]
async fn files_keep_every_byte_and_the_last_step_of_their_name() {
    let letter = read(TYPE, form(&[SCAN, b"name=\"to\"\r\n\r\na\xc3\xb1a"]))
        .await
        .unwrap();
    assert_eq!(letter.scan.bytes.as_ref(), b"\x30\x80\r\n--\xff");
    assert_eq!(letter.scan.name.as_deref(), Some("a.bin"));
    assert_eq!(letter.to, "aña");
    assert_eq!(base_name("/home/ana/a.p12"), "a.p12");
}

#[tokio::test]
async fn a_text_in_latin_1_and_a_file_in_base64_are_read() {
    let file = b"name=\"scan\"; filename=a\r\nContent-Transfer-Encoding: base64\r\n\r\nMIA=\r\n";
    let letter = read(TYPE, form(&[file, b"name=\"to\"\r\n\r\na\xf1a"])).await.unwrap();
    assert_eq!(
        (letter.scan.bytes.as_ref(), letter.to.as_str()),
        (b"\x30\x80".as_slice(), "aña")
    );
    let (status, body) = read(
        TYPE,
        form(&[b"name=\"scan\"\r\nContent-Transfer-Encoding: base64\r\n\r\n***"]),
    )
    .await
    .unwrap_err();
    assert_eq!((status, &body["detail"][0]["loc"]), (422, &json!(["body", "scan"])));
}

#[tokio::test]
async fn every_bad_part_is_told_at_once() {
    let (status, body) = read(
        TYPE,
        form(&[b"name=\"scan\"; filename=\"a\"\r\n\r\n", b"name=\"to\"\r\n\r\ntoo long"]),
    )
    .await
    .unwrap_err();
    let expected = json!([
        { "loc": ["body", "scan"], "msg": "scan: the file is empty", "type": "value_error", "input": null, "ctx": { "code": "empty_file" } },
        {
            "loc": ["body", "to"], "msg": "to: String should have at most 5 characters", "type": "string_too_long",
            "input": "too long", "ctx": { "code": "string_too_long", "max_length": 5 },
        },
    ]);
    assert_eq!((status, &body["detail"]), (422, &expected));
    let (_, body) = read(TYPE, form(&[])).await.unwrap_err();
    let kinds: Vec<_> = body["detail"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| &error["type"])
        .collect();
    assert_eq!(kinds, ["missing", "missing"]);
}

#[tokio::test]
async fn what_is_no_form_is_told_from_a_form_that_is_cut() {
    let (status, body) = read("application/json", b"{}".to_vec()).await.unwrap_err();
    assert_eq!(
        (status, &body["detail"]["code"]),
        (415, &json!("unsupported_media_type"))
    );
    let whole = form(&[SCAN]);
    for (content_type, body) in [
        ("multipart/form-data", whole.clone()),
        (TYPE, whole[..60].to_vec()),
        (TYPE, Vec::new()),
        ("multipart/form-data; boundary=other", whole),
    ] {
        let (status, body) = read(content_type, body).await.unwrap_err();
        assert_eq!(
            (status, &body["detail"][0]["type"]),
            (422, &json!("multipart_invalid")),
            "{body}"
        );
    }
    let many = vec![b"name=\"to\"\r\n\r\na".as_slice(); MOST_PARTS + 1];
    assert_eq!(read(TYPE, form(&many)).await.unwrap_err().0, 422);
}

#[tokio::test]
async fn a1_a_part_that_nothing_reads_or_that_comes_twice_is_refused() {
    let other: &[u8] = b"name=\"other\"; filename=b\r\n\r\nb";
    let to: &[u8] = b"name=\"to\"\r\n\r\na";
    let table: [(&[&[u8]], &str, &str); 4] = [
        (&[SCAN, to, b"name=\"tos\"\r\n\r\na"], "tos", "extra_forbidden"),
        (&[SCAN, to, other], "other", "extra_forbidden"),
        (&[SCAN, to, to], "to", "repeat_forbidden"),
        (&[SCAN, SCAN, to], "scan", "repeat_forbidden"),
    ];
    for (parts, name, kind) in table {
        let (status, body) = read(TYPE, form(parts)).await.unwrap_err();
        assert_eq!(status, 422, "{name}");
        let errors = body["detail"].as_array().unwrap();
        assert_eq!(errors.len(), 1, "{body}");
        assert_eq!(
            (&errors[0]["loc"], &errors[0]["type"]),
            (&json!(["body", name]), &json!(kind)),
            "{body}"
        );
    }
}
