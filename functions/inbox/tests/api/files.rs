//! The files of an inbox item.

use ecf_ri::{Design, Format, Mode, Options};
use ecf_store::inbox::AuthorityState;
use ecf_store::stamp_hosts;
use ecf_testkit::foreign_receipt;

use crate::{ARECF, Api, INBOX};

#[tokio::test]
async fn both_files_are_byte_exact_under_their_names() {
    let api = Api::start().await;
    let item = api.receive("E310000000001").await;
    let sent = foreign_receipt(api.company.rnc.as_str(), "E310000000001", item.received_at);
    for (file, bytes, hash, name) in [
        ("xml", sent.as_slice(), item.xml, "101672919E310000000001.xml"),
        ("arecf", ARECF, item.arecf, "101672919E310000000001-arecf.xml"),
    ] {
        let answer = api.get(&format!("{INBOX}/{}/{file}", item.id)).await;
        assert_eq!(
            (answer.status.as_u16(), answer.bytes.as_slice()),
            (200, bytes),
            "{file}"
        );
        assert_eq!(answer.header("content-type"), Some("application/xml"));
        assert_eq!(answer.header("etag"), Some(format!("\"{hash}\"").as_str()));
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(answer.header("content-disposition"), Some(disposition.as_str()));
    }
}

#[tokio::test]
async fn a_file_that_is_gone_is_no_missing_receipt() {
    let api = Api::start().await;
    let item = api.receive("E310000000001").await;
    api.stack.lose_objects("").await;
    let answer = api.get(&format!("{INBOX}/{}/xml", item.id)).await;
    assert_eq!(answer.status, 500, "the receipt is there, and its file has to be");
    assert_eq!(api.get(INBOX).await.expect(200)["total"], 1);
}

#[tokio::test]
async fn p3_what_was_received_can_be_printed() {
    let api = Api::start().await;
    let item = api.receive("E310000000001").await;
    for (query, name) in [
        ("", "101672919E310000000001.pdf"),
        ("?format=roll80", "101672919E310000000001-roll80.pdf"),
    ] {
        let answer = api.get(&format!("{INBOX}/{}/pdf{query}", item.id)).await;
        assert_eq!(answer.status, 200, "{}", String::from_utf8_lossy(&answer.bytes));
        assert!(answer.bytes.starts_with(b"%PDF-"));
        assert_eq!(answer.header("content-type"), Some("application/pdf"));
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(answer.header("content-disposition"), Some(disposition.as_str()));
    }
    let fault = api.get(&format!("{INBOX}/{}/pdf?format=a3", item.id)).await;
    assert_eq!(fault.expect(422)["detail"][0]["type"], "enum");
}

#[tokio::test]
async fn p3_a_print_of_what_was_received_bears_the_authoritys_answer() {
    let api = Api::start().await;
    let hosts = stamp_hosts(&api.stack.env("inbox")).unwrap();
    for (number, (state, mode)) in [
        (None, Mode::Pending),
        (Some(AuthorityState::Accepted), Mode::Accepted),
        (Some(AuthorityState::ConditionallyAccepted), Mode::Accepted),
        (Some(AuthorityState::Rejected), Mode::Rejected),
        (Some(AuthorityState::NotFound), Mode::Unconfirmed),
    ]
    .into_iter()
    .enumerate()
    {
        let encf = format!("E31{:010}", number + 1);
        let item = api.receive(&encf).await;
        if let Some(state) = state {
            api.confirm(&item, state).await;
        }
        let print = api.get(&format!("{INBOX}/{}/pdf", item.id)).await.bytes;
        let xml = foreign_receipt(api.company.rnc.as_str(), &encf, item.received_at);
        let as_it_is = |mode| {
            let options = Options {
                environment: api.company.scope.environment,
                hosts: &hosts,
                format: Format::default(),
                mode,
                design: &Design::default(),
            };
            ecf_ri::render(&xml, &options).unwrap()
        };
        assert!(print == as_it_is(mode), "{state:?} is not printed as {mode:?}");
        let same = Mode::ALL
            .into_iter()
            .filter(|other| as_it_is(*other) == print.as_slice());
        assert_eq!(same.collect::<Vec<_>>(), [mode], "the print shows its mode");
    }
}

#[tokio::test]
async fn p3_a_document_that_cannot_be_printed_says_so() {
    let api = Api::start().await;
    let item = api
        .stack
        .received(&api.company, "E310000000001", None, b"<ECF/>", ARECF)
        .await;
    let refused = api.get(&format!("{INBOX}/{}/pdf", item.id)).await.expect(409);
    assert_eq!(refused["detail"]["code"], "not_printable");
}
