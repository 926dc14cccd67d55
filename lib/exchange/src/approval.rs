//! Delivery of an approval to the issuer and to the tax authority, independently of each other.

use std::time::Duration;

use ecf_language::{Bilingual, Say, say};
use ecf_store::{
    ArtifactKind, ExchangeJob, Scope, StoreError, Words,
    approvals::{Approval, Transmission, TransmissionState},
    waits,
};
use ecf_taxauth::{DirectoryError, Ruling, TaxAuthError, Upload, Wanted};
use jiff::Timestamp;
use xmldsig::Identity;

use crate::peer::{Addressee, PeerDocument, PeerService, excerpt};
use crate::{Exchange, no_answer, no_certificate};

impl Exchange {
    /// Makes one attempt to deliver an approval to each recipient that is still pending, and schedules the next. Each
    /// call is limited to `time_limit`. Returns the approval in its new state.
    ///
    /// # Errors
    /// When the store fails; the due index finds the approval again.
    pub async fn send(&self, scope: &Scope, approval: Approval, time_limit: Duration) -> Result<Approval, StoreError> {
        let now = self.clock.now();
        if !approval.issuer.is_pending() && !approval.authority.is_pending() {
            self.table.record_approval(scope, &approval, None).await?;
            return Ok(approval);
        }
        if !self
            .table
            .claim_approval(scope, &approval, now, now + waits::EXCHANGE_LEASE)
            .await?
        {
            let id = approval.id;
            return Ok(self.table.approval(scope, &id).await?.unwrap_or(approval));
        }
        let mut approval = approval;
        approval.attempts = approval.attempts.saturating_add(1);
        let kept = self.artifacts.message(
            scope,
            approval.created_at,
            &approval.id,
            ArtifactKind::Acecf,
            &approval.acecf,
        );
        let xml = kept.await?;
        let xml = xml.ok_or_else(|| StoreError::unexpected("tell approval", "its message is not in the bucket"))?;
        match self.identity(&scope.company, now).await? {
            Some(identity) => {
                let (issuer, (authority, answer)) = tokio::join!(
                    self.send_to_issuer(scope, &approval, &identity, &xml, time_limit),
                    self.send_to_authority(scope, &approval, &identity, &xml, time_limit),
                );
                approval.issuer = issuer;
                approval.authority = authority;
                approval.authority_answer = answer.or(approval.authority_answer);
            }
            None => {
                for transmission in [&mut approval.issuer, &mut approval.authority] {
                    if transmission.is_pending() {
                        *transmission = pending(no_certificate(), now);
                    }
                }
            }
        }
        self.plan(scope, &mut approval).await?;
        Ok(approval)
    }

    /// Records the result of an attempt and the time of the next one.
    async fn plan(&self, scope: &Scope, approval: &mut Approval) -> Result<(), StoreError> {
        let now = self.clock.now();
        let is_open = approval.issuer.is_pending() || approval.authority.is_pending();
        let wait = waits::EXCHANGE
            .after(approval.attempts.saturating_sub(1))
            .filter(|_| is_open);
        if wait.is_none() {
            for transmission in [&mut approval.issuer, &mut approval.authority] {
                if transmission.is_pending() {
                    transmission.state = TransmissionState::GivenUp;
                    tracing::error!(approval.id = %approval.id, encf = %approval.encf, words = transmission.words.as_ref().map(|words| &*words.en), "an approval was given up: a recipient was unreachable for days");
                }
            }
        }
        let next = wait.map(|wait| waits::due_at(now, now + wait));
        approval.next_action_at = next;
        if self.table.record_approval(scope, approval, next).await?
            && let Some(wait) = wait
        {
            let job = ExchangeJob::Approval {
                scope: *scope,
                approval: approval.id,
                attempt: approval.attempts,
            };
            self.queue_next(&job, wait).await;
        }
        Ok(())
    }

    async fn send_to_authority(
        &self,
        scope: &Scope,
        approval: &Approval,
        identity: &Identity,
        xml: &[u8],
        time_limit: Duration,
    ) -> (Transmission, Option<String>) {
        if !approval.authority.is_pending() {
            return (approval.authority.clone(), None);
        }
        let upload = Upload::approval(&approval.rnc_comprador, &approval.encf, xml.to_vec());
        let session = self
            .tokens
            .session(scope.environment, identity)
            .of_company(&scope.company);
        let ruling = tokio::time::timeout(time_limit, session.send_approval(&upload)).await;
        let now = self.clock.now();
        match ruling {
            Ok(Ok(ruling)) => {
                let answer = ruling.answer();
                let transmission = Transmission {
                    state: match ruling {
                        Ruling::Taken(_) => TransmissionState::Taken,
                        Ruling::Refused(_) => TransmissionState::Refused,
                    },
                    words: (answer.words().or_else(|| answer.estado.clone()))
                        .map(|words| Bilingual::same(words).into()),
                    at: Some(now),
                };
                (transmission, Some(answer.to_json()))
            }
            Ok(Err(error @ TaxAuthError::NotOffered { .. })) => (not_needed(error.say(), now), None),
            Ok(Err(error)) => {
                let chain = ecf_runtime::telemetry::chain(&error).to_string();
                tracing::warn!(approval.id = %approval.id, error = chain, "an approval was not delivered to the tax authority");
                (pending(error.say(), now), None)
            }
            Err(_) => (pending(no_answer(), now), None),
        }
    }

    async fn send_to_issuer(
        &self,
        scope: &Scope,
        approval: &Approval,
        identity: &Identity,
        xml: &[u8],
        time_limit: Duration,
    ) -> Transmission {
        if !approval.issuer.is_pending() {
            return approval.issuer.clone();
        }
        let sending = self.try_to_send_to_issuer(scope, approval, identity, xml);
        match tokio::time::timeout(time_limit, sending).await {
            Ok(transmission) => transmission,
            Err(_) => pending(no_answer(), self.clock.now()),
        }
    }

    async fn try_to_send_to_issuer(
        &self,
        scope: &Scope,
        approval: &Approval,
        identity: &Identity,
        xml: &[u8],
    ) -> Transmission {
        let now = self.clock.now();
        let to = match &approval.receiver_url {
            Some(url) => Addressee {
                environment: scope.environment,
                base: url.clone(),
                authentication: None,
                is_listed: false,
            },
            None => match self.issuers_address(scope, approval, identity, now).await {
                Ok(to) => to,
                Err(transmission) => return transmission,
            },
        };
        let document = PeerDocument {
            file_name: &format!("{}{}.xml", approval.rnc_comprador, approval.encf),
            xml,
        };
        let service = PeerService::AprobacionComercial;
        match self.peers.send(service, &to, identity, document, now).await {
            Ok(reply) if reply.is_success() => Transmission {
                state: TransmissionState::Taken,
                words: None,
                at: Some(now),
            },
            // The standard defines two answers, 200 and 400.
            Ok(reply) if matches!(reply.status, 400 | 422) => Transmission {
                state: TransmissionState::Refused,
                words: Some(excerpt(&reply).into()),
                at: Some(now),
            },
            Ok(reply) => pending(excerpt(&reply), now),
            Err(error) => pending(error.say(), now),
        }
    }

    async fn issuers_address(
        &self,
        scope: &Scope,
        approval: &Approval,
        identity: &Identity,
        now: Timestamp,
    ) -> Result<Addressee, Transmission> {
        let session = self
            .tokens
            .session(scope.environment, identity)
            .of_company(&scope.company);
        // After a failed attempt the address may have changed.
        let wanted = if approval.attempts > 1 {
            Wanted::Fresh
        } else {
            Wanted::Cached
        };
        let known = self
            .directory
            .look_up(&session, &approval.rnc_emisor, wanted, now)
            .await;
        match known {
            Ok(known) => {
                let entry = known.listing.entry.unwrap_or_default();
                let base = entry.url_aceptacion.or(entry.url_recepcion);
                let authentication = entry.url_opcional;
                let no_address = say!(
                    "the issuer has no address in the directory",
                    "el emisor no tiene dirección en el directorio"
                );
                base.map(|base| Addressee {
                    environment: scope.environment,
                    base,
                    authentication,
                    is_listed: true,
                })
                .ok_or_else(|| Transmission {
                    state: TransmissionState::NotListed,
                    words: Some(no_address.into()),
                    at: Some(now),
                })
            }
            Err(DirectoryError::Authority(error @ TaxAuthError::NotOffered { .. })) => Err(Transmission {
                state: TransmissionState::NotListed,
                words: Some(error.say().into()),
                at: Some(now),
            }),
            Err(error) => Err(pending(error.say(), now)),
        }
    }
}

fn pending(words: impl Into<Words>, now: Timestamp) -> Transmission {
    Transmission {
        state: TransmissionState::Pending,
        words: Some(words.into()),
        at: Some(now),
    }
}

fn not_needed(words: impl Into<Words>, now: Timestamp) -> Transmission {
    Transmission {
        state: TransmissionState::NotNeeded,
        words: Some(words.into()),
        at: Some(now),
    }
}
