//! Deliveries to receivers on loopback, good and bad ones.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use ecf_webhooks::{
    Attempt, DeliveryError, EventName, Guard, GuardedClient, Reach, TimeOuts, UrlError, WebhookSecret, deliver, verify,
};

type Seen = Arc<Mutex<Vec<(HeaderMap, Bytes)>>>;

struct Receiver {
    url: String,
    seen: Seen,
}

/// A receiver that answers every request alike.
async fn receiver(status: u16, headers: &'static [(&'static str, &'static str)], body: Vec<u8>) -> Receiver {
    let seen = Seen::default();
    let answer = move |State(seen): State<Seen>, request_headers: HeaderMap, request_body: Bytes| async move {
        seen.lock().unwrap().push((request_headers, request_body));
        let mut response: Response = (StatusCode::from_u16(status).unwrap(), body).into_response();
        for (name, value) in headers {
            response.headers_mut().insert(*name, value.parse().unwrap());
        }
        response
    };
    let app = Router::new().fallback(answer).with_state(seen.clone());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/webhooks/ecf?token=x", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, app).await });
    Receiver { url, seen }
}

/// A receiver that says these bytes to one caller and then holds the line until the caller hangs up.
fn holding(says: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 65_536];
        let _ = stream.read(&mut buffer);
        let _ = stream.write_all(says.as_bytes());
        while stream.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    url
}

/// A receiver that begins like this and then says one piece again and again, with pauses, until the caller hangs up; and how
/// many bytes it got rid of.
fn endless(begins: &'static str, piece: &'static str, pause: Duration) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let said = Arc::new(AtomicUsize::new(0));
    let counter = said.clone();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 65_536]);
        let mut next = begins;
        while stream.write_all(next.as_bytes()).is_ok() {
            counter.fetch_add(next.len(), Ordering::Relaxed);
            std::thread::sleep(pause);
            next = piece;
        }
    });
    (url, said)
}

fn client(reach: Reach, total: Duration) -> GuardedClient {
    GuardedClient::new(
        Guard::new(reach),
        TimeOuts {
            connect: Duration::from_secs(2),
            total,
        },
    )
    .unwrap()
}

fn secret() -> WebhookSecret {
    WebhookSecret::generate(&[7; 32])
}

async fn attempt(url: &str) -> Attempt {
    let client = client(Reach::PublicAndLoopback, Duration::from_secs(5));
    deliver(
        &client,
        url,
        &secret(),
        EventName::Accepted,
        b"{\"event\":\"accepted\"}".to_vec(),
    )
    .await
}

#[tokio::test]
async fn b6_a_delivery_is_the_body_as_it_is_under_the_documented_headers() {
    let receiver = receiver(200, &[], b"ok".to_vec()).await;
    let attempt = attempt(&receiver.url).await;
    assert_eq!((attempt.status_code, attempt.succeeded), (Some(200), true));
    assert_eq!(attempt.excerpt.as_deref(), Some("ok"));
    assert!(attempt.error.is_none());

    let [(headers, body)] = receiver.seen.lock().unwrap().clone().try_into().unwrap();
    assert_eq!(body, "{\"event\":\"accepted\"}");
    assert!(verify(&secret(), &body, headers["x-ecf-signature"].to_str().unwrap()));
    assert_eq!(headers["x-ecf-event"], "accepted");
    let mut sent: Vec<_> = headers.keys().map(|name| name.as_str()).collect();
    sent.retain(|name| !["content-length", "host"].contains(name));
    sent.sort_unstable();
    for (guide, heading) in [
        (include_str!("../../../docs/webhooks.md"), "| header | value |"),
        (include_str!("../../../docs/es/webhooks.md"), "| encabezado | valor |"),
    ] {
        let rows = documented_headers(guide, heading);
        let mut names: Vec<_> = rows.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, sent, "{heading}");
        for (name, value) in rows.iter().filter(|(_, value)| value.ends_with('`')) {
            assert_eq!(format!("`{}`", headers[name].to_str().unwrap()), *value, "{name}");
        }
    }
    assert!(
        headers["user-agent"]
            .to_str()
            .unwrap()
            .starts_with("open-ecf-webhooks/")
    );
}

/// The rows of a guide's table of headers: the name in lower case, and the value as it is written.
fn documented_headers(guide: &str, heading: &str) -> Vec<(String, String)> {
    let (_, table) = guide.split_once(heading).expect("the guide has the table");
    let rows = table
        .trim_start()
        .lines()
        .skip(1)
        .take_while(|row| row.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<_> = row.trim_matches('|').splitn(2, '|').map(str::trim).collect();
        (cells[0].trim_matches('`').to_lowercase(), cells[1].to_owned())
    })
    .collect()
}

#[tokio::test]
async fn only_a_2xx_status_is_a_success() {
    for (status, succeeded) in [
        (200, true),
        (204, true),
        (299, true),
        (304, false),
        (400, false),
        (410, false),
        (500, false),
    ] {
        let receiver = receiver(status, &[], Vec::new()).await;
        let attempt = attempt(&receiver.url).await;
        assert_eq!((attempt.status_code, attempt.succeeded), (Some(status), succeeded));
        assert_eq!(attempt.excerpt, None);
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_not_a_way() {
    for status in [301, 302, 303, 307, 308] {
        let receiver = receiver(status, &[("location", "/elsewhere")], Vec::new()).await;
        let attempt = attempt(&receiver.url).await;
        assert_eq!((attempt.status_code, attempt.succeeded), (Some(status), false));
        assert_eq!(receiver.seen.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn of_a_huge_answer_a_kilobyte_is_kept() {
    let receiver = receiver(500, &[], "ñ".repeat(4 << 20).into_bytes()).await;
    let attempt = attempt(&receiver.url).await;
    assert_eq!(attempt.status_code, Some(500));
    assert_eq!(attempt.excerpt.map(|excerpt| excerpt.chars().count()), Some(512));
}

#[tokio::test]
async fn who_does_not_answer_in_time_is_given_up() {
    let client = client(Reach::PublicAndLoopback, Duration::from_millis(200));
    let attempt = deliver(&client, &holding(""), &secret(), EventName::Rejected, b"{}".to_vec()).await;
    assert!(!attempt.succeeded && attempt.status_code.is_none());
    assert!(matches!(attempt.error, Some(DeliveryError::TimedOut(_))), "{attempt:?}");
}

#[tokio::test]
async fn who_answers_and_never_ends_has_answered() {
    let client = client(Reach::PublicAndLoopback, Duration::from_millis(300));
    let url = holding("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nrecibido");
    let attempt = deliver(&client, &url, &secret(), EventName::Rejected, b"{}".to_vec()).await;
    assert_eq!((attempt.status_code, attempt.succeeded), (Some(200), true));
    assert_eq!(attempt.excerpt.as_deref(), Some("recibido"));
}

#[tokio::test]
async fn who_drips_is_given_up_when_the_time_is_over() {
    let total = Duration::from_millis(400);
    let pause = Duration::from_millis(20);
    for (begins, status_code) in [
        ("HTTP/1.1 200 OK\r\nx-slow: ", None),
        ("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", Some(200)),
        ("HTTP/1.1 500 Oh\r\ntransfer-encoding: chunked\r\n\r\n", Some(500)),
    ] {
        let (url, _) = endless(begins, "1\r\n.\r\n", pause);
        let begun = Instant::now();
        let client = client(Reach::PublicAndLoopback, total);
        let attempt = deliver(&client, &url, &secret(), EventName::Accepted, b"{}".to_vec()).await;
        assert_eq!(attempt.status_code, status_code, "{begins}");
        assert!(begun.elapsed() >= total && begun.elapsed() < 20 * total, "{begins}");
    }
}

#[tokio::test]
async fn headers_without_end_are_not_read_to_the_end() {
    let (url, said) = endless(
        "HTTP/1.1 200 OK\r\n",
        "x-more: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n",
        Duration::ZERO,
    );
    let attempt = attempt(&url).await;
    assert!(matches!(attempt.error, Some(DeliveryError::Broken(_))), "{attempt:?}");
    // What the sockets held at the end counts too.
    let said = said.load(Ordering::Relaxed);
    assert!(said < 16 << 20, "{said} bytes");
}

#[tokio::test]
async fn a_reply_without_end_is_not_read_to_the_end() {
    let (url, said) = endless(
        "HTTP/1.1 200 OK\r\n\r\n",
        "<a>aaaaaaaaaaaaaaaaaaaaaaaaaaaa</a>",
        Duration::ZERO,
    );
    let client = client(Reach::PublicAndLoopback, Duration::from_secs(30));
    let reply = client.get(&url).await;
    assert!(matches!(reply, Err(DeliveryError::TooLong)), "{reply:?}");
    let said = said.load(Ordering::Relaxed);
    assert!(said < 16 << 20, "{said} bytes");
}

#[tokio::test]
async fn where_nobody_listens_there_is_no_connection() {
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/?token=secret", listener.local_addr().unwrap())
    };
    let attempt = attempt(&url).await;
    assert!(
        matches!(attempt.error, Some(DeliveryError::Connection(_))),
        "{attempt:?}"
    );
    assert!(!format!("{attempt:?}").contains("token=secret"));
}

#[tokio::test]
async fn the_deployed_client_calls_no_inner_address() {
    let receiver = receiver(200, &[], Vec::new()).await;
    let port = receiver.url.split([':', '/']).nth(4).unwrap().to_owned();
    let client = client(Reach::Public, Duration::from_secs(5));
    for host in [
        "127.0.0.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "0.0.0.0",
        "2130706433",
    ] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}:{port}/");
            let attempt = deliver(&client, &url, &secret(), EventName::Accepted, b"{}".to_vec()).await;
            assert!(
                matches!(attempt.error, Some(DeliveryError::Url(_))),
                "{url} {attempt:?}"
            );
        }
    }
    assert!(receiver.seen.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_local_client_calls_localhost_by_name() {
    let receiver = receiver(200, &[], Vec::new()).await;
    let attempt = attempt(&receiver.url.replace("127.0.0.1", "localhost")).await;
    assert!(attempt.succeeded, "{attempt:?}");
}

#[tokio::test]
async fn an_address_that_became_bad_after_registration_is_refused_at_sending() {
    let attempt = attempt("http://169.254.169.254/latest/meta-data/").await;
    assert!(
        matches!(attempt.error, Some(DeliveryError::Url(UrlError::Refused(_)))),
        "{attempt:?}"
    );
}

#[tokio::test]
async fn what_a_receiver_asks_to_wait_is_read_in_seconds() {
    for (header, expected) in [
        ("120", Some(120)),
        ("Fri, 27 Nov 2026 12:00:00 GMT", None),
        ("-1", None),
    ] {
        let headers: &'static [(&str, &str)] = Box::leak(Box::new([("retry-after", header)]));
        let receiver = receiver(503, headers, Vec::new()).await;
        let attempt = attempt(&receiver.url).await;
        assert_eq!(attempt.retry_after, expected.map(Duration::from_secs), "{header}");
    }
}
