//! Every event, declared once: its name, who gets it, its payload with the published schema, and its row in the guides.
//!
//! A new event is one entry of [`EventName`], a variant of [`News`] and, unless it shares another event's, a payload. Then
//! `cargo run -- openapi` writes the published contract and the tables in `docs/webhooks.md` and `docs/es/webhooks.md`.

use ecf::ReceiptType;
use ecf::catalogue::EstadoAprobacion;
use ecf_store::{
    Receipt, Scope, WebhookId,
    announcements::Announcement,
    certificates::CertificateSummary,
    contingencies::Contingency,
    inbox::{AuthorityState, InboxItem},
    receipts::BuyerAnswer,
};
use jiff::{Timestamp, civil::Date};

use crate::announcement::Head;
use crate::payload::{TestEvent, VerdictEvent, without_offset};
use crate::schema::{
    Schema, count, flag, instant, nullable_text, nullable_word, number, optional, payload, text, word,
};

/// What is declared of an event.
#[derive(Debug)]
pub struct Declaration {
    /// Its name in subscriptions, payloads and the `X-ECF-Event` header.
    pub name: &'static str,
    /// Who gets it.
    pub audience: Audience,
    /// What its body looks like.
    pub schema: fn() -> Schema,
    /// Its summary in the published contract, whose summaries are in Spanish.
    pub summary: &'static str,
    /// Its row in `docs/webhooks.md`. Neighbours with the same text share a row.
    pub english: &'static str,
    /// Its row in `docs/es/webhooks.md`.
    pub spanish: &'static str,
}

/// Who gets an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Webhooks that subscribed to its name, or to all fiscal states by a wildcard.
    Wildcards,
    /// Webhooks that subscribed to its name.
    Name,
    /// The webhook whose dry run was requested.
    DryRun,
}

macro_rules! events {
    ($($(#[$doc:meta])* $variant:ident = $declaration:expr,)*) => {
        /// An event that is delivered.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventName {
            $($(#[$doc])* $variant,)*
        }

        impl EventName {
            /// Every event.
            pub const ALL: [Self; [$(Self::$variant),*].len()] = [$(Self::$variant),*];

            /// What is declared of it.
            #[must_use]
            pub fn declaration(self) -> &'static Declaration {
                match self {
                    $(Self::$variant => {
                        static DECLARATION: Declaration = $declaration;
                        &DECLARATION
                    })*
                }
            }
        }
    };
}

events! {
    /// The authority accepted the receipt.
    Accepted = Declaration {
        name: "accepted",
        audience: Audience::Wildcards,
        schema: VerdictEvent::schema,
        summary: "Comprobante aceptado",
        english: "that verdict",
        spanish: "ese veredicto: aceptado, aceptado condicional, rechazado",
    },
    /// The authority accepted it with observations.
    ConditionallyAccepted = Declaration {
        name: "conditionally_accepted",
        audience: Audience::Wildcards,
        schema: VerdictEvent::schema,
        summary: "Comprobante aceptado condicionalmente",
        english: "that verdict",
        spanish: "ese veredicto: aceptado, aceptado condicional, rechazado",
    },
    /// The authority rejected it.
    Rejected = Declaration {
        name: "rejected",
        audience: Audience::Wildcards,
        schema: VerdictEvent::schema,
        summary: "Comprobante rechazado",
        english: "that verdict",
        spanish: "ese veredicto: aceptado, aceptado condicional, rechazado",
    },
    /// The dry run that a subscriber asks for; it goes to the webhook asked about, whatever that one subscribed to.
    Test = Declaration {
        name: "webhook.test",
        audience: Audience::DryRun,
        schema: TestEvent::schema,
        summary: "Prueba de un webhook",
        english: "nothing by itself: the dry run comes to the webhook it was asked for, whatever that one subscribed to",
        spanish: "solo la prueba",
    },
    /// A range of numbers has few left.
    SequenceLow = Declaration {
        name: "sequence.low",
        audience: Audience::Name,
        schema: SequenceEvent::schema,
        summary: "Quedan pocos números",
        english: "a range that passes a threshold, once for each threshold",
        spanish: "a una secuencia le quedan pocos números, o está por vencer",
    },
    /// A range of numbers is about to expire.
    SequenceExpiring = Declaration {
        name: "sequence.expiring",
        audience: Audience::Name,
        schema: SequenceEvent::schema,
        summary: "Un rango está por vencer",
        english: "a range that passes a threshold, once for each threshold",
        spanish: "a una secuencia le quedan pocos números, o está por vencer",
    },
    /// A receipt stopped without a verdict.
    Failed = Declaration {
        name: "failed",
        audience: Audience::Name,
        schema: ReceiptFailedEvent::schema,
        summary: "Un comprobante se detuvo",
        english: "a receipt that stopped without a verdict: `receipt_id`, `error_code`, `error_message`; within a minute",
        spanish: "un comprobante se detuvo sin veredicto: `receipt_id`, `error_code`, `error_message`; en un minuto",
    },
    /// A signed receipt has been waiting for the authority for too long.
    DeliveryAlarm = Declaration {
        name: "delivery.alarm",
        audience: Audience::Name,
        schema: DeliveryAlarmEvent::schema,
        summary: "Un comprobante no llega a la DGII",
        english: "a signed receipt that the tax authority has not got for 48, 60 and 70 hours; the law gives 72",
        spanish: "un comprobante firmado que la DGII no tiene desde hace 48, 60 y 70 horas; la ley da 72",
    },
    /// Receipts of the company are held, because the authority is unreachable.
    ContingencyStarted = Declaration {
        name: "contingency.started",
        audience: Audience::Name,
        schema: ContingencyEvent::schema,
        summary: "Los comprobantes esperan a la DGII",
        english: "receipts of the company are held because the tax authority is unreachable, and it is back: `reason`, `since`, `ended_at`; once each for an outage",
        spanish: "los comprobantes de la empresa esperan porque la DGII no responde, y la DGII volvió: `reason`, `since`, `ended_at`; una vez cada uno por interrupción",
    },
    /// The authority is back, and what was held is sent.
    ContingencyEnded = Declaration {
        name: "contingency.ended",
        audience: Audience::Name,
        schema: ContingencyEvent::schema,
        summary: "La DGII volvió y se envían los comprobantes",
        english: "receipts of the company are held because the tax authority is unreachable, and it is back: `reason`, `since`, `ended_at`; once each for an outage",
        spanish: "los comprobantes de la empresa esperan porque la DGII no responde, y la DGII volvió: `reason`, `since`, `ended_at`; una vez cada uno por interrupción",
    },
    /// The company's certificate is about to expire.
    CertificateExpiring = Declaration {
        name: "certificate.expiring",
        audience: Audience::Name,
        schema: CertificateExpiringEvent::schema,
        summary: "El certificado está por vencer",
        english: "the company's certificate, at 30, 15, 7 and 1 days before it expires",
        spanish: "el certificado de la empresa, a 30, 15, 7 y 1 días de vencer",
    },
    /// Another webhook of the company was switched off, because it did not answer for days.
    WebhookPaused = Declaration {
        name: "webhook.paused",
        audience: Audience::Name,
        schema: WebhookPausedEvent::schema,
        summary: "Un webhook fue desactivado",
        english: "another webhook of the company that was switched off",
        spanish: "se desactivó otro webhook de la empresa",
    },
    /// Another issuer sent a receipt, and it was acknowledged as received.
    InboxReceived = Declaration {
        name: "inbox.received",
        audience: Audience::Name,
        schema: InboxEvent::schema,
        summary: "Se recibió un comprobante",
        english: "a receipt of another issuer that was acknowledged to it; it may be planted",
        spanish: "llegó un e-CF de otro emisor, y se le dio acuse de recibo; puede ser falso",
    },
    /// The tax authority said what it holds of a receipt that another issuer sent.
    InboxConfirmed = Declaration {
        name: "inbox.confirmed",
        audience: Audience::Name,
        schema: InboxEvent::schema,
        summary: "La DGII dijo qué tiene de un comprobante recibido",
        english: "what the tax authority says of a received receipt: `authority_state`",
        spanish: "qué dice la DGII de un e-CF recibido: `authority_state`",
    },
    /// A row of a certification workbook got its verdict.
    CertificationRow = Declaration {
        name: "certification.row",
        audience: Audience::Name,
        schema: CertificationRowEvent::schema,
        summary: "Una fila del libro de certificación tiene su veredicto",
        english: "a row of a certification workbook that was accepted, rejected or not sent: `run_id`, `encf`, `row_state`",
        spanish: "una fila del libro de certificación fue aceptada o rechazada, o no se envió: `run_id`, `encf`, `row_state`",
    },
    /// A run of the certification ended, stopped, or awaits a person.
    CertificationFinished = Declaration {
        name: "certification.finished",
        audience: Audience::Name,
        schema: CertificationFinishedEvent::schema,
        summary: "Una corrida de certificación terminó o espera a una persona",
        english: "a certification run that finished, stopped, or awaits uploads in the portal: `run_id`, `run_status`",
        spanish: "una corrida de certificación terminó, se detuvo o espera cargas en el portal: `run_id`, `run_status`",
    },
    /// A buyer approved or rejected a receipt commercially.
    ApprovalReceived = Declaration {
        name: "approval.received",
        audience: Audience::Name,
        schema: ApprovalReceivedEvent::schema,
        summary: "Un comprador aprobó o rechazó un comprobante",
        english: "a buyer's approval or rejection of a receipt: `receipt_id`, `buyer_status`, `reason`, `signer_trusted`; one of a signer that is not trusted may be followed by another",
        spanish: "un comprador dio su aprobación comercial, o rechazó; con `signer_trusted: false` puede seguirle otra",
    },
}

payload! {
    /// A range passed a threshold; each is published once.
    SequenceEvent<'a> {
        environment: &'a str = text("The environment of the range"),
        ecf_type: &'a str = text("The type of its receipts"),
        range_start: u64 = number(),
        range_end: u64 = number(),
        remaining: u64 = count("How many numbers are left"),
        #[serde(skip_serializing_if = "Option::is_none")]
        valid_until: Option<String> = optional(text("Its last day, `YYYY-MM-DD`")),
        #[serde(skip_serializing_if = "Option::is_none")]
        days_left: Option<i64> = optional(number()),
    }
}

payload! {
    /// A receipt stopped without a verdict.
    ReceiptFailedEvent<'a> {
        environment: &'a str = text("The environment of the receipt"),
        receipt_id: String = text("The receipt's id"),
        external_id: Option<&'a str> = nullable_text("The caller's own id"),
        ecf_type: &'a str = text("Its type"),
        encf: Option<String> = nullable_text("Its number, if it was signed"),
        monto_total: &'a str = text("As the document writes it"),
        error_code: Option<&'a str> = nullable_text("The reason, as in the document"),
        error_message: Option<&'a str> = nullable_text("The reason in a sentence"),
    }
}

payload! {
    /// A signed receipt waits for the tax authority.
    DeliveryAlarmEvent<'a> {
        environment: &'a str = text("The environment of the receipt"),
        receipt_id: String = text("The receipt's id"),
        external_id: Option<&'a str> = nullable_text("The caller's own id"),
        ecf_type: &'a str = text("Its type"),
        encf: Option<String> = nullable_text("Its number"),
        status: String = text("Its state"),
        hours: u32 = count("How many hours it has been waiting"),
    }
}

payload! {
    /// Receipts are held while the authority is unreachable, or no longer.
    ContingencyEvent<'a> {
        environment: &'a str = text("The environment"),
        reason: &'static str = word(
            &["maintenance", "unreachable", "reported"],
            "An announced window, calls that fail, or what the authority's status service says",
        ),
        since: String = instant("Since when the authority is unreachable"),
        #[serde(skip_serializing_if = "Option::is_none")]
        ended_at: Option<String> = optional(instant("When its end was noticed; absent at the start")),
    }
}

payload! {
    /// The company's certificate expires soon; each threshold is reported once.
    CertificateExpiringEvent<'a> {
        environment: &'a str = text("The checked environment; the certificate is used in all of them"),
        serial_number: &'a str = text("Its serial number"),
        subject: &'a str = text("Its subject"),
        expires_at: String = instant("When it expires"),
        days_left: u64 = count("How many whole days are left"),
    }
}

payload! {
    /// Another webhook of the company was switched off.
    WebhookPausedEvent<'a> {
        environment: &'a str = text("Its environment"),
        webhook_id: String = text("Which"),
        reason: &'a str = text("Why"),
        failing_since: String = instant("Since when it had failed"),
    }
}

payload! {
    /// Another issuer sent a receipt, and it was acknowledged; then the tax authority answered whether it has it.
    InboxEvent<'a> {
        environment: &'a str = text("The environment that received it"),
        inbox_id: String = text("Its id in the inbox"),
        ecf_type: &'a str = text("Its type"),
        encf: String = text("Its number"),
        rnc_emisor: &'a str = text("Who sent it"),
        razon_social_emisor: Option<&'a str> = nullable_text("The sender's name"),
        rnc_comprador: &'a str = text("To whom"),
        monto_total: Option<&'a str> = nullable_text("As the document writes it"),
        fecha_emision: Option<&'a str> = nullable_text("As the document writes it"),
        signer_trusted: bool = flag("Whether the signer's certificate was issued by an authority that this deployment trusts"),
        authority_state: Option<&'static str> = nullable_word(
            &["pending", "accepted", "conditionally_accepted", "rejected", "not_found"],
            "The tax authority's state of the document; null in CerteCF, where it cannot be asked",
        ),
    }
}

payload! {
    /// A buyer approved or rejected a receipt.
    ApprovalReceivedEvent<'a> {
        environment: &'a str = text("The environment of the receipt"),
        receipt_id: String = text("The receipt's id"),
        ecf_type: &'a str = text("Its type"),
        encf: Option<String> = nullable_text("Its number"),
        rnc_comprador: Option<&'a str> = nullable_text("Who answered"),
        buyer_status: &'static str = word(&["approved", "rejected"], "The stage of the document is `buyer_` followed by this value"),
        reason: Option<&'a str> = nullable_text("Why it was rejected"),
        signer_trusted: bool = flag("False: the answer is provisional, and one of a trusted signer replaces it"),
    }
}

payload! {
    /// A row of a certification workbook ended.
    CertificationRowEvent<'a> {
        environment: &'a str = text("The environment of the run"),
        run_id: &'a str = text("The run"),
        document: &'a str = word(&["ecf", "rfce", "acecf"], "What was sent for the row: a receipt, a summary, an approval"),
        encf: Option<String> = nullable_text("The number in the row; null for a simulated receipt that was not signed"),
        row: u32 = count("The row in its sheet, as the spreadsheet counts; the place in a simulation"),
        row_state: &'a str = word(
            &["accepted", "rejected", "not_sent", "outcome_unknown"],
            "What became of it; a conditional acceptance is an acceptance",
        ),
    }
}

payload! {
    /// A run of the certification ended, stopped, or awaits a person.
    CertificationFinishedEvent<'a> {
        environment: &'a str = text("The environment of the run"),
        run_id: &'a str = text("The run"),
        run_status: &'a str = word(&["finished", "stopped", "awaits_uploads"], "Its state now"),
        accepted: usize = count("How many rows were accepted"),
        rows: usize = count("How many rows are sent in all"),
    }
}

/// An event that is not a verdict, with what it says. Only webhooks that subscribed to its name get it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News<'a> {
    /// A range has no more than `threshold` numbers left.
    SequenceLow {
        /// The type of its receipts.
        ecf_type: ReceiptType,
        /// Its first number.
        range_start: u64,
        /// Its last number.
        range_end: u64,
        /// How many are left.
        remaining: u64,
        /// The threshold that was passed; each is published once.
        threshold: u64,
    },
    /// A range expires in no more than `threshold_days`.
    SequenceExpiring {
        /// The type of its receipts.
        ecf_type: ReceiptType,
        /// Its first number.
        range_start: u64,
        /// Its last number.
        range_end: u64,
        /// How many are left.
        remaining: u64,
        /// Its last day.
        valid_until: Date,
        /// How many days there are until then.
        days_left: i64,
        /// The threshold that was passed; each is published once.
        threshold_days: i64,
    },
    /// A receipt stopped without a verdict.
    ReceiptFailed {
        /// The receipt.
        receipt: &'a Receipt,
    },
    /// A signed receipt waits for the authority.
    DeliveryAlarm {
        /// The receipt.
        receipt: &'a Receipt,
        /// The alarm hour that it has passed.
        hours: u32,
    },
    /// Receipts of the company are held.
    ContingencyStarted {
        /// The company's contingency.
        contingency: &'a Contingency,
    },
    /// The authority is back.
    ContingencyEnded {
        /// The contingency that is over.
        contingency: &'a Contingency,
    },
    /// The company's certificate expires soon.
    CertificateExpiring {
        /// The certificate.
        certificate: &'a CertificateSummary,
        /// How many whole days are left.
        days_left: u64,
        /// The threshold that was passed; each is reported once.
        threshold_days: u64,
    },
    /// A webhook was switched off, because it failed for too long.
    WebhookPaused {
        /// Which.
        webhook: WebhookId,
        /// Why.
        reason: &'a str,
        /// Since when it had failed.
        failing_since: Timestamp,
    },
    /// Another issuer sent a receipt.
    InboxReceived {
        /// The receipt, as it is in the inbox.
        item: &'a InboxItem,
    },
    /// The tax authority said what it holds of a received receipt.
    InboxConfirmed {
        /// The receipt, as it is in the inbox.
        item: &'a InboxItem,
        /// What the authority said.
        state: AuthorityState,
    },
    /// A row of a certification workbook ended.
    CertificationRow {
        /// The run.
        run: &'a str,
        /// The idempotency key of the row's current try.
        key: &'a str,
        /// What was sent for it.
        document: &'a str,
        /// The number in the row; a simulated receipt that was not signed has none.
        encf: Option<ecf::Encf>,
        /// The row in its sheet.
        row: u32,
        /// What became of it.
        state: &'a str,
    },
    /// A run of the certification ended, stopped, or awaits a person.
    CertificationFinished {
        /// The run.
        run: &'a str,
        /// The step of the run that led there.
        step: u32,
        /// Its state.
        status: &'a str,
        /// How many rows were accepted.
        accepted: usize,
        /// How many rows are sent.
        rows: usize,
    },
    /// A buyer answered a receipt.
    ApprovalReceived {
        /// The receipt.
        receipt: &'a Receipt,
        /// What the buyer says of it.
        answer: &'a BuyerAnswer,
    },
}

impl News<'_> {
    /// The announcement with its bytes.
    #[must_use]
    pub fn announcement(&self, scope: &Scope, company_rnc: &str, now: Timestamp) -> Announcement {
        let head = Head {
            scope,
            company_rnc,
            now,
        };
        let environment = scope.environment.as_str();
        match *self {
            Self::SequenceLow {
                ecf_type,
                range_start,
                range_end,
                remaining,
                threshold,
            } => head.announcement(
                EventName::SequenceLow,
                &format!("{}/{range_start}/{range_end}/{threshold}", ecf_type.as_str()),
                SequenceEvent {
                    environment,
                    ecf_type: ecf_type.as_str(),
                    range_start,
                    range_end,
                    remaining,
                    valid_until: None,
                    days_left: None,
                },
            ),
            Self::SequenceExpiring {
                ecf_type,
                range_start,
                range_end,
                remaining,
                valid_until,
                days_left,
                threshold_days,
            } => head.announcement(
                EventName::SequenceExpiring,
                &format!("{}/{range_start}/{valid_until}/{threshold_days}", ecf_type.as_str()),
                SequenceEvent {
                    environment,
                    ecf_type: ecf_type.as_str(),
                    range_start,
                    range_end,
                    remaining,
                    valid_until: Some(valid_until.to_string()),
                    days_left: Some(days_left),
                },
            ),
            Self::ReceiptFailed { receipt } => head.announcement(
                EventName::Failed,
                // It may fail again after a retry.
                &format!("{}/{}", receipt.public_id, receipt.updated_at.as_millisecond()),
                ReceiptFailedEvent {
                    environment,
                    receipt_id: receipt.public_id.to_string(),
                    external_id: receipt.external_id.as_deref(),
                    ecf_type: receipt.fiscal.ecf_type.as_str(),
                    encf: receipt.encf().map(ToString::to_string),
                    monto_total: &receipt.fiscal.monto_total,
                    error_code: receipt.error_code.as_deref(),
                    error_message: receipt.error_message.as_deref(),
                },
            ),
            Self::DeliveryAlarm { receipt, hours } => head.announcement(
                EventName::DeliveryAlarm,
                &format!("{}/{hours}", receipt.public_id),
                DeliveryAlarmEvent {
                    environment,
                    receipt_id: receipt.public_id.to_string(),
                    external_id: receipt.external_id.as_deref(),
                    ecf_type: receipt.fiscal.ecf_type.as_str(),
                    encf: receipt.encf().map(ToString::to_string),
                    status: receipt.state.to_string(),
                    hours,
                },
            ),
            Self::ContingencyStarted { contingency } => head.announcement(
                EventName::ContingencyStarted,
                &contingency.begun_at.as_millisecond().to_string(),
                ContingencyEvent {
                    environment,
                    reason: contingency.outage.reason.as_str(),
                    since: without_offset(contingency.outage.since),
                    ended_at: None,
                },
            ),
            Self::ContingencyEnded { contingency } => head.announcement(
                EventName::ContingencyEnded,
                &contingency.begun_at.as_millisecond().to_string(),
                ContingencyEvent {
                    environment,
                    reason: contingency.outage.reason.as_str(),
                    since: without_offset(contingency.outage.since),
                    ended_at: Some(without_offset(now)),
                },
            ),
            Self::CertificateExpiring {
                certificate,
                days_left,
                threshold_days,
            } => head.announcement(
                EventName::CertificateExpiring,
                &format!("{}/{threshold_days}", hex::encode(certificate.sha256)),
                CertificateExpiringEvent {
                    environment,
                    serial_number: &certificate.serial,
                    subject: &certificate.subject,
                    expires_at: without_offset(certificate.not_after),
                    days_left,
                },
            ),
            Self::WebhookPaused {
                webhook,
                reason,
                failing_since,
            } => head.announcement(
                EventName::WebhookPaused,
                &format!("{webhook}/{}", failing_since.as_millisecond()),
                WebhookPausedEvent {
                    environment,
                    webhook_id: webhook.to_string(),
                    reason,
                    failing_since: without_offset(failing_since),
                },
            ),
            Self::InboxReceived { item } => head.announcement(
                EventName::InboxReceived,
                &item.id.to_string(),
                InboxEvent::of(environment, item, item.authority),
            ),
            Self::InboxConfirmed { item, state } => head.announcement(
                EventName::InboxConfirmed,
                &item.id.to_string(),
                InboxEvent::of(environment, item, Some(state)),
            ),
            Self::CertificationRow {
                run,
                key,
                document,
                encf,
                row,
                state,
            } => head.announcement(
                EventName::CertificationRow,
                &format!("{key}/{state}"),
                CertificationRowEvent {
                    environment,
                    run_id: run,
                    document,
                    encf: encf.map(|encf| encf.to_string()),
                    row,
                    row_state: state,
                },
            ),
            Self::CertificationFinished {
                run,
                step,
                status,
                accepted,
                rows,
            } => head.announcement(
                EventName::CertificationFinished,
                &format!("{run}/{step}"),
                CertificationFinishedEvent {
                    environment,
                    run_id: run,
                    run_status: status,
                    accepted,
                    rows,
                },
            ),
            Self::ApprovalReceived { receipt, answer } => head.announcement(
                EventName::ApprovalReceived,
                // The answer of a trusted signer may replace a provisional one.
                &if answer.signer_trusted {
                    format!("{}/trusted", receipt.public_id)
                } else {
                    receipt.public_id.to_string()
                },
                ApprovalReceivedEvent {
                    environment,
                    receipt_id: receipt.public_id.to_string(),
                    ecf_type: receipt.fiscal.ecf_type.as_str(),
                    encf: receipt.encf().map(ToString::to_string),
                    rnc_comprador: receipt.fiscal.rnc_comprador.as_deref(),
                    buyer_status: match answer.estado {
                        EstadoAprobacion::Aceptado => "approved",
                        EstadoAprobacion::Rechazado => "rejected",
                    },
                    reason: answer.reason.as_deref(),
                    signer_trusted: answer.signer_trusted,
                },
            ),
        }
    }
}

impl<'a> InboxEvent<'a> {
    fn of(environment: &'a str, item: &'a InboxItem, authority: Option<AuthorityState>) -> Self {
        Self {
            environment,
            inbox_id: item.id.to_string(),
            ecf_type: item.ecf_type.as_str(),
            encf: item.encf.to_string(),
            rnc_emisor: item.rnc_emisor.as_str(),
            razon_social_emisor: item.razon_social_emisor.as_deref(),
            rnc_comprador: item.rnc_comprador.as_str(),
            monto_total: item.monto_total.as_deref(),
            fecha_emision: item.fecha_emision.as_deref(),
            signer_trusted: item.signer_trusted,
            authority_state: authority.map(AuthorityState::as_str),
        }
    }
}

#[cfg(test)]
mod tests {
    use ecf_store::CompanyId;

    use super::*;
    use crate::subscription::Subscription;

    fn scope() -> Scope {
        Scope {
            company: CompanyId::from_random([1; 20]),
            environment: ecf::Environment::TesteCF,
        }
    }

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn low(threshold: u64, remaining: u64) -> News<'static> {
        News::SequenceLow {
            ecf_type: "31".parse().unwrap(),
            range_start: 1,
            range_end: 500,
            remaining,
            threshold,
        }
    }

    #[test]
    fn every_known_name_can_be_subscribed_to() {
        let names: Vec<_> = Subscription::known().collect();
        assert_eq!(
            names,
            [
                "accepted",
                "conditionally_accepted",
                "rejected",
                "webhook.test",
                "sequence.low",
                "sequence.expiring",
                "failed",
                "delivery.alarm",
                "contingency.started",
                "contingency.ended",
                "certificate.expiring",
                "webhook.paused",
                "inbox.received",
                "inbox.confirmed",
                "certification.row",
                "certification.finished",
                "approval.received",
                "signed",
                "submitted",
                "*",
                "ecf.*",
                "taxauth.*",
                "dgii.*"
            ]
        );
        assert_eq!(Subscription::parse(&names).unwrap().names(), names);
    }

    #[test]
    fn the_bodies_are_flat_and_say_what_is_needed_to_act() {
        let expiring = News::SequenceExpiring {
            ecf_type: "32".parse().unwrap(),
            range_start: 1,
            range_end: 500,
            remaining: 90,
            valid_until: jiff::civil::date(2026, 12, 31),
            days_left: 30,
            threshold_days: 30,
        };
        let paused = News::WebhookPaused {
            webhook: WebhookId::from_random([2; 20]),
            reason: "no 2xx answer for 72 hours",
            failing_since: at("2026-11-24T12:00:00Z"),
        };
        let bodies = [low(100, 99), expiring, paused].map(|news| {
            let announcement = news.announcement(&scope(), "101672919", at("2026-11-27T12:00:00.5Z"));
            String::from_utf8(announcement.body).unwrap()
        });
        insta::assert_snapshot!(bodies.join("\n"), @r#"
        {"event":"sequence.low","public_id":"khb81qfc95zb86zf454fnjpzdzdv2gtp","company_rnc":"101672919","environment":"TesteCF","ecf_type":"31","range_start":1,"range_end":500,"remaining":99,"timestamp":"2026-11-27T12:00:00"}
        {"event":"sequence.expiring","public_id":"0bfz2gg159k9kxnr5wgpj3jq50x5yet0","company_rnc":"101672919","environment":"TesteCF","ecf_type":"32","range_start":1,"range_end":500,"remaining":90,"valid_until":"2026-12-31","days_left":30,"timestamp":"2026-11-27T12:00:00"}
        {"event":"webhook.paused","public_id":"ytnk176gqrqp80ddvemthza883tcj1v9","company_rnc":"101672919","environment":"TesteCF","webhook_id":"081040g2081040g2081040g2081040g2","reason":"no 2xx answer for 72 hours","failing_since":"2026-11-24T12:00:00","timestamp":"2026-11-27T12:00:00"}
        "#);
    }

    #[test]
    fn each_threshold_of_a_range_is_news_once() {
        let id = |news: News<'_>, now| news.announcement(&scope(), "101672919", at(now)).id;
        let first = id(low(100, 99), "2026-11-27T12:00:00Z");
        assert_eq!(first, id(low(100, 98), "2026-11-27T12:01:00Z"));
        assert_ne!(first, id(low(50, 50), "2026-11-27T12:01:00Z"));
    }
}
