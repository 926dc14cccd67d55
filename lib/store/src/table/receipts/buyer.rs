//! The buyer's answer to a receipt: approved or rejected, once.

use ecf::catalogue::EstadoAprobacion;
use jiff::Timestamp;

use crate::{
    ForeignText, StoreError,
    artifacts::ContentHash,
    ids::{ReceiptId, Scope},
    table::{
        Table,
        announcements::{self, Announcement},
        change::Change,
        condition::{absent, equals, exists},
        item::{Stored, bytes, flag, instant, text},
        keys::{self, PK},
        write::{Part, Transacted},
    },
};

const ANSWER: &str = "ba";
const REASON: &str = "br";
const ACECF: &str = "bx";
const RECEIVED_AT: &str = "bt";
const SIGNER: &str = "bs";
const SIGNER_TRUSTED: &str = "bq";

/// A buyer's approval or rejection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuyerAnswer {
    pub estado: EstadoAprobacion,
    /// The buyer's reason for a rejection.
    pub reason: Option<ForeignText>,
    /// The signed message.
    pub acecf: ContentHash,
    pub received_at: Timestamp,
    /// The subject of the certificate that signed it: the buyer or a delegate of the buyer.
    pub signer: ForeignText,
    /// Whether the certificate's chain ends at an authority that the deployment trusts. Otherwise the answer is
    /// provisional.
    pub signer_trusted: bool,
}

/// The result of recording a buyer's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerRecorded {
    Now,
    /// There is a final answer already.
    Already(BuyerAnswer),
}

impl Table {
    /// Records the buyer's answer to a receipt, together with its announcement. The answer of a trusted signer is
    /// final; it replaces a provisional one. The message is in the bucket already.
    ///
    /// # Errors
    /// Fails when DynamoDB fails or a stored record is corrupt.
    pub async fn record_buyer_answer(
        &self,
        scope: &Scope,
        id: &ReceiptId,
        answer: &BuyerAnswer,
        news: &Announcement,
    ) -> Result<AnswerRecorded, StoreError> {
        let operation = "record buyer's answer";
        let change = Change::of(keys::receipt(scope, id))
            .set(ANSWER, text(answer.estado))
            .set_or_remove(REASON, answer.reason.as_ref().map(text))
            .set(ACECF, bytes(answer.acecf))
            .set(RECEIVED_AT, instant(answer.received_at))
            .set(SIGNER, text(&answer.signer))
            .set(SIGNER_TRUSTED, flag(answer.signer_trusted))
            .when(exists(PK));
        let unanswered = if answer.signer_trusted {
            absent(ANSWER)
                .or(absent(SIGNER_TRUSTED))
                .or(equals(SIGNER_TRUSTED, flag(false)))
        } else {
            absent(ANSWER)
        };
        let change = change.when(unanswered);
        let parts = vec![Part::Update(change), Part::PutNew(announcements::item(scope, news))];
        match self.transact(operation, parts).await? {
            Transacted::Done => Ok(AnswerRecorded::Now),
            Transacted::Refused(_) => {
                let receipt = self.receipt(scope, id).await?;
                let earlier = receipt.and_then(|receipt| receipt.buyer.answer);
                let earlier = earlier.ok_or_else(|| StoreError::unexpected(operation, "refused without an answer"))?;
                Ok(AnswerRecorded::Already(earlier))
            }
        }
    }
}

pub(super) fn read(stored: &Stored) -> Result<Option<BuyerAnswer>, StoreError> {
    let Some(estado) = stored.opt_parse(ANSWER)? else {
        return Ok(None);
    };
    Ok(Some(BuyerAnswer {
        estado,
        reason: stored.opt_str(REASON)?.map(ForeignText::from),
        acecf: ContentHash::from_bytes(stored.hash(ACECF)?),
        received_at: stored.instant(RECEIVED_AT)?,
        signer: stored.str(SIGNER)?.into(),
        signer_trusted: stored.flag(SIGNER_TRUSTED)?,
    }))
}
