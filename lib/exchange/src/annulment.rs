//! Annulment of numbers: the numbers are first reserved, so that no receipt gets them, then reported to the tax
//! authority.
//!
//! A refusal frees the numbers, unless the answer to an earlier attempt was lost: that attempt may have annulled them,
//! which would explain the refusal.

use std::time::Duration;

use ecf::Rnc;
use ecf_language::{Bilingual, Say, say};
use ecf_store::{
    ArtifactKind, ExchangeJob, Scope, StoreError,
    annulments::{Annulment, AnnulmentState, NumbersTaken},
    waits,
};
use ecf_taxauth::{Ruling, Upload};

use crate::{Exchange, no_answer, no_certificate};

impl Exchange {
    /// Makes one attempt to annul numbers and schedules the next. The authority's part is limited to `time_limit`.
    /// Returns the annulment in its new state.
    ///
    /// # Errors
    /// When the store fails; the due index finds the annulment again.
    pub async fn annul(
        &self,
        scope: &Scope,
        rnc_emisor: &Rnc,
        annulment: Annulment,
        time_limit: Duration,
    ) -> Result<Annulment, StoreError> {
        let now = self.clock.now();
        if annulment.state != AnnulmentState::Pending {
            return Ok(annulment);
        }
        if !self
            .table
            .claim_annulment(scope, &annulment, now, now + waits::EXCHANGE_LEASE)
            .await?
        {
            let id = annulment.id;
            return Ok(self.table.annulment(scope, &id).await?.unwrap_or(annulment));
        }
        let mut annulment = annulment;
        annulment.attempts = annulment.attempts.saturating_add(1);
        match self.table.take_annulled_numbers(scope, &annulment, now).await? {
            NumbersTaken::Done => self.ask(scope, rnc_emisor, &mut annulment, time_limit).await?,
            NumbersTaken::Used(used) => {
                let used: Vec<String> = used.iter().map(ToString::to_string).collect();
                annulment.state = AnnulmentState::Refused;
                let words = say!("used meanwhile: {}", "usados entretanto: {}", used.join(", "));
                annulment.words = Some(words.into());
            }
        }
        if annulment.state == AnnulmentState::Refused && !annulment.has_lost_answer {
            self.table
                .give_numbers_back(scope, &annulment, self.clock.now())
                .await?;
        }
        self.plan_annulment(scope, &mut annulment).await?;
        Ok(annulment)
    }

    async fn ask(
        &self,
        scope: &Scope,
        rnc_emisor: &Rnc,
        annulment: &mut Annulment,
        time_limit: Duration,
    ) -> Result<(), StoreError> {
        let now = self.clock.now();
        let Some(identity) = self.identity(&scope.company, now).await? else {
            annulment.words = Some(no_certificate().into());
            return Ok(());
        };
        let kept = self.artifacts.message(
            scope,
            annulment.created_at,
            &annulment.id,
            ArtifactKind::Anecf,
            &annulment.anecf,
        );
        let xml = kept.await?;
        let xml = xml.ok_or_else(|| StoreError::unexpected("annul", "its message is not in the bucket"))?;
        let upload = Upload::annulment(rnc_emisor, xml.to_vec());
        let session = self
            .tokens
            .session(scope.environment, &identity)
            .of_company(&scope.company);
        match tokio::time::timeout(time_limit, session.annul(&upload)).await {
            Ok(Ok(ruling)) => {
                let answer = ruling.answer();
                annulment.answer = Some(answer.to_json());
                annulment.words = answer.words().map(|words| Bilingual::same(words).into());
                annulment.state = match ruling {
                    Ruling::Taken(_) => AnnulmentState::Accepted,
                    Ruling::Refused(_) => AnnulmentState::Refused,
                };
                if annulment.state == AnnulmentState::Refused && annulment.has_lost_answer {
                    // In front, because the authority's words may be long and are cut.
                    let lost = say!(
                        "the answer to an earlier attempt was lost, so the numbers may be annulled and stay locked",
                        "se perdió la respuesta a un intento anterior: los números pueden estar anulados y siguen bloqueados"
                    );
                    let words = annulment.words.take().map(Bilingual::from);
                    let parts: Vec<_> = std::iter::once(lost).chain(words).collect();
                    annulment.words = Some(Bilingual::joined(&parts, ": ").into());
                }
            }
            Ok(Err(error)) => {
                annulment.has_lost_answer |= !error.nothing_was_taken();
                annulment.words = Some(error.say().into());
                let chain = ecf_runtime::telemetry::chain(&error).to_string();
                tracing::warn!(annulment.id = %annulment.id, error = chain, "an annulment was not delivered to the tax authority");
            }
            Err(_) => {
                annulment.has_lost_answer = true;
                annulment.words = Some(no_answer().into());
            }
        }
        Ok(())
    }

    async fn plan_annulment(&self, scope: &Scope, annulment: &mut Annulment) -> Result<(), StoreError> {
        let now = self.clock.now();
        let is_open = annulment.state == AnnulmentState::Pending;
        let wait = waits::EXCHANGE
            .after(annulment.attempts.saturating_sub(1))
            .filter(|_| is_open);
        if wait.is_none() {
            if is_open {
                annulment.state = AnnulmentState::GivenUp;
                tracing::error!(annulment.id = %annulment.id, words = annulment.words.as_ref().map(|words| &*words.en), "an annulment was given up: the tax authority was unreachable for days");
            }
            annulment.completed_at = Some(now);
        }
        let next = wait.map(|wait| waits::due_at(now, now + wait));
        annulment.next_action_at = next;
        if self.table.record_annulment(scope, annulment, next).await?
            && let Some(wait) = wait
        {
            let job = ExchangeJob::Annulment {
                scope: *scope,
                annulment: annulment.id,
                attempt: annulment.attempts,
            };
            self.queue_next(&job, wait).await;
        }
        Ok(())
    }
}
