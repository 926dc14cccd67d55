//! Sends a row: a receipt is stored as a request, for `issuing-worker`; an approval is signed and stored, for
//! `exchange-worker`. Both under ids that follow from run and row, so a repeated step finds what is there.

use std::time::Duration;

use ecf::rules::OnConditional;
use ecf::{Amounts, Document, Environment, Fecha, ReceiptState};
use ecf_api::ApiError;
use ecf_certificates::{CannotSign, signing_identity};
use ecf_issuance::{StoredRequest, create, note};
use ecf_language::{Bilingual, Say, say};
use ecf_store::{
    ArtifactKind, ExchangeJob, NextStep, Receipt, Scope, StoreError,
    approvals::{Approval, ApprovalCreated, ApprovalWay, Transmission},
    companies::Company,
    receipts::{Created, Mode, NewReceipt, Particulars},
    runs::Run,
};
use ecf_workbook::Phase;
use ecf_workbook::run::{Entry, Which};
use jiff::Timestamp;

use crate::Worker;
use crate::books::{Book, Content};
use crate::ranges;
use crate::rows::{Row, approval_id, receipt_id};

/// Names the operation in the log.
const STORE_ROW: &str = "store row";

/// What a step knows of its run.
#[derive(Clone, Copy)]
pub(crate) struct Sender<'s> {
    pub(crate) worker: &'s Worker,
    pub(crate) scope: &'s Scope,
    pub(crate) company: &'s Company,
    pub(crate) run: &'s Run,
    pub(crate) book: &'s Book,
}

impl Sender<'_> {
    /// Prepares the first row of workbooks: a new attempt, so that numbers of an earlier workbook may repeat, and the prescribed
    /// ranges. The inner error is a sentence for the person.
    pub(crate) async fn prepare(&self) -> Result<Result<(), Bilingual>, StoreError> {
        let (table, now) = (&self.worker.store.table, self.worker.clock.now());
        let Content::Data { suite, .. } = &self.book.content else {
            return Ok(Ok(()));
        };
        if self.scope.environment == Environment::CerteCF {
            let key = format!("certification/{}", self.run.id);
            table.begin_attempt(self.scope, &key, now).await?;
        }
        ranges::register(table, self.scope, suite, now).await
    }

    /// Sends the row. The inner error is a sentence for the person.
    pub(crate) async fn send(&self, rows: &[Row], place: usize) -> Result<Result<(), Bilingual>, StoreError> {
        let entry = &rows[place].entry;
        match entry.phase {
            Phase::Approvals => self.approve(entry).await,
            _ => self.issue(entry, rows).await.map(Ok),
        }
    }

    /// The document of a row, and the request that is stored for it.
    fn request(&self, entry: &Entry, rows: &[Row]) -> Result<(Document, StoredRequest), StoreError> {
        let missing =
            |what: &str| StoreError::unexpected(STORE_ROW, format!("the workbook has no {what} {}", entry.which));
        let (payload, document, amounts, summary) = match (&self.book.content, entry.which) {
            (Content::Data { suite, .. }, Which::Prescribed(encf)) => {
                let row = suite.receipts.iter().find(|receipt| receipt.encf() == encf);
                let row = row.ok_or_else(|| missing("receipt"))?;
                let summary = match entry.phase {
                    Phase::Summaries if row.numbered().goes_as_summary() => {
                        let summary = suite.summaries.iter().find(|summary| summary.encf() == encf);
                        Some(summary.ok_or_else(|| missing("summary"))?.document().clone())
                    }
                    _ => None,
                };
                let document = row.numbered().document().clone();
                (row.payload().clone(), document, Amounts::Verbatim, summary)
            }
            (Content::Simulation(plan), Which::Simulated(count, _)) => {
                let place = usize::try_from(count).unwrap_or_default().wrapping_sub(1);
                let planned = plan.get(place).ok_or_else(|| missing("receipt"))?;
                let today = Fecha::at(self.run.begun_at);
                let modified = match planned.modifies {
                    Some(place) => {
                        let encf = rows.get(place).and_then(Row::encf);
                        Some((encf.ok_or_else(|| missing("number for the note"))?, today))
                    }
                    None => None,
                };
                let judged = planned.judged(modified, self.scope.environment, today);
                let ecf = judged.map_err(|violations| StoreError::unexpected(STORE_ROW, format!("{violations:?}")))?;
                let document = ecf.document().clone();
                (planned.payload(modified), document, Amounts::Scaled, None)
            }
            _ => return Err(missing("row")),
        };
        let request = StoredRequest {
            payload,
            on_conditional: Some(OnConditional::Warn),
            amounts: Some(amounts),
            summary,
        };
        Ok((document, request))
    }

    async fn issue(&self, entry: &Entry, rows: &[Row]) -> Result<(), StoreError> {
        let operation = STORE_ROW;
        let Worker { store, clock, .. } = self.worker;
        let (document, request) = self.request(entry, rows)?;
        let header = &document.encabezado;
        let (receipt_type, total) = (entry.which.receipt_type(), &header.totales.monto_total);
        let (Some(monto_total), Some(fecha_emision)) = (total, header.emisor.fecha_emision) else {
            return Err(StoreError::unexpected(
                operation,
                "the document has no total or no date",
            ));
        };
        let (id, now) = (receipt_id(self.scope, self.run, entry), clock.now());
        let bytes = request
            .to_json()
            .map_err(|error| StoreError::unexpected(operation, error))?;
        let payload = store
            .artifacts
            .put(self.scope, now, &id, ArtifactKind::Payload, bytes)
            .await?;
        let holds = self.company.settings.hold_notes;
        // A note that the authority would reject is stored without a reservation, and fails when it is issued: its
        // record then shows why.
        let judged = note::judge(&store.table, self.scope, &document, receipt_type, holds).await;
        let new = NewReceipt {
            public_id: id,
            company_rnc: self.company.rnc.clone(),
            idempotency_key: entry.key(&self.run.id.to_string()),
            payload_hash: request.payload.payload_hash(),
            ecf_type: receipt_type,
            external_id: None,
            mode: Mode::Immediate,
            state: ReceiptState::Received,
            created_at: now,
            scheduled_for: None,
            monto_total: monto_total.to_string(),
            rnc_comprador: header.comprador.rnc_comprador.as_ref().map(ToString::to_string),
            fecha_emision,
            particulars: Particulars {
                razon_social_comprador: header
                    .comprador
                    .razon_social_comprador
                    .as_ref()
                    .map(ToString::to_string),
                total_itbis: header.totales.total_itbis.as_ref().map(ToString::to_string),
            },
            signed: None,
            payload: Some(payload),
            note: unless_unavailable(judged)?.flatten(),
        };
        let created = create(&store.table, self.scope, &document, new, holds).await;
        match unless_unavailable(created)? {
            Some(Created::New(receipt)) => {
                self.count(&receipt).await;
                self.enqueue_issuing(&receipt).await;
                Ok(())
            }
            Some(Created::Replay(receipt)) => {
                self.enqueue_issuing(&receipt).await;
                Ok(())
            }
            Some(Created::NumberTaken | Created::ModifiedChanged) | None => Err(StoreError::retry(
                operation,
                "the receipt that it modifies kept changing",
            )),
        }
    }

    /// Counts the receipt. The consistency check repairs a lost count.
    async fn count(&self, receipt: &Receipt) {
        let fiscal = &receipt.fiscal;
        let table = &self.worker.store.table;
        let counted = table
            .count_created(self.scope, receipt.day(), fiscal.ecf_type, &fiscal.monto_total, None)
            .await;
        if let Err(error) = counted {
            tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "not counted");
        }
    }

    /// Enqueues a stored receipt that is not signed yet. When that fails, the due index brings it back.
    pub(crate) async fn enqueue_issuing(&self, receipt: &Receipt) {
        if receipt.state != ReceiptState::Received {
            return;
        }
        let queued = self.worker.queues.send_next(receipt, NextStep::Issue, Duration::ZERO);
        if let Err(error) = queued.await {
            tracing::warn!(receipt.id = %receipt.public_id, error = %ecf_runtime::telemetry::chain(&error), "not queued; housekeeping will");
        }
    }

    async fn approve(&self, entry: &Entry) -> Result<Result<(), Bilingual>, StoreError> {
        let operation = "store approval";
        let Worker {
            store,
            identities,
            clock,
            ..
        } = self.worker;
        let now = clock.now();
        let approvals = match &self.book.content {
            Content::Data { approvals, .. } => approvals.as_ref(),
            Content::Simulation(_) => None,
        };
        let mut approvals = approvals.into_iter().flat_map(|book| &book.approvals);
        let row = approvals.find(|approval| Which::Prescribed(approval.encf()) == entry.which);
        let row = row.ok_or_else(|| StoreError::unexpected(operation, "the workbook has no such approval"))?;
        let identity = match signing_identity(identities, &self.scope.company, now).await {
            Ok(identity) => identity,
            Err(CannotSign::Vault(error)) => return Err(error),
            Err(cannot) => return Ok(Err(cannot.say())),
        };
        let signed = xmldsig::sign(&row.acecf().to_xml(), &identity);
        let signed = signed.map_err(|error| StoreError::unexpected(operation, error))?;
        let id = approval_id(self.scope, self.run, entry);
        let hash = store
            .artifacts
            .put_message(self.scope, now, &id, ArtifactKind::Acecf, signed.xml)
            .await?;
        let details = &row.acecf().detalle_aprobacion_comercial;
        let (Some(rnc_emisor), Some(rnc_comprador), Some(estado)) =
            (&details.rnc_emisor, &details.rnc_comprador, details.estado)
        else {
            return Err(StoreError::unexpected(
                operation,
                "the approval lacks a mandatory field",
            ));
        };
        let new = Approval {
            id,
            way: ApprovalWay::Submit,
            idempotency_key: entry.key(&self.run.id.to_string()),
            rnc_emisor: rnc_emisor.clone(),
            rnc_comprador: rnc_comprador.clone(),
            encf: row.encf(),
            estado,
            reason: details
                .detalle_motivo_rechazo
                .as_ref()
                .map(|reason| reason.to_string().into()),
            acecf: hash,
            receiver_url: None,
            receipt_unknown: false,
            created_at: now,
            issuer: Transmission::not_needed(
                say!(
                    "the certification sends approvals to the tax authority only",
                    "la certificación envía las aprobaciones solo a la DGII"
                ),
                now,
            ),
            authority: Transmission::PENDING,
            authority_answer: None,
            attempts: 0,
            next_action_at: None,
        };
        // The receipts are in no inbox, so the approval is not the company's one answer to a received receipt.
        match store.table.create_approval(self.scope, &new, false).await? {
            ApprovalCreated::New => self.enqueue_approval(&new).await,
            ApprovalCreated::Replay(existing) => self.enqueue_approval(&existing).await,
            ApprovalCreated::Answered(_) => {}
        }
        Ok(Ok(()))
    }

    /// Enqueues an approval that was not sent yet. When that fails, the due index brings it back.
    pub(crate) async fn enqueue_approval(&self, approval: &Approval) {
        if approval.attempts > 0 || !approval.authority.is_pending() {
            return;
        }
        let job = ExchangeJob::Approval {
            scope: *self.scope,
            approval: approval.id,
            attempt: 0,
        };
        if let Err(error) = self.worker.queues.send_exchange(&job, Duration::ZERO).await {
            tracing::warn!(approval.id = %approval.id, error = %ecf_runtime::telemetry::chain(&error), "not queued; housekeeping will");
        }
    }

    /// The current time of the worker.
    pub(crate) fn now(&self) -> Timestamp {
        self.worker.clock.now()
    }
}

/// Distinguishes what the caller would read as 4xx, `None`, from a failure that a retry may mend.
fn unless_unavailable<T>(result: Result<T, ApiError>) -> Result<Option<T>, StoreError> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.status().is_server_error() => {
            let (_, message) = error.summary();
            Err(StoreError::retry("judge note", message))
        }
        Err(_) => Ok(None),
    }
}
