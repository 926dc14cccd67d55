//! An archive with the same content is built once.

use axum::body::Body;
use ecf::ReceiptState;
use ecf_evidence::audit::AuditError;
use ecf_testkit::{Fault, noise, request, send, sign_foreign};
use futures::StreamExt as _;
use http::{Method, Request};

use crate::{Api, EXPORT};

#[tokio::test]
async fn the_second_call_is_served_from_the_bucket_until_something_changes() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let first = api.get("").await;
    assert_eq!((first.status.as_u16(), first.header("content-length")), (200, None));
    assert_eq!(first.header("content-type"), Some("application/zip"));
    assert_eq!(
        first.header("content-disposition"),
        Some("attachment; filename=\"evidencia-130000001-TesteCF.zip\"")
    );
    api.stack.calls().reset();
    let second = api.get("").await;
    assert_eq!(second.bytes, first.bytes);
    let length = first.bytes.len().to_string();
    assert_eq!(second.header("content-length"), Some(length.as_str()));
    assert_eq!(second.header("etag"), first.header("etag"));
    assert_eq!(
        (
            api.stack.calls().count("GetObject"),
            api.stack.calls().count("PutObject")
        ),
        (1, 0)
    );

    api.end(&receipt, ReceiptState::Accepted, false).await;
    let third = api.get("").await;
    assert_ne!(third.header("etag"), first.header("etag"));
    assert_ne!(third.bytes, first.bytes);
}

#[tokio::test]
async fn the_same_content_gives_the_same_bytes() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    api.receive("E310000000007", "Suplidora del Este SRL").await;
    let auditor = api.auditor();
    let plan = auditor.plan(api.everything(), api.stack.clock().now()).await.unwrap();
    let mut made = Vec::new();
    for _ in 0..2 {
        let pieces: Vec<_> = auditor.clone().stream(plan.clone(), u64::MAX).collect().await;
        let pieces: Result<Vec<_>, _> = pieces.into_iter().collect();
        made.push(pieces.unwrap().concat());
        api.stack.clock().advance(jiff::SignedDuration::from_hours(1));
    }
    assert_eq!(made[0], made[1]);
}

#[tokio::test]
async fn a_caller_that_has_it_or_wants_the_head_alone_has_nothing_made() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    let key = Some(api.company.api_key.as_str());
    let head = request(&api.router, Method::HEAD, EXPORT, key, None).await;
    assert_eq!((head.status.as_u16(), head.bytes.len()), (200, 0));
    let known = Request::get(EXPORT)
        .header("X-API-Key", &api.company.api_key)
        .header("If-None-Match", head.header("etag").unwrap())
        .body(Body::empty())
        .unwrap();
    let known = send(&api.router, known).await;
    assert_eq!((known.status.as_u16(), known.bytes.len()), (304, 0));
    assert_eq!(
        api.stack.calls().count("PutObject"),
        2 - 1,
        "the receipt's own XML alone"
    );
}

#[tokio::test]
async fn who_hangs_up_finds_it_in_the_bucket_and_a_bucket_that_fails_keeps_nobody_from_it() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    let auditor = api.auditor();
    let plan = auditor.plan(api.everything(), api.stack.clock().now()).await.unwrap();
    api.stack.calls().inject("PutObject", 1, Fault::NotSent);
    let whole = api.get("").await;
    assert_eq!(whole.status, 200);
    assert!(auditor.stored(&plan).await.unwrap().is_none());

    let mut pieces = Box::pin(auditor.clone().stream(plan.clone(), u64::MAX));
    let first = pieces.next().await.unwrap().unwrap();
    assert!(first.starts_with(b"PK"));
    drop(pieces);
    let mut kept = None;
    for _ in 0..200 {
        kept = auditor.stored(&plan).await.unwrap();
        if kept.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(kept.unwrap().size_bytes, whole.bytes.len() as u64);
}

#[tokio::test]
async fn what_changed_while_it_was_made_is_not_kept_under_the_name_of_what_was() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let auditor = api.auditor();
    let plan = auditor.plan(api.everything(), api.stack.clock().now()).await.unwrap();
    api.end(&receipt, ReceiptState::Accepted, false).await;
    let refused = auditor.clone().store(plan.clone()).await;
    assert!(matches!(refused, Err(AuditError::Changed)), "{refused:?}");
    assert!(auditor.stored(&plan).await.unwrap().is_none());
}

#[tokio::test]
async fn a_store_that_fails_on_the_way_breaks_the_archive_off() {
    let api = Api::start().await;
    api.receipt("E310000000001").await;
    let auditor = api.auditor();
    let plan = auditor.plan(api.everything(), api.stack.clock().now()).await.unwrap();
    api.stack.calls().inject("GetObject", 1, Fault::NotSent);
    let pieces: Vec<_> = auditor.clone().stream(plan, u64::MAX).collect().await;
    assert!(matches!(pieces.last(), Some(Err(AuditError::Store(_)))), "{pieces:?}");
    assert_eq!(api.get("").await.status, 200);
}

#[tokio::test]
async fn parts_that_were_sent_are_given_up_when_the_next_is_not_taken() {
    let api = Api::start().await;
    let (large, arecf) = (noise(6 << 20), sign_foreign("<ARECF></ARECF>"));
    let received = api.stack.received(&api.company, "E310000000007", None, &large, &arecf);
    received.await;
    api.stack.calls().inject("UploadPart", 1, Fault::NotSent);
    assert_eq!(api.get("").await.status, 200, "the caller has it all the same");
    assert_eq!(api.stack.calls().count("AbortMultipartUpload"), 1);
    let list = api.stack.clients().s3.list_multipart_uploads();
    let left = list.bucket(api.stack.provisioned().bucket_name()).send().await;
    assert_eq!(left.unwrap().uploads(), []);
}
