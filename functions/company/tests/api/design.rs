//! `/api/v1/client/company/design` and its logo.

use axum::body::Body;
use ecf_testkit::{Answer, send};
use http::{Method, Request};
use serde_json::json;

use crate::{Api, faults};

const DESIGN: &str = "/api/v1/client/company/design";
const LOGO: &str = "/api/v1/client/company/design/logo";

/// A PNG of one colour, with uncompressed pixels.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut chunk = |kind: &[u8; 4], data: &[u8]| {
        bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        let body = [kind.as_slice(), data].concat();
        bytes.extend(&body);
        bytes.extend(crc32(&body).to_be_bytes());
    };
    let head = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    chunk(b"IHDR", &head);
    let line = vec![0_u8; width as usize + 1];
    let rows = line.repeat(height as usize);
    let mut data = vec![0x78, 0x01];
    for (place, block) in rows.chunks(65_535).enumerate() {
        let is_last = (place + 1) * 65_535 >= rows.len();
        let length = u16::try_from(block.len()).unwrap();
        data.push(u8::from(is_last));
        data.extend(length.to_le_bytes());
        data.extend((!length).to_le_bytes());
        data.extend(block);
    }
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in &rows {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    data.extend(((b << 16) | a).to_be_bytes());
    chunk(b"IDAT", &data);
    chunk(b"IEND", &[]);
    bytes
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 {
                (sum >> 1) ^ 0xEDB8_8320
            } else {
                sum >> 1
            }
        })
    })
}

async fn put(api: &Api, content_type: &str, bytes: Vec<u8>) -> Answer {
    let request = Request::put(LOGO)
        .header("X-API-Key", &api.company.api_key)
        .header("Content-Type", content_type)
        .body(Body::from(bytes))
        .unwrap();
    send(&api.router, request).await
}

#[tokio::test]
async fn colour_and_closing_line_are_changed_field_by_field() {
    let api = Api::start().await;
    let none = json!({ "color": null, "footer": null, "logo": null, "updated_at": null });
    assert_eq!(api.get(DESIGN).await.expect(200), none);
    let body = json!({ "color": "#1F3A5F", "footer": "Gracias por su compra" });
    let changed = api.call(Method::PATCH, DESIGN, Some(&body)).await.expect(200);
    assert_eq!(
        (&changed["color"], &changed["footer"]),
        (&json!("#1f3a5f"), &body["footer"])
    );
    let cleared = api
        .call(Method::PATCH, DESIGN, Some(&json!({ "footer": null })))
        .await
        .expect(200);
    assert_eq!(
        (&cleared["color"], &cleared["footer"]),
        (&json!("#1f3a5f"), &json!(null))
    );
    assert_eq!(api.get(DESIGN).await.expect(200), cleared);
    for (body, place) in [
        (json!({ "color": "red" }), "body/color"),
        (json!({ "footer": "x".repeat(201) }), "body/footer"),
        (json!({ "colour": "#1f3a5f" }), "body/colour"),
    ] {
        let refused = api.call(Method::PATCH, DESIGN, Some(&body)).await.expect(422);
        assert_eq!(faults(&refused)[0].0, place);
    }
}

#[tokio::test]
async fn a_logo_is_kept_as_it_came_until_it_is_deleted() {
    let api = Api::start().await;
    assert_eq!(api.get(LOGO).await.expect(404)["detail"]["code"], "no_logo");
    let image = png(40, 20);
    let design = put(&api, "image/png", image.clone()).await.expect(200);
    assert_eq!(design["logo"]["content_type"], "image/png");
    let answer = api.get(LOGO).await;
    assert_eq!(
        (answer.status.as_u16(), answer.header("content-type")),
        (200, Some("image/png"))
    );
    assert_eq!(answer.bytes, image);
    api.stack.lose_objects("design/").await;
    assert_eq!(
        api.get(LOGO).await.status,
        500,
        "the company has one, and it has to be there"
    );
    for _ in 0..2 {
        let design = api.call(Method::DELETE, LOGO, None).await.expect(200);
        assert_eq!(design["logo"], json!(null));
    }
    assert_eq!(api.get(LOGO).await.status, 404);
}

#[tokio::test]
async fn what_is_no_safe_image_is_refused_and_the_logo_stays() {
    let api = Api::start().await;
    put(&api, "image/png", png(40, 20)).await.expect(200);
    let cut = png(40, 20)[..50].to_vec();
    let mut damaged = png(40, 20);
    damaged[60] ^= 0xFF;
    // The header declares four thousand million pixels; the file contains none.
    let mut bomb = png(1, 1);
    bomb[16..24].copy_from_slice(&[0, 0, 0xFF, 0xFF, 0, 0, 0xFF, 0xFF]);
    for (name, content_type, bytes, code) in [
        ("svg", "image/png", b"<svg onload='alert(1)'/>".to_vec(), "kind"),
        ("nothing", "image/png", Vec::new(), "kind"),
        ("another kind", "image/jpeg", png(40, 20), "kind"),
        ("cut", "image/png", cut, "unusable"),
        ("damaged", "image/png", damaged, "unusable"),
        ("bomb", "image/png", bomb, "unusable"),
        ("wide", "image/png", png(2_001, 1), "pixels"),
        (
            "large",
            "image/png",
            [png(1, 1), vec![0; 256 * 1024]].concat(),
            "too_large",
        ),
    ] {
        let refused = put(&api, content_type, bytes).await.expect(422);
        let error = &refused["detail"][0];
        assert_eq!(
            (&error["loc"], &error["type"]),
            (&json!(["body"]), &json!("image_error")),
            "{name}"
        );
        let found = error["ctx"]["code"].as_str().unwrap();
        let fits = found == code || (name == "bomb" && found == "pixels");
        assert!(fits, "{name}: {error}");
    }
    assert_eq!(put(&api, "image/svg+xml", png(1, 1)).await.status, 415);
    assert_eq!(api.get(LOGO).await.bytes, png(40, 20));
}
