//! Receipts in the state that `issuing` leaves: signed, content in the bucket, record and number lock in the table.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use ecf::messages::Rfce;
use ecf::{Amounts, Draft, Encf, Fecha, FechaHora, Node, Numbered, ReceiptState, ReceiptType};
use ecf_store::{
    ContentHash, Receipt, ReceiptId, Scope, SubmissionJob,
    receipts::{Created, Mode, NewNote, NewReceipt, OutboxEntry, Particulars, Signed, Verdict},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use xmldsig::Identity;

use crate::{P12_PIN, TestCompany, TestStack, company::RANGES_END, test_p12};

impl TestStack {
    /// A signed receipt with this number: a type 31 of RD$11,800.00, or a type 32 of RD$1,000.00 with its summary. Its
    /// idempotency key is its number. No job is enqueued; see [`send_job`].
    pub async fn signed_receipt(&self, company: &TestCompany, encf: &str) -> Receipt {
        self.signed_successor(company, encf, encf).await
    }

    /// Like [`Self::signed_receipt`], with its own idempotency key: the next receipt of a number that a rejection left
    /// free.
    pub async fn signed_successor(&self, company: &TestCompany, encf: &str, key: &str) -> Receipt {
        let encf: Encf = encf.parse().expect("the test gave a number");
        let payload = payload(company, encf.receipt_type(), Fecha::at(self.clock().now()));
        Box::pin(self.signed(company, encf, key, &payload, None)).await
    }

    /// The receipt after the authority accepted it, with these entries in its outbox.
    pub async fn accept(&self, receipt: &Receipt, outbox: Vec<OutboxEntry>) -> Receipt {
        let (table, now) = (self.table(), self.clock().now());
        let (scope, id) = (&receipt.scope, &receipt.public_id);
        let minute = jiff::SignedDuration::from_mins(1);
        table
            .claim_send(scope, id, now, minute)
            .await
            .expect("the table answers");
        table
            .record_submitted(scope, id, "track-1", now)
            .await
            .expect("the table answers");
        let verdict = Verdict {
            state: ReceiptState::Accepted,
            track_id: None,
            error_code: None,
            error_message: None,
            secuencia_utilizada: None,
            taxauth_response: None,
            outbox,
        };
        table
            .record_verdict(scope, id, verdict, now)
            .await
            .expect("the table answers");
        let accepted = table.receipt(scope, id).await.expect("the table answers");
        accepted.expect("the receipt is there")
    }

    /// A signed note (33 or 34) with this number, `CodigoModificacion` and amount, on a receipt of
    /// [`Self::signed_receipt`]. It awaits the verdict on that receipt.
    pub async fn signed_note(
        &self,
        company: &TestCompany,
        encf: &str,
        on: &Receipt,
        code: u8,
        amount: &str,
    ) -> Receipt {
        let (key, encf): (_, Encf) = (encf, encf.parse().expect("the test gave a number"));
        let modifies = *on.encf().expect("what is modified has a number");
        let mut payload = payload(company, encf.receipt_type(), Fecha::at(self.clock().now()));
        payload["Encabezado"]["Totales"] = json!({ "MontoExento": amount, "MontoTotal": amount });
        let item = &mut payload["DetallesItems"]["Item"][0];
        item["IndicadorFacturacion"] = json!("4");
        item["PrecioUnitarioItem"] = json!(amount);
        item["MontoItem"] = json!(amount);
        payload["InformacionReferencia"] = json!({
            "NCFModificado": modifies.to_string(), "FechaNCFModificado": on.fiscal.fecha_emision.to_string(), "CodigoModificacion": code,
        });
        let note = NewNote {
            modifies,
            annuls: code == 1,
            awaits_invoice: true,
            amount: amount.parse().expect("the test gave an amount"),
            owner: on.public_id,
            monto_total: on.fiscal.monto_total.parse().expect("the kit wrote the amount"),
        };
        Box::pin(self.signed(company, encf, key, &payload, Some(note))).await
    }

    async fn signed(
        &self,
        company: &TestCompany,
        encf: Encf,
        key: &str,
        payload: &Value,
        note: Option<NewNote>,
    ) -> Receipt {
        let now = self.clock().now();
        let numbered = numbered(encf, payload);
        let identity = Identity::from_pkcs12(test_p12(), P12_PIN, now).expect("the P12 was made here");
        let firma = FechaHora::at(now);
        let full = xmldsig::sign(&numbered.to_xml(firma), &identity).expect("the document is canonical");
        let security_code: String = full.signature_value.chars().take(6).collect();
        let rfce = numbered.goes_as_summary().then(|| {
            let summary = Rfce::of(&numbered, &security_code).expect("the receipt is complete");
            xmldsig::sign(&summary.to_xml(), &identity)
                .expect("the summary is canonical")
                .xml
        });
        let signed = Signed {
            encf,
            sign_date: firma.to_string(),
            security_code,
            signed_xml: ContentHash::of(&full.xml),
            rfce: rfce.as_deref().map(ContentHash::of),
        };
        let public_id = ReceiptId::of_receipt(&company.scope, key);
        self.artifacts()
            .put_signed(&company.scope, now, &public_id, full.xml.into(), rfce.map(Into::into))
            .await
            .expect("the bucket answers");
        let new = NewReceipt {
            public_id,
            idempotency_key: key.to_owned(),
            monto_total: numbered.monto_total().to_string(),
            rnc_comprador: numbered.rnc_comprador().map(ToString::to_string),
            fecha_emision: numbered.fecha_emision(),
            particulars: Particulars {
                razon_social_comprador: numbered.razon_social_comprador().map(ToString::to_string),
                total_itbis: numbered.total_itbis().map(ToString::to_string),
            },
            signed: Some(signed),
            note,
            ..seeded_receipt(company, &encf.to_string(), ReceiptState::Signed, now)
        };
        match self.table().create_receipt(&company.scope, new).await {
            Ok(Created::New(receipt)) => receipt,
            other => panic!("the receipt was not created: {other:?}"),
        }
    }

    /// Makes a receipt's record unreadable, as a faulty release might.
    pub async fn spoil_receipt(&self, receipt: &Receipt) {
        let Scope { company, environment } = receipt.scope;
        let partition = format!("r#{company}#{}#{}", environment.path_segment(), receipt.public_id);
        let request = self.clients().dynamodb.update_item();
        let request = request
            .table_name(self.provisioned().table_name())
            .key("pk", AttributeValue::S(partition))
            .key("sk", AttributeValue::S("r".to_owned()))
            .update_expression("SET st = :nonsense")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_values(":nonsense", AttributeValue::S("nonsense".to_owned()));
        request.send().await.expect("the record is where the store keeps it");
    }

    /// Writes due records of a kind that only a later version knows.
    pub async fn write_unknown_due(&self, shard: u8, at: Timestamp, count: usize) {
        for number in 0..count {
            let item = [
                ("pk", format!("novelty#{shard}.{number}")),
                ("sk", "n".to_owned()),
                ("dp", format!("due#{shard}")),
                ("ds", format!("{at:.3}")),
            ];
            let item = item.map(|(name, value)| (name.to_owned(), AttributeValue::S(value)));
            let request = self.clients().dynamodb.put_item();
            let request = request
                .table_name(self.provisioned().table_name())
                .set_item(Some(HashMap::from(item)));
            request.send().await.expect("the table takes any item");
        }
    }
}

/// A receipt with this number and state, of RD$1,180.00, without stored documents: for tests that need many records.
pub fn seeded_receipt(company: &TestCompany, encf: &str, state: ReceiptState, created_at: Timestamp) -> NewReceipt {
    let number: Encf = encf.parse().expect("the test gave a number");
    NewReceipt {
        public_id: ReceiptId::of_receipt(&company.scope, encf),
        company_rnc: company.rnc.clone(),
        idempotency_key: encf.to_owned(),
        payload_hash: [0; 32],
        ecf_type: number.receipt_type(),
        external_id: None,
        mode: Mode::Immediate,
        state,
        created_at,
        scheduled_for: None,
        monto_total: "1180.00".to_owned(),
        rnc_comprador: None,
        fecha_emision: "27-11-2026".parse().expect("a constant date"),
        particulars: Particulars::default(),
        signed: Some(Signed {
            encf: number,
            sign_date: "27-11-2026 12:00:00".to_owned(),
            security_code: "aB3/x+".to_owned(),
            signed_xml: ContentHash::of(encf.as_bytes()),
            rfce: None,
        }),
        payload: None,
        note: None,
    }
}

/// The job that `issuing` enqueues for a receipt.
pub fn send_job(receipt: &Receipt) -> SubmissionJob {
    SubmissionJob::Send(receipt.job())
}

fn numbered(encf: Encf, payload: &Value) -> Numbered {
    let ecf_type = encf.receipt_type();
    let payload = Node::parse(payload.to_string().as_bytes()).expect("serde_json writes JSON");
    let (draft, _) = Draft::read(ecf_type, &payload, Amounts::Scaled).expect("the payload reads");
    let last_day = RANGES_END.parse().expect("a constant date");
    draft
        .check()
        .expect("the payload is complete")
        .numbered(encf, ecf_type.carries_expiry().then_some(last_day))
        .expect("the number fits the type")
}

fn payload(company: &TestCompany, ecf_type: ReceiptType, today: Fecha) -> Value {
    let (net, itbis, total) = match ecf_type {
        ReceiptType::E31 | ReceiptType::E33 | ReceiptType::E34 => ("10000.00", "1800.00", "11800.00"),
        ReceiptType::E32 => ("847.46", "152.54", "1000.00"),
        other => panic!("the kit has no document of type {other}"),
    };
    let mut encabezado = json!({
        "IdDoc": { "IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1" },
        "Emisor": {
            "RNCEmisor": company.rnc.to_string(),
            "RazonSocialEmisor": "Ferretería de Prueba SRL",
            "DireccionEmisor": "Avenida Winston Churchill 1099, Santo Domingo",
            "FechaEmision": today.to_string(),
        },
        "Totales": {
            "MontoGravadoTotal": net, "MontoGravadoI1": net, "ITBIS1": "18",
            "TotalITBIS": itbis, "TotalITBIS1": itbis, "MontoTotal": total,
        },
    });
    if ecf_type == ReceiptType::E34 {
        encabezado["IdDoc"]["IndicadorNotaCredito"] = json!("0");
    }
    if ecf_type != ReceiptType::E32 {
        encabezado["Comprador"] =
            json!({ "RNCComprador": "131880681", "RazonSocialComprador": "Constructora del Cibao SRL" });
    }
    json!({
        "Encabezado": encabezado,
        "DetallesItems": { "Item": [{
            "NumeroLinea": "1", "IndicadorFacturacion": "1", "NombreItem": "Cemento gris, funda de 42.5 kg",
            "IndicadorBienoServicio": "1", "CantidadItem": "1", "PrecioUnitarioItem": net, "MontoItem": net,
        }] },
    })
}
