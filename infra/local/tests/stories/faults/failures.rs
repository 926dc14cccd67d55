//! Valid reasons for failed receipts.

use serde_json::Value;

use super::authority::Struck;
use super::books::{Sale, Sales};
use super::proof::Records;

/// Faults that reject a document without a verdict.
const REFUSALS: [&str; 1] = ["empty"];
/// Error codes of a note that can no longer become valid.
const OF_NOTES: [&str; 2] = ["modified_receipt_not_accepted", "modified_receipt_balance"];
/// The receipts whose failure is explained neither by a fault of the authority nor by the harness's records.
pub(crate) fn unexplained(sales: &Sales, records: &Records, struck: &[Struck]) -> Vec<String> {
    let was_rejected = |encf: &str| {
        let mut of_number = records.values().filter(|record| record["encf"] == encf);
        of_number.any(|record| record["status"] == "rejected")
    };
    let was_refused = |encf: &str| {
        struck.iter().any(|one| {
            let is_refusal = REFUSALS.contains(&one.fault.as_str());
            is_refusal && one.service.starts_with("recepcion") && one.encf == encf
        })
    };
    let is_taken = |key: &str, typed: &str| {
        let mut others = records.iter().filter(|(other, _)| other.as_str() != key);
        others.any(|(_, record)| record["encf"] == typed)
    };
    let is_explained = |key: &str, sale: &Sale, record: &Value| match record["error_code"].as_str() {
        Some("attempt_abandoned") => record["environment"] == "CerteCF",
        Some(code) if OF_NOTES.contains(&code) => sale.modifies.as_deref().is_some_and(was_rejected),
        Some("encf_already_used") => sale.typed.as_deref().is_some_and(|typed| is_taken(key, typed)),
        Some("refused") => record["encf"].as_str().is_some_and(was_refused),
        _ => false,
    };
    let failed = records.iter().filter(|(_, record)| record["status"] == "failed");
    let unexplained = failed.filter(|(key, record)| !is_explained(key, &sales[*key], record));
    unexplained
        .map(|(key, record)| format!("{key} failed without an order: {record}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;

    fn failed(code: &str) -> (Sales, Records) {
        let request = json!({ "ecf_type": "33", "payload": {
            "Encabezado": { "Totales": { "MontoTotal": 10 } }, "InformacionReferencia": { "NCFModificado": "E310000000001" } } });
        let sale = Arc::new(Sale::of(&request, &json!({ "public_id": "a" })));
        let record =
            json!({ "status": "failed", "error_code": code, "encf": "E330000000007", "environment": "TesteCF" });
        (
            Sales::from([("a".to_owned(), sale)]),
            Records::from([("a".to_owned(), record)]),
        )
    }

    fn order(fault: &str, service: &str, encf: &str) -> Struck {
        Struck {
            fault: fault.to_owned(),
            service: service.to_owned(),
            encf: encf.to_owned(),
            times: 1,
        }
    }

    #[test]
    fn r9_a_failure_without_an_order_is_seen() {
        let (sales, records) = failed("refused");
        let orders = [order("empty", "recepcion", "E330000000007")];
        assert_eq!(unexplained(&sales, &records, &orders), [""; 0]);
        for others in [
            order("empty", "recepcion", "E330000000008"),
            order("html", "recepcion", "E330000000007"),
            order("empty", "consultaestado", "E330000000007"),
        ] {
            assert_eq!(unexplained(&sales, &records, &[others]).len(), 1);
        }
        for code in [
            "signed_xml_missing",
            "attempt_abandoned",
            "modified_receipt_not_accepted",
        ] {
            let (sales, records) = failed(code);
            assert_eq!(unexplained(&sales, &records, &orders).len(), 1, "{code}");
        }
    }

    #[test]
    fn a_note_on_a_rejected_receipt_may_fail() {
        let (sales, mut records) = failed("modified_receipt_not_accepted");
        let rejected = json!({ "status": "rejected", "encf": "E310000000001", "environment": "TesteCF" });
        records.insert("b".to_owned(), rejected);
        assert_eq!(unexplained(&sales, &records, &[]), [""; 0]);
    }
}
