//! `GET /api/v1/client/documents/{id}/artifacts/ri`: rendered once, stored, and rendered again when one of its parts
//! changes.

use bytes::Bytes;
use ecf::ReceiptState;
use ecf_store::{
    FieldEdit, Receipt,
    designs::{DesignChanges, LogoKind, StoredLogo},
    receipts::{Recorded, Withdrawal},
};
use jiff::SignedDuration;

use crate::{Api, path_of};

fn ri_of(receipt: &Receipt, query: &str) -> String {
    format!("{}/artifacts/ri{query}", path_of(receipt))
}

#[tokio::test]
async fn it_is_made_on_the_first_call_and_then_comes_from_the_bucket() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    api.stack.calls().reset();
    let first = api.get(&ri_of(&receipt, "")).await;
    assert_eq!(first.status, 200);
    assert!(first.bytes.starts_with(b"%PDF-1."));
    // The look-up of a stored print, the signed bytes; then the print is stored.
    assert_eq!(
        (
            api.stack.calls().count("GetObject"),
            api.stack.calls().count("PutObject")
        ),
        (2, 1)
    );

    api.stack.calls().reset();
    let again = api.get(&ri_of(&receipt, "?format=letter")).await;
    assert_eq!(
        (
            api.stack.calls().count("GetObject"),
            api.stack.calls().count("PutObject")
        ),
        (1, 0)
    );
    assert_eq!(again.bytes, first.bytes);

    api.stack.calls().reset();
    let anew = api.get(&ri_of(&receipt, "?refresh=true")).await;
    assert_eq!(
        (
            api.stack.calls().count("GetObject"),
            api.stack.calls().count("PutObject")
        ),
        (1, 1)
    );
    assert_eq!(anew.bytes, first.bytes);
}

#[tokio::test]
async fn each_paper_is_a_file_of_its_own() {
    let api = Api::start().await;
    let receipt = api.receipt("E320000000001").await;
    let mut seen = Vec::new();
    for (format, name) in [
        ("letter", "130000001E320000000001.pdf"),
        ("a4", "130000001E320000000001-a4.pdf"),
        ("roll80", "130000001E320000000001-roll80.pdf"),
        ("roll58", "130000001E320000000001-roll58.pdf"),
    ] {
        let path = ri_of(&receipt, &format!("?format={format}"));
        let answer = api.get(&path).await;
        assert_eq!(
            answer.header("content-disposition"),
            Some(format!("attachment; filename=\"{name}\"").as_str())
        );
        assert_eq!(api.get(&path).await.bytes, answer.bytes, "{format}");
        assert!(!seen.contains(&answer.bytes), "{format}");
        seen.push(answer.bytes);
    }
}

#[tokio::test]
async fn the_legend_of_a_contingency_is_printed_while_it_lasts() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let normal = api.get(&ri_of(&receipt, "")).await;
    let (table, now) = (api.stack.table(), api.stack.clock().now());
    let until = now + SignedDuration::from_mins(10);
    assert!(table.hold(&receipt.scope, &receipt, until, now).await.unwrap());
    let held = api.get(&ri_of(&receipt, "")).await;
    assert_eq!((normal.status.as_u16(), held.status.as_u16()), (200, 200));
    assert_ne!(held.bytes, normal.bytes);
    // A print before the verdict is marked as pending.
    api.accept(&receipt).await;
    let accepted = api.get(&ri_of(&receipt, "")).await.bytes;
    assert!(accepted != normal.bytes && accepted != held.bytes);
}

#[tokio::test]
async fn a_rejected_receipt_is_printed_as_one_without_fiscal_value() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let before = api.get(&ri_of(&receipt, "")).await;
    api.judge(&receipt, ReceiptState::Rejected).await;
    let after = api.get(&ri_of(&receipt, "")).await;
    assert_eq!((before.status.as_u16(), after.status.as_u16()), (200, 200));
    assert_ne!(after.bytes, before.bytes);
}

#[tokio::test]
async fn a_print_of_before_is_not_handed_out_for_a_withdrawn_receipt() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let before = api.get(&ri_of(&receipt, "")).await;
    let (table, now) = (api.stack.table(), api.stack.clock().now());
    let withdrawn = table.withdraw(&receipt.scope, &receipt, Withdrawal::Cancel, now).await;
    assert!(matches!(withdrawn.unwrap(), Recorded::Now(_)));
    let after = api.get(&ri_of(&receipt, "")).await;
    assert_eq!((before.status.as_u16(), after.status.as_u16()), (200, 200));
    assert_ne!(after.bytes, before.bytes);
}

#[tokio::test]
async fn it_is_printed_in_the_companys_design_from_the_change_on() {
    let api = Api::start().await;
    let receipt = api.receipt("E310000000001").await;
    let plain = api.get(&ri_of(&receipt, "")).await.bytes;
    let (table, company, now) = (api.stack.table(), receipt.scope.company, api.stack.clock().now());
    let change = async |changes| {
        table.change_design(&company, changes, now).await.unwrap();
        let answer = api.get(&ri_of(&receipt, "")).await;
        assert_eq!(answer.status, 200);
        answer.bytes
    };
    let color = change(DesignChanges {
        color: FieldEdit::Set("#aa0000".to_owned()),
        ..DesignChanges::default()
    });
    let color = color.await;
    let footer = change(DesignChanges {
        footer: FieldEdit::Set("Gracias por su compra".to_owned()),
        ..DesignChanges::default()
    });
    let footer = footer.await;
    assert!(plain != color && color != footer && plain != footer);
    // A logo that is not an image any more does not prevent a print.
    let artifacts = api.stack.artifacts();
    let hash = artifacts.put_logo(&company, "image/png", Bytes::from_static(b"no image"));
    let logo = StoredLogo {
        hash: hash.await.unwrap(),
        kind: LogoKind::Png,
    };
    let changes = DesignChanges {
        logo: FieldEdit::Set(logo),
        ..DesignChanges::default()
    };
    assert_eq!(change(changes).await, footer);
    let cleared = DesignChanges {
        color: FieldEdit::Clear,
        footer: FieldEdit::Clear,
        logo: FieldEdit::Clear,
    };
    assert_eq!(change(cleared).await, plain);
}
