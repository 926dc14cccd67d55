use std::time::Duration;

use ecf::Environment;
use ecf_store::{
    ArtifactKind, CertificateFile, ContentHash, QueueUrls, Queues, ReceiptId, ReceiptJob, Scope, StoreError,
    SubmissionJob, WebhookJob,
};

use crate::support::{app, company, noon};

#[tokio::test]
async fn a_document_comes_back_by_its_hash_and_only_within_its_scope() {
    let app = app("artifacts").await;
    let id = ReceiptId::of(ReceiptId::RECEIPT, &app.scope.company, app.scope.environment, "order-1");
    let put = async |bytes: &'static [u8]| {
        app.artifacts
            .put(&app.scope, noon(), &id, ArtifactKind::SignedXml, bytes)
            .await
            .unwrap()
    };
    let hash = put(b"<ECF/>").await;
    assert_eq!(hash, ContentHash::of(b"<ECF/>"));
    let other = put(b"<ECF></ECF>").await;
    let get = async |scope: &Scope, kind, hash: &ContentHash| {
        app.artifacts.get(scope, noon(), &id, kind, hash).await.unwrap()
    };
    let found = get(&app.scope, ArtifactKind::SignedXml, &hash).await;
    assert_eq!(found.as_deref(), Some(b"<ECF/>".as_slice()));
    let found = get(&app.scope, ArtifactKind::SignedXml, &other).await;
    assert_eq!(found.as_deref(), Some(b"<ECF></ECF>".as_slice()));
    assert_eq!(get(&app.scope, ArtifactKind::Rfce, &hash).await, None);
    for scope in app.foreign_scopes() {
        assert_eq!(get(&scope, ArtifactKind::SignedXml, &hash).await, None);
    }
}

#[tokio::test]
async fn a_certificate_is_kept_exactly_and_replaced_by_the_next() {
    let app = app("certificates").await;
    let owner = company("owner of certificates");
    assert!(app.vault.certificate(&owner).await.unwrap().is_none());
    let p12: Vec<u8> = (0..=255).collect();
    app.vault
        .store_certificate(&owner, &CertificateFile::verbatim(p12.clone(), "clave ñ \"1\""))
        .await
        .unwrap();
    let first = app.vault.certificate(&owner).await.unwrap().unwrap();
    assert_eq!(
        (first.file.p12.as_slice(), first.file.pin.as_str()),
        (p12.as_slice(), "clave ñ \"1\"")
    );
    app.vault
        .store_certificate(&owner, &CertificateFile::verbatim(b"second", "2"))
        .await
        .unwrap();
    let second = app.vault.certificate(&owner).await.unwrap().unwrap();
    assert_eq!(
        (second.file.p12.as_slice(), second.file.pin.as_str()),
        (b"second".as_slice(), "2")
    );
    assert_ne!(first.version, second.version);
    assert!(app.vault.certificate(&company("nobody")).await.unwrap().is_none());
}

#[tokio::test]
async fn what_one_instance_seals_another_opens() {
    let app = app("sealed").await;
    let sealed = app.vault.seal(b"webhook/1", b"whsec_1").await.unwrap();
    assert_ne!(app.vault.seal(b"webhook/1", b"whsec_1").await.unwrap(), sealed);
    let other = crate::support::app("sealed too").await;
    assert_eq!(
        other.vault.open(b"webhook/1", &sealed).await.unwrap().as_slice(),
        b"whsec_1"
    );
    let error = other.vault.open(b"webhook/2", &sealed).await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }));
}

#[tokio::test]
async fn a_job_goes_to_the_queue_of_its_environment() {
    let app = app("jobs").await;
    let receipt = ReceiptId::of(ReceiptId::RECEIPT, &app.scope.company, Environment::CerteCF, "order-1");
    let job = SubmissionJob::Send(ReceiptJob {
        scope: Scope {
            environment: Environment::CerteCF,
            ..app.scope
        },
        receipt,
        attempt: 1,
    });
    app.queues.send_submission(&job, Duration::ZERO).await.unwrap();
    let receive = async |url: &str| {
        let answer = app
            .clients
            .sqs
            .receive_message()
            .queue_url(url)
            .wait_time_seconds(0)
            .send()
            .await
            .unwrap();
        answer.messages.unwrap_or_default()
    };
    assert!(receive(&app.urls.testecf).await.is_empty());
    let messages = receive(&app.urls.certecf).await;
    assert_eq!(messages.len(), 1);
    let body = messages[0].body().unwrap();
    assert_eq!(serde_json::from_str::<SubmissionJob>(body).unwrap(), job);
}

#[tokio::test]
async fn a_function_without_the_address_is_told_which() {
    let app = app("no address").await;
    let queues = Queues::new(app.clients.sqs.clone(), QueueUrls::default());
    let job = WebhookJob::Portal {
        company: app.scope.company,
        attempt: 0,
    };
    let error = queues.send_webhook(&job, Duration::ZERO).await.unwrap_err();
    assert_eq!(error.to_string(), "no address is configured for webhook queue");
    assert!(!error.is_retryable());
}
