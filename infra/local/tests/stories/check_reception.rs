//! A company's address, called from outside: a service that is right, and services that are not.

use axum::Router;
use axum::routing::{get, post};
use serde_json::json;

use crate::program::Program;

const SEED: &str = "<SemillaModel><valor>c2VtaWxsYQ==</valor><fecha>2026-11-30T10:00:00-04:00</fecha></SemillaModel>";

/// Serves these routes; returns the address of a company there.
async fn serve(routes: Router) -> String {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async { axum::serve(listener, routes).await });
    format!("http://{address}/130000001/certecf")
}

fn lines<'p>(printed: &'p str, kind: &str) -> Vec<&'p str> {
    let of_kind = printed.lines().filter_map(|line| line.strip_prefix(kind));
    of_kind.filter_map(|line| line.trim().split(':').next()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_called_as_the_authority_calls_it() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path());
    let (code, printed) = program.command("check-reception", &[]);
    assert_eq!(code, Some(0), "{printed}");
    assert_eq!(
        lines(&printed, "ok"),
        [
            "name",
            "seed",
            "a seed that it did not give",
            "token",
            "the same seed again",
            "a receipt",
            "the same receipt again",
            "a receipt of another buyer",
            "a receipt that was changed after it was signed",
            "an approval of a receipt that was never issued",
        ],
        "{printed}"
    );
    assert_eq!(lines(&printed, "BAD"), [""; 0], "{printed}");

    // By its address alone, with a certificate that nobody knows.
    let caller = program.caller();
    let address = |environment: &str| format!("{}/{}/{environment}", caller.base_url, caller.rnc);
    let (code, printed) = program.command("check-reception", &[&address("testecf")]);
    assert_eq!((code, lines(&printed, "ok").len()), (Some(0), 10), "{printed}");
    // Production gets no documents.
    let (code, printed) = program.command("check-reception", &[&address("ecf")]);
    assert_eq!((code, lines(&printed, "ok").len()), (Some(0), 5), "{printed}");
    assert_eq!(lines(&printed, "note"), ["address", "documents"], "{printed}");
    let inbox = caller.get("/client/inbox?acked=").await.expect(200);
    assert_eq!(inbox["total"], json!(1), "{inbox}");
    program.interrupt();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_authority_would_complain_about_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path());
    let no_service = serve(Router::new().fallback(get(async || "hello"))).await;
    let credulous = Router::new()
        .route("/130000001/certecf/fe/autenticacion/api/semilla", get(async || SEED))
        .route(
            "/130000001/certecf/fe/autenticacion/api/validacioncertificado",
            post(async || r#"{"token": "t", "expira": "2036-11-30T10:00:00Z"}"#),
        )
        .fallback(post(async || "thanks"));
    let credulous = serve(credulous).await;
    let nobody = "http://127.0.0.1:1/130000001/certecf".to_owned();
    for (address, problems) in [
        (nobody, vec!["seed"]),
        (no_service, vec!["seed"]),
        (
            credulous,
            vec![
                "a seed that it did not give",
                "the same seed again",
                "a receipt",
                "the same receipt again",
                "a receipt of another buyer",
                "a receipt that was changed after it was signed",
                "an approval of a receipt that was never issued",
            ],
        ),
    ] {
        let (code, printed) = program.command("check-reception", &[&address]);
        assert_eq!((code, lines(&printed, "BAD")), (Some(1), problems), "{printed}");
    }
    let (code, printed) = program.command("check-reception", &["ftp://x"]);
    assert_eq!(code, Some(2), "{printed}");
    program.interrupt();
}
