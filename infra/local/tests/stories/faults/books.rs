//! The harness's own records: each request and its response.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// A receipt that was answered with 2xx.
#[derive(Debug, Clone)]
pub(crate) struct Sale {
    /// The first response: id, number and security code.
    pub(crate) first: Value,
    pub(crate) ecf_type: String,
    /// `MontoTotal` of the request, in pesos.
    pub(crate) pesos: u64,
    /// The number that the caller chose.
    pub(crate) typed: Option<String>,
    /// The number of the modified receipt, if this is a note.
    pub(crate) modifies: Option<String>,
    /// The state in the response to a withdrawal.
    pub(crate) withdrawn: Option<String>,
}

impl Sale {
    pub(crate) fn of(request: &Value, first: &Value) -> Self {
        let payload = &request["payload"];
        let modifies = payload["InformacionReferencia"]["NCFModificado"].as_str();
        let first = ["public_id", "encf", "security_code"].map(|name| (name.to_owned(), first[name].clone()));
        Self {
            first: Value::Object(first.into_iter().collect()),
            ecf_type: request["ecf_type"].as_str().unwrap().to_owned(),
            pesos: payload["Encabezado"]["Totales"]["MontoTotal"].as_u64().unwrap(),
            typed: payload["Encabezado"]["IdDoc"]["eNCF"].as_str().map(str::to_owned),
            modifies: modifies.map(str::to_owned),
            withdrawn: None,
        }
    }

    pub(crate) fn public_id(&self) -> &str {
        self.first["public_id"].as_str().unwrap()
    }
}

/// Receipts by idempotency key.
pub(crate) type Sales = BTreeMap<String, Arc<Sale>>;

/// All receipts of a company in one environment; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Books(Arc<Mutex<Sales>>);

impl Books {
    /// Records a receipt. A repeated key must have got the same receipt.
    pub(crate) fn enter(&self, request: &Value, first: &Value) {
        let key = request["idempotency_key"].as_str().unwrap().to_owned();
        let mut sales = self.0.lock().unwrap();
        let sale = sales.entry(key).or_insert_with(|| Arc::new(Sale::of(request, first)));
        assert_eq!(sale.first["public_id"], first["public_id"], "one key, two receipts");
        if sale.first["encf"].is_null() {
            return;
        }
        assert_eq!(sale.first["encf"], first["encf"], "one key, two numbers");
    }

    pub(crate) fn withdraw(&self, key: &str, state: &str) {
        let mut sales = self.0.lock().unwrap();
        Arc::make_mut(sales.get_mut(key).unwrap()).withdrawn = Some(state.to_owned());
    }

    pub(crate) fn sale(&self, key: &str) -> Arc<Sale> {
        Arc::clone(&self.0.lock().unwrap()[key])
    }

    pub(crate) fn sales(&self) -> Sales {
        self.0.lock().unwrap().clone()
    }
}
