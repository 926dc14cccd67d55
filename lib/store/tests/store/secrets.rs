//! Secrets of the operator.

use std::net::SocketAddr;

use ecf_store::{CachedSecret, CertificateFile, Clients, CompanyId, OperatorSecret, Vault, local_config};
use jiff::ToSpan as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{app, noon};

#[tokio::test]
async fn an_operators_secret_is_remembered_for_minutes_and_so_is_that_there_is_none() {
    let app = app("operator's secrets").await;
    let client = &app.clients.secretsmanager;
    let vault = Vault::new(client.clone(), "store/operators");
    let (kept, other) = (
        CachedSecret::new(vault.clone(), OperatorSecret::TaxauthStatusKey),
        CachedSecret::new(vault, OperatorSecret::PortalSecret),
    );
    let text = async |minutes: i64| {
        let text = kept.text(noon() + minutes.minutes()).await.unwrap();
        text.map(|text| text.to_string())
    };
    assert_eq!(text(0).await, None);
    let name = "store/operators/taxauth-status-key";
    client
        .create_secret()
        .name(name)
        .secret_string("first\n")
        .send()
        .await
        .unwrap();
    assert_eq!(text(4).await, None);
    assert_eq!(text(5).await.as_deref(), Some("first"));
    client
        .put_secret_value()
        .secret_id(name)
        .secret_string("second")
        .send()
        .await
        .unwrap();
    assert_eq!(text(9).await.as_deref(), Some("first"));
    assert_eq!(text(10).await.as_deref(), Some("second"));
    client
        .put_secret_value()
        .secret_id(name)
        .secret_string(" ")
        .send()
        .await
        .unwrap();
    assert_eq!(text(15).await, None);
    assert_eq!(other.text(noon()).await.unwrap(), None);
    // A secret whose deletion is scheduled counts as missing, although it exists for days.
    client
        .put_secret_value()
        .secret_id(name)
        .secret_string("third")
        .send()
        .await
        .unwrap();
    assert_eq!(text(20).await.as_deref(), Some("third"));
    client.delete_secret().secret_id(name).send().await.unwrap();
    assert_eq!(text(25).await, None);
}

/// A server that answers once and stops.
async fn answers_once(status: &'static str, body: &'static str) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        drop(listener);
        let mut request = [0; 16_384];
        let _ = stream.read(&mut request).await;
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/x-amz-json-1.1\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream
            .write_all(&[head.as_bytes(), body.as_bytes()].concat())
            .await
            .unwrap();
    });
    address
}

#[tokio::test]
async fn what_is_known_is_used_on_while_secrets_manager_does_not_answer() {
    let address = answers_once("200 OK", r#"{"SecretString":"first","VersionId":"1"}"#).await;
    let clients = Clients::new(&local_config(&format!("http://{address}")));
    let vault = Vault::new(clients.secretsmanager, "ecf/stack");
    let kept = CachedSecret::new(vault.clone(), OperatorSecret::TaxauthStatusKey);
    for minutes in [0, 6] {
        let text = kept.text(noon() + minutes.minutes()).await.unwrap();
        assert_eq!(text.unwrap().as_str(), "first");
    }
    let new = CachedSecret::new(vault, OperatorSecret::TaxauthStatusKey);
    assert!(new.text(noon()).await.unwrap_err().is_retryable());
}

/// Secrets Manager checks the permission before it checks whether the secret exists.
#[tokio::test]
async fn a_secret_that_is_not_there_is_none_also_where_the_role_may_read_that_name_alone() {
    for (answer, is_none) in [
        (r#"{"__type":"AccessDeniedException","Message":"not authorized"}"#, true),
        (
            r#"{"__type":"AccessDeniedException","Message":"Access to KMS is not allowed"}"#,
            false,
        ),
        (
            r#"{"__type":"DecryptionFailure","Message":"the key is disabled"}"#,
            false,
        ),
    ] {
        let address = answers_once("400 Bad Request", answer).await;
        let clients = Clients::new(&local_config(&format!("http://{address}")));
        let vault = Vault::new(clients.secretsmanager, "ecf/stack");
        let read = CachedSecret::new(vault, OperatorSecret::PortalSecret)
            .text(noon())
            .await;
        assert_eq!(
            read.map(|text| text.is_none()).ok(),
            is_none.then_some(true),
            "{answer}"
        );
    }
}

#[tokio::test]
async fn k2_a_new_secret_is_encrypted_with_the_key_that_the_vault_is_given() {
    let app = app("secrets and keys").await;
    let client = &app.clients.secretsmanager;
    let plain = Vault::new(client.clone(), "store/kms");
    let vault = plain.clone().with_kms_key(Some("arn:key".to_owned()));
    let file = CertificateFile::verbatim(b"p12", "1");
    let [first, second] = [1, 2].map(|number| CompanyId::from_random([number; 20]));
    vault.store_certificate(&first, &file).await.unwrap();
    plain.store_certificate(&second, &file).await.unwrap();
    let keys = async || {
        let mut found = Vec::new();
        let mut from = None;
        loop {
            let page = vault.secrets(from, 1).await.unwrap().unwrap();
            found.extend(page.secrets.into_iter().map(|secret| (secret.company, secret.kms_key)));
            from = page.next;
            if from.is_none() {
                break;
            }
        }
        found.sort();
        found
    };
    let under_key = Some("arn:key".to_owned());
    assert_eq!(keys().await, [(Some(first), under_key.clone()), (Some(second), None)]);

    // A new version retains the secret's key, so the old one must be moved.
    let renewed = CertificateFile::verbatim(b"renewed", "2");
    vault.store_certificate(&second, &renewed).await.unwrap();
    assert_eq!(keys().await[1].1, None);
    for _ in 0..2 {
        assert!(vault.move_certificate_to_key(&second).await.unwrap());
    }
    assert_eq!(keys().await[1].1, under_key);
    let kept = vault.certificate(&second).await.unwrap().unwrap();
    assert_eq!(*kept.file.p12, b"renewed");

    vault.discard_certificate(&second).await.unwrap();
    assert!(!vault.move_certificate_to_key(&second).await.unwrap());
    assert!(plain.move_certificate_to_key(&first).await.is_err());
}
