//! `POST /fe/recepcion/api/ecf`: receives a receipt of another issuer and answers with a signed ARECF.
//!
//! A receipt is in the bucket and in the table before it is acknowledged as received. A crash between the two writes
//! leaves an object without a record, and the sender retries. A document that is not received is answered and logged,
//! but not stored.

use axum::response::Response;
use ecf::catalogue::CodigoMotivoNoRecibido;
use ecf::messages::Arecf;
use ecf::{Environment, FechaHora};
use ecf_api::ApiError;
use ecf_language::say;
use ecf_store::{
    ArtifactKind, ContentHash, ForeignText, InboxId,
    inbox::{AuthorityState, InboxItem, InboxItemCreated},
};
use ecf_webhooks::News;
use jiff::Timestamp;
use xmldsig::Identity;

use crate::authenticate::xml;
use crate::judge::{Arrived, Good, judge};
use crate::{App, Call, Recipient, upload};

pub(crate) async fn receive(app: &App, call: &Call, body: &[u8]) -> Result<Response, ApiError> {
    let now = app.clock.now();
    let published = app.published(call, now).await?;
    let document = upload::document(&call.headers, body).ok_or_else(|| {
        ApiError::bad_request(
            "no_document",
            say!("the request carries no XML", "la petición no trae XML"),
        )
    })?;
    let arrived = judge(&app.judge, upload::without_mark(document), now).await?;
    let recipient = match published {
        Some(recipient) => recipient,
        None => {
            let buyer = app.named(call, arrived.rnc_comprador.as_ref(), now).await?;
            let nobody = || {
                ApiError::bad_request(
                    "unknown_buyer",
                    say!("RNCComprador does not receive here", "RNCComprador no recibe aquí"),
                )
            };
            buyer.ok_or_else(nobody)?
        }
    };
    if !app.has_inbox(&recipient.scope).await? {
        return Err(ApiError::not_found());
    }
    let signer = app.signer(&recipient, now).await?;
    let answer = Answer {
        recipient: &recipient,
        arrived: &arrived,
        signer: &signer,
        now,
    };
    let good = match &arrived.verdict {
        Ok(good) => good,
        Err(reason) => {
            app.limit(call.visitor, "recepcion", now).await?;
            return answer.not_received(*reason);
        }
    };
    let scope = &recipient.scope;
    if app
        .table
        .was_received(
            scope,
            &arrived.rnc_emisor,
            &arrived.encf,
            &good.signature,
            &ContentHash::of(document),
        )
        .await?
    {
        return answer.not_received(CodigoMotivoNoRecibido::EnvioDuplicado);
    }
    if arrived.rnc_comprador.as_ref() != Some(&recipient.company.rnc) {
        return answer.not_received(CodigoMotivoNoRecibido::RncCompradorNoCorresponde);
    }
    if !good.signer_trusted {
        app.limit(call.visitor, "recepcion", now).await?;
    }
    let arecf = answer.received()?;
    match store(app, &answer, good, document, &arecf).await? {
        InboxItemCreated::New => Ok(xml(arecf)),
        InboxItemCreated::Duplicate => answer.not_received(CodigoMotivoNoRecibido::EnvioDuplicado),
    }
}

/// Stores a receipt with its acknowledgement and its announcement.
async fn store(
    app: &App,
    answer: &Answer<'_>,
    good: &Good,
    document: &[u8],
    arecf: &[u8],
) -> Result<InboxItemCreated, ApiError> {
    let (scope, now) = (&answer.recipient.scope, answer.now);
    let Arrived { rnc_emisor, encf, .. } = answer.arrived;
    let header = &good.received.document.encabezado;
    let item = InboxItem {
        id: InboxId::new(now, scope, rnc_emisor, encf, &good.signature),
        rnc_emisor: rnc_emisor.clone(),
        razon_social_emisor: header.emisor.razon_social_emisor.as_ref().map(foreign),
        rnc_comprador: answer.recipient.company.rnc.clone(),
        encf: *encf,
        ecf_type: good.received.receipt_type,
        monto_total: header.totales.monto_total.as_ref().map(foreign),
        total_itbis: header.totales.total_itbis.as_ref().map(foreign),
        fecha_emision: header.emisor.fecha_emision.as_ref().map(foreign),
        signer: good.signer.subject.as_str().into(),
        signer_trusted: good.signer_trusted,
        speaks_for: Some(good.signer.speaks_for),
        caller: answer.recipient.caller.as_deref().map(Into::into),
        security_code: good.security_code.clone(),
        // The authority cannot be asked during certification.
        authority: (scope.environment != Environment::CerteCF).then_some(AuthorityState::Pending),
        authority_at: None,
        superseded_by: None,
        asked: 0,
        xml: ContentHash::of(document),
        arecf: ContentHash::of(arecf),
        received_at: now,
        acked_at: None,
        revision: 0,
    };
    let put = |kind, bytes: &[u8]| app.artifacts.put_received(scope, now, &item.id, kind, bytes.to_vec());
    tokio::try_join!(
        put(ArtifactKind::ReceivedXml, document),
        put(ArtifactKind::Arecf, arecf)
    )?;
    let news = News::InboxReceived { item: &item }.announcement(scope, item.rnc_comprador.as_str(), now);
    let kept = app.table.store_received(scope, &item, &good.signature, &news).await?;
    if kept == InboxItemCreated::New {
        tracing::info!(inbox.id = %item.id, %encf, issuer.rnc = %rnc_emisor, "a receipt was received");
        app.enqueue_announcement(scope, &news.id).await;
        if item.authority.is_some() {
            app.ask_authority(scope, &item.id).await;
        }
    }
    Ok(kept)
}

fn foreign(text: &impl std::fmt::Display) -> ForeignText {
    text.to_string().into()
}

/// The parts of an acknowledgement.
struct Answer<'a> {
    recipient: &'a Recipient,
    arrived: &'a Arrived,
    signer: &'a Identity,
    now: Timestamp,
}

impl Answer<'_> {
    fn received(&self) -> Result<Vec<u8>, ApiError> {
        let (issuer, buyer) = self.parties();
        self.sign(&Arecf::received(
            issuer,
            buyer,
            self.arrived.encf,
            FechaHora::at(self.now),
        ))
    }

    fn not_received(&self, reason: CodigoMotivoNoRecibido) -> Result<Response, ApiError> {
        tracing::info!(
            encf = %self.arrived.encf,
            issuer.rnc = %self.arrived.rnc_emisor,
            company.rnc = %self.recipient.company.rnc,
            reason = ?reason,
            "a document was answered with a negative ARECF"
        );
        let (issuer, buyer) = self.parties();
        let at = FechaHora::at(self.now);
        self.sign(&Arecf::not_received(issuer, buyer, self.arrived.encf, reason, at))
            .map(xml)
    }

    fn parties(&self) -> (ecf::Rnc, ecf::Rnc) {
        (self.arrived.rnc_emisor.clone(), self.recipient.company.rnc.clone())
    }

    fn sign(&self, arecf: &Arecf) -> Result<Vec<u8>, ApiError> {
        let signed = xmldsig::sign(&arecf.to_xml(), self.signer).map_err(ApiError::internal)?;
        Ok(signed.xml)
    }
}
