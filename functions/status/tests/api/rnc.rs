//! The public look-up in the register of taxpayers.

use axum::Router;
use ecf_store::{
    Register,
    register::{NewRegister, Taxpayer},
};
use ecf_testkit::{TestStack, request};
use http::Method;
use jiff::SignedDuration;
use serde_json::json;
use status::App;

async fn world(parameters: &[(&str, &str)]) -> (TestStack, Router) {
    let stack = TestStack::with_parameters(parameters).await;
    let app = App::from_env(&stack.env("status"), &stack.clients_of("status"), stack.clock().clone()).unwrap();
    (stack, status::router(app))
}

async fn load(stack: &TestStack, names: &[(&str, &str)]) {
    let register = Register::new(stack.clients().s3.clone(), stack.provisioned().bucket_name());
    let mut new = NewRegister::default();
    for (rnc, razon_social) in names {
        new.add(&Taxpayer {
            rnc: rnc.parse().unwrap(),
            razon_social: (*razon_social).to_owned(),
            nombre_comercial: None,
            actividad_economica: Some("PANADERIA".into()),
            estado: Some("ACTIVO".into()),
            regimen_pagos: None,
        });
    }
    let day = "2026-11-25".parse().unwrap();
    register.replace(new, day, stack.clock().now()).await.unwrap();
}

#[tokio::test]
async fn a_taxpayer_is_told_with_its_age_to_anybody_in_both_spellings() {
    let (stack, router) = world(&[]).await;
    load(
        &stack,
        &[("131880681", "PANADERIA LA ESPIGA SRL"), ("00100000001", "ANA PRUEBA")],
    )
    .await;
    let expected = json!({
        "rnc": "131880681", "razon_social": "PANADERIA LA ESPIGA SRL", "nombre_comercial": null,
        "actividad_economica": "PANADERIA", "estado": "ACTIVO", "regimen_pagos": null,
        "as_of": "2026-11-25", "age_days": 2, "loaded_at": "2026-11-27T16:00:00.000Z",
    });
    for name in ["taxauth", "dgii"] {
        let path = format!("/api/v1/{name}/rnc/131880681");
        assert_eq!(
            request(&router, Method::GET, &path, None, None).await.expect(200),
            expected
        );
    }
    for (number, status) in [
        ("00100000001", 200),
        ("101672919", 404),
        ("12", 422),
        ("13188068x", 422),
    ] {
        let path = format!("/api/v1/taxauth/rnc/{number}");
        let answer = request(&router, Method::GET, &path, None, None).await.expect(status);
        if status == 422 {
            assert_eq!(answer["detail"][0]["loc"], json!(["path", "rnc"]), "{number}");
        }
    }
}

#[tokio::test]
async fn a_new_register_is_told_within_minutes_and_the_old_one_is_not_read_again_before() {
    let (stack, router) = world(&[]).await;
    let path = "/api/v1/taxauth/rnc/131880681";
    let refused = request(&router, Method::GET, path, None, None).await.expect(503);
    assert_eq!(refused["detail"]["code"], "register_not_loaded");
    load(&stack, &[("131880681", "UNA")]).await;
    request(&router, Method::GET, path, None, None).await.expect(200);
    load(&stack, &[("131880681", "OTRA")]).await;
    stack.calls().reset();
    let told = request(&router, Method::GET, path, None, None).await.expect(200);
    assert_eq!(
        (&told["razon_social"], stack.calls().count("GetObject")),
        (&json!("UNA"), 0)
    );
    stack.clock().advance(SignedDuration::from_mins(10));
    let told = request(&router, Method::GET, path, None, None).await.expect(200);
    assert_eq!(
        (&told["razon_social"], stack.calls().count("GetObject")),
        (&json!("OTRA"), 2)
    );
}

#[tokio::test]
async fn a_visitor_who_asks_too_often_waits() {
    let (stack, router) = world(&[("RegisterLookupsPerMinute", "2")]).await;
    load(&stack, &[("131880681", "UNA")]).await;
    let path = "/api/v1/taxauth/rnc/131880681";
    for status in [200, 200, 429] {
        request(&router, Method::GET, path, None, None).await.expect(status);
    }
    let answer = request(&router, Method::GET, path, None, None).await;
    assert_eq!(answer.header("retry-after"), Some("60"));
    stack.clock().advance(SignedDuration::from_mins(1));
    request(&router, Method::GET, path, None, None).await.expect(200);
}
