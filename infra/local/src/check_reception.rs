//! `ecf-local check-reception`: calls a company's published address as the tax authority does in steps 7 to 11 of its
//! certification, and as other issuers do later, and says what they would complain about.
//!
//! It knows the service by its address alone, like any other taxpayer.

mod calls;
mod documents;
mod target;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use ecf::catalogue::{CodigoMotivoNoRecibido, EstadoAcuse};
use ecf::messages::Arecf;
use ecf_runtime::{Clock, Error};
use xmldsig::{Identity, Limits, verify};

use crate::folder;
use crate::lapse::Lapse;
use crate::options::CheckReception;
use calls::{Answer, Calls};
use documents::Sender;
use target::Target;

/// The findings, printed as they come.
#[derive(Default)]
struct Report {
    problems: u32,
}

impl Report {
    fn good(&self, what: &str, words: &str) -> Result<(), Error> {
        say(&format!("ok    {what}: {words}"))
    }

    fn note(&self, what: &str, words: &str) -> Result<(), Error> {
        say(&format!("note  {what}: {words}"))
    }

    fn bad(&mut self, what: &str, words: &str) -> Result<(), Error> {
        self.problems += 1;
        say(&format!("BAD   {what}: {words}"))
    }

    /// Whether the answer is as expected.
    fn expect(&mut self, what: &str, is_as_expected: bool, answer: &Answer, expected: &str) -> Result<(), Error> {
        if is_as_expected {
            return self.good(what, &answer.to_string());
        }
        self.bad(what, &format!("{answer}; expected: {expected}"))
    }
}

fn say(line: &str) -> Result<(), Error> {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(())
}

/// Checks an address, or that of the demo company on the system of a state folder.
///
/// # Errors
///
/// When a file cannot be read or the address cannot be understood.
pub async fn check_reception(options: &CheckReception, data: &Path) -> Result<ExitCode, Error> {
    let target = Target::of(options, data)?;
    let lapse = match options.address {
        Some(_) => None,
        None => Lapse::kept(&folder::lapse(data))?,
    };
    let now = lapse.map_or_else(Clock::system, Lapse::clock).now();
    let sender = Sender::new(&target.rnc, now);
    let identity = target::identity(options, data, sender.rnc, now)?;
    say(&format!("{} of RNC {}", target.address, target.rnc))?;
    let mut report = Report::default();
    if target::is_reachable(&target, &mut report).await? {
        let check = Check {
            calls: Calls::new(&target.address)?,
            sender,
            identity,
            target,
        };
        check.run(&mut report).await?;
    }
    if report.problems == 0 {
        say("the tax authority would accept these addresses")?;
        return Ok(ExitCode::SUCCESS);
    }
    say(&format!("{} to correct before the step in the portal", report.problems))?;
    Ok(ExitCode::FAILURE)
}

struct Check {
    target: Target,
    calls: Calls,
    sender: Sender,
    identity: Identity,
}

impl Check {
    async fn run(&self, report: &mut Report) -> Result<(), Error> {
        let Some(token) = self.authentication(report).await? else {
            return Ok(());
        };
        if !self.target.takes_tests {
            return report.note(
                "documents",
                "not sent: the address is not one of testecf or certecf, and a test would stay in a real inbox",
            );
        }
        self.receipts(&token, report).await?;
        self.approvals(&token, report).await
    }

    /// Steps 7 to 11 begin with a seed. Returns the token.
    async fn authentication(&self, report: &mut Report) -> Result<Option<String>, Error> {
        let answer = self.calls.seed().await;
        if !answer.is_seed() {
            report.bad(
                "seed",
                &format!("{answer}; expected: 200 with a SemillaModel that has valor and fecha"),
            )?;
            return Ok(None);
        }
        report.good("seed", &answer.to_string())?;

        let changed = documents::changed_seed(&answer.bytes);
        let refused = self.calls.validate(self.signed(&changed)?).await;
        report.expect(
            "a seed that it did not give",
            refused.is_client_error(),
            &refused,
            "4xx, because anybody could make one",
        )?;
        let signed = self.signed(&answer.bytes)?;
        let granted = self.calls.validate(signed.clone()).await;
        let Some(token) = granted.token() else {
            report.bad("token", &format!("{granted}; expected: 200 with token and expira"))?;
            return Ok(None);
        };
        report.good("token", &format!("status {}, {} ms", granted.status, granted.millis))?;
        let again = self.calls.validate(signed).await;
        report.expect(
            "the same seed again",
            again.is_client_error(),
            &again,
            "4xx, because a seed is for one use",
        )?;
        Ok(Some(token))
    }

    /// Steps 8 and 9: receipts, and what the ARECF says.
    async fn receipts(&self, token: &str, report: &mut Report) -> Result<(), Error> {
        let good = self.signed(self.sender.receipt(&self.target.rnc).as_bytes())?;
        self.receipt("a receipt", token, good.clone(), None, report).await?;
        let duplicate = Some(CodigoMotivoNoRecibido::EnvioDuplicado);
        self.receipt("the same receipt again", token, good, duplicate, report)
            .await?;
        let foreign = self.sender.another().receipt(documents::NOBODY);
        let foreign = self.signed(foreign.as_bytes())?;
        let not_ours = Some(CodigoMotivoNoRecibido::RncCompradorNoCorresponde);
        self.receipt("a receipt of another buyer", token, foreign, not_ours, report)
            .await?;
        let altered = self.signed(self.sender.another().receipt(&self.target.rnc).as_bytes())?;
        let altered = documents::altered(&altered);
        let broken = Some(CodigoMotivoNoRecibido::ErrorFirma);
        self.receipt(
            "a receipt that was changed after it was signed",
            token,
            altered,
            broken,
            report,
        )
        .await
    }

    /// Sends a receipt; `refusal` is the reason that the ARECF must give.
    async fn receipt(
        &self,
        what: &str,
        token: &str,
        xml: Vec<u8>,
        refusal: Option<CodigoMotivoNoRecibido>,
        report: &mut Report,
    ) -> Result<(), Error> {
        let answer = self.calls.receipt(token, xml).await;
        let verified = match verify(answer.xml(), &Limits::default()) {
            Ok(verified) => verified,
            Err(error) => return report.bad(what, &format!("{answer}; expected: a signed ARECF ({error})")),
        };
        let arecf = match Arecf::from_xml(&verified.document) {
            Ok(arecf) => arecf.detalle_acusede_recibo,
            Err(error) => return report.bad(what, &format!("{answer}; expected: an ARECF ({error})")),
        };
        let reason = arecf.codigo_motivo_no_recibido;
        let said = match (arecf.estado, reason) {
            (Some(EstadoAcuse::Recibido), _) => "received".to_owned(),
            (_, Some(reason)) => format!("not received, {} {}", reason.code(), reason.words()),
            (_, None) => "not received, without a reason".to_owned(),
        };
        let signer = &verified.certificate.subject;
        let words = format!(
            "status {}, {} ms: {said}; signed by {signer}",
            answer.status, answer.millis
        );
        if answer.status != 200 {
            return report.bad(what, &format!("{words}; expected: status 200"));
        }
        match refusal {
            None if arecf.estado == Some(EstadoAcuse::Recibido) => report.good(what, &words),
            Some(expected) if arecf.estado == Some(EstadoAcuse::NoRecibido) && reason == Some(expected) => {
                report.good(what, &words)
            }
            None => report.bad(what, &format!("{words}; expected: received")),
            Some(expected) => report.bad(
                what,
                &format!(
                    "{words}; expected: not received, {} {}",
                    expected.code(),
                    expected.words()
                ),
            ),
        }
    }

    /// Steps 10 and 11. The company never issued the receipt, so nothing of it changes.
    async fn approvals(&self, token: &str, report: &mut Report) -> Result<(), Error> {
        let approval = self.signed(self.sender.approval(&self.target.rnc).as_bytes())?;
        let answer = self.calls.approval(token, approval.clone()).await;
        report.expect(
            "an approval of a receipt that was never issued",
            answer.status == 400,
            &answer,
            "400 with the reason",
        )?;
        let answer = self.calls.approval(token, documents::altered(&approval)).await;
        report.expect(
            "an approval that was changed after it was signed",
            answer.status == 400,
            &answer,
            "400 with the reason",
        )
    }

    fn signed(&self, xml: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(xmldsig::sign_foreign(xml, &self.identity, &Limits::default())?.xml)
    }
}
