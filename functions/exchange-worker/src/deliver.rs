//! Delivers an accepted receipt to its buyer: at the address in the directory, with a token if the buyer requires one,
//! until it is acknowledged.

use std::time::Duration;

use ecf::catalogue::{CodigoModificacion, CodigoMotivoNoRecibido};
use ecf::{Document, Rnc};
use ecf_exchange::acknowledgement::{self, Acknowledged, Expected};
use ecf_exchange::{Addressee, Exchange, PeerDocument, PeerService, no_certificate};
use ecf_language::{Bilingual, Say, say};
use ecf_store::{
    ArtifactKind, ContentHash, ExchangeJob, Receipt, ReceiptId, ReceiptJob, Scope, StoreError,
    receipts::{BuyerDelivery, DeliveryState, OutboxEntry, Signed},
    waits,
};
use ecf_taxauth::{DirectoryError, TaxAuthError, Wanted};
use jiff::Timestamp;

/// Upper bound of the delay while other outbox entries of the receipt share its entry on the due index.
const WITH_OTHERS: Duration = Duration::from_secs(600);

/// The result of an attempt.
enum Attempt {
    /// The delivery ends.
    Ended(End),
    /// The delivery is retried.
    Failed(Bilingual),
}

/// How a delivery ends.
struct End {
    state: DeliveryState,
    words: Option<Bilingual>,
    /// The buyer's acknowledgement, verified or not.
    arecf: Option<Vec<u8>>,
}

impl End {
    fn unsent(state: DeliveryState, why: Bilingual) -> Self {
        Self {
            state,
            words: Some(why),
            arecf: None,
        }
    }
}

pub(crate) async fn deliver(
    exchange: &Exchange,
    scope: &Scope,
    id: &ReceiptId,
    attempt: u32,
) -> Result<(), StoreError> {
    let Some(receipt) = exchange.table.receipt(scope, id).await? else {
        tracing::warn!(receipt.id = %id, "a receipt to be delivered does not exist");
        return Ok(());
    };
    if !receipt.outbox.contains(&OutboxEntry::Exchange) || receipt.delivery_attempts() != attempt {
        return Ok(());
    }
    // The final state was recorded, but the due index entry was not removed.
    if let Some(end) = receipt
        .buyer
        .delivery
        .as_ref()
        .filter(|end| end.state != DeliveryState::Pending)
    {
        return exchange.table.end_delivery(scope, id, end).await;
    }
    let now = exchange.clock.now();
    if !exchange
        .table
        .claim_delivery(&receipt, now, now + waits::EXCHANGE_LEASE)
        .await?
    {
        return Ok(());
    }
    let attempts = attempt.saturating_add(1);
    match make(exchange, scope, &receipt, attempts, now).await? {
        Attempt::Ended(how) => end(exchange, scope, &receipt, attempts, how).await,
        Attempt::Failed(words) => again(exchange, scope, &receipt, attempts, words).await,
    }
}

async fn make(
    exchange: &Exchange,
    scope: &Scope,
    receipt: &Receipt,
    attempts: u32,
    now: Timestamp,
) -> Result<Attempt, StoreError> {
    let buyer: Option<Rnc> = receipt.fiscal.rnc_comprador.as_deref().and_then(|rnc| rnc.parse().ok());
    let (Some(signed), Some(buyer)) = (&receipt.fiscal.signed, buyer) else {
        let why = say!(
            "the buyer has no RNC to look up",
            "el comprador no tiene un RNC que consultar"
        );
        return Ok(Attempt::Ended(End::unsent(DeliveryState::NotListed, why)));
    };
    let Some(identity) = exchange.identity(&scope.company, now).await? else {
        return Ok(Attempt::Failed(no_certificate()));
    };
    let session = exchange
        .tokens
        .session(scope.environment, &identity)
        .of_company(&scope.company);
    // After a failed attempt, the directory is asked again: the address may have changed.
    let wanted = if attempts > 1 { Wanted::Fresh } else { Wanted::Cached };
    let known = match exchange.directory.look_up(&session, &buyer, wanted, now).await {
        Ok(known) => known,
        Err(DirectoryError::Store(error)) => return Err(error),
        Err(DirectoryError::Authority(error @ TaxAuthError::NotOffered { .. })) => {
            return Ok(Attempt::Ended(End::unsent(DeliveryState::NotListed, error.say())));
        }
        Err(error) => return Ok(Attempt::Failed(error.say())),
    };
    let entry = known.listing.entry.unwrap_or_default();
    let Some(base) = entry.url_recepcion else {
        let why = say!(
            "the buyer is not in the directory",
            "el comprador no está en el directorio"
        );
        return Ok(Attempt::Ended(End::unsent(DeliveryState::NotListed, why)));
    };
    let xml = signed_xml(exchange, scope, receipt, signed).await?;
    if replaces_paper(&xml) {
        let why = say!(
            "it replaces a paper receipt: the authority alone gets it",
            "reemplaza un comprobante en papel: solo lo recibe la DGII"
        );
        return Ok(Attempt::Ended(End::unsent(DeliveryState::NotSent, why)));
    }
    let to = Addressee {
        environment: scope.environment,
        base,
        authentication: entry.url_opcional,
        is_listed: true,
    };
    let document = PeerDocument {
        file_name: &format!("{}{}.xml", receipt.fiscal.company_rnc, signed.encf),
        xml: &xml,
    };
    let sent = exchange
        .peers
        .send(PeerService::Recepcion, &to, &identity, document, now)
        .await;
    let expected = Expected {
        rnc_emisor: &receipt.fiscal.company_rnc,
        rnc_comprador: &buyer,
        encf: &signed.encf,
    };
    Ok(match sent {
        Ok(reply) if reply.is_success() => acknowledged(exchange, expected, attempts, reply.bytes, now).await,
        Ok(reply) => Attempt::Failed(say!(
            "the buyer's receiver answered with status {}",
            "el receptor del comprador respondió con el código HTTP {}",
            reply.status
        )),
        Err(error) => Attempt::Failed(error.say()),
    })
}

async fn acknowledged(
    exchange: &Exchange,
    expected: Expected<'_>,
    attempts: u32,
    arecf: Vec<u8>,
    now: Timestamp,
) -> Attempt {
    let read = match acknowledgement::read(&exchange.judge, &arecf, expected, now).await {
        Ok(read) => read,
        // The buyer has the receipt, so the next attempt is answered as a duplicate.
        Err(error) => {
            let error = ecf_runtime::telemetry::chain(&error);
            tracing::warn!(%error, "an acknowledgement was not checked");
            return Attempt::Failed(say!(
                "its acknowledgement could not be checked",
                "no se pudo comprobar su acuse de recibo"
            ));
        }
    };
    let (state, words) = match read {
        Ok(Acknowledged::Received) => (DeliveryState::Received, None),
        // An earlier attempt arrived, but its answer was lost.
        Ok(Acknowledged::NotReceived(Some(CodigoMotivoNoRecibido::EnvioDuplicado))) if attempts > 1 => {
            let why = say!("an earlier attempt had arrived", "había llegado un intento anterior");
            (DeliveryState::Received, Some(why))
        }
        Ok(Acknowledged::NotReceived(reason)) => {
            let reason = reason.map(|reason| Bilingual::same(format!("{} {}", reason.code(), reason.words())));
            (DeliveryState::NotReceived, reason)
        }
        Err(why) => (DeliveryState::Unverified, Some(why)),
    };
    Attempt::Ended(End {
        state,
        words,
        arecf: Some(arecf),
    })
}

async fn signed_xml(
    exchange: &Exchange,
    scope: &Scope,
    receipt: &Receipt,
    signed: &Signed,
) -> Result<Vec<u8>, StoreError> {
    let (id, kind) = (&receipt.public_id, ArtifactKind::SignedXml);
    let kept = exchange
        .artifacts
        .get(scope, receipt.created_at, id, kind, &signed.signed_xml);
    let xml = kept.await?;
    let xml = xml.ok_or_else(|| StoreError::unexpected("deliver", "the signed receipt is not in the bucket"))?;
    Ok(xml.to_vec())
}

/// Whether the receipt replaces one that was issued on paper in contingency (Informe Técnico, contingency).
fn replaces_paper(xml: &[u8]) -> bool {
    let Ok(received) = Document::from_xml(xml) else {
        return false;
    };
    let reference = received.document.informacion_referencia;
    reference.codigo_modificacion == Some(CodigoModificacion::ReemplazaContingencia)
}

async fn end(
    exchange: &Exchange,
    scope: &Scope,
    receipt: &Receipt,
    attempts: u32,
    End { state, words, arecf }: End,
) -> Result<(), StoreError> {
    let id = &receipt.public_id;
    if let Some(arecf) = &arecf {
        let put = exchange
            .artifacts
            .put(scope, receipt.created_at, id, ArtifactKind::Arecf, arecf.clone());
        put.await?;
    }
    let end = BuyerDelivery {
        state,
        words: words.map(Into::into),
        arecf: arecf.as_deref().map(ContentHash::of),
        at: exchange.clock.now(),
        attempts,
    };
    exchange.table.end_delivery(scope, id, &end).await?;
    tracing::info!(receipt.id = %id, state = state.as_str(), words = end.words.as_ref().map(|words| &*words.en), "the delivery of a receipt to its buyer ended");
    Ok(())
}

async fn again(
    exchange: &Exchange,
    scope: &Scope,
    receipt: &Receipt,
    attempts: u32,
    words: Bilingual,
) -> Result<(), StoreError> {
    tracing::info!(receipt.id = %receipt.public_id, attempts, words = &*words.en, "a receipt was not delivered to its buyer");
    let Some(wait) = waits::EXCHANGE.after(attempts.saturating_sub(1)) else {
        tracing::error!(receipt.id = %receipt.public_id, words = &*words.en, "a receipt could not be delivered to its buyer for days");
        let how = End::unsent(DeliveryState::GivenUp, words);
        return end(exchange, scope, receipt, attempts, how).await;
    };
    let now = exchange.clock.now();
    let is_alone = receipt.outbox == [OutboxEntry::Exchange];
    let wait = if is_alone { wait } else { wait.min(WITH_OTHERS) };
    let next = waits::due_at(now, now + wait);
    let id = &receipt.public_id;
    if exchange
        .table
        .postpone_delivery(scope, id, attempts, &words.into(), next)
        .await?
    {
        let job = ExchangeJob::Deliver(ReceiptJob {
            scope: *scope,
            receipt: *id,
            attempt: attempts,
        });
        exchange.queue_next(&job, wait).await;
    }
    Ok(())
}
