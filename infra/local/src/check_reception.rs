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
    /// Whether documents were sent.
    is_whole: bool,
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
            is_unknown: options.address.is_some() && options.p12.is_none(),
            sender,
            identity,
            target,
        };
        check.run(&mut report).await?;
    }
    if report.problems == 0 {
        say(if report.is_whole {
            "the tax authority would accept this address"
        } else {
            "nothing to complain about, as far as it was checked"
        })?;
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
    /// Whether no service can know the certificate.
    is_unknown: bool,
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
        report.is_whole = true;
        self.receipts(&token, report).await?;
        self.approval(&token, report).await
    }

    /// Steps 7 to 11 begin with a seed. Returns the token.
    async fn authentication(&self, report: &mut Report) -> Result<Option<String>, Error> {
        let answer = self.calls.seed().await;
        let signed = self.signed(answer.xml());
        let (Some(seed), Ok(signed)) = (answer.seed(), signed) else {
            report.bad(
                "seed",
                &format!("{answer}; expected: 200 with a SemillaModel that has valor and fecha"),
            )?;
            return Ok(None);
        };
        report.good("seed", &answer.to_string())?;

        let changed = documents::changed_seed(&seed);
        let refused = self.calls.validate(self.signed(&changed)?).await;
        report.expect(
            "a seed that it did not give",
            refused.is_client_error(),
            &refused,
            "4xx, because anybody could make one",
        )?;
        let granted = self.calls.validate(signed.clone()).await;
        let Some(token) = granted.token() else {
            let hint = match self.is_unknown {
                true => {
                    " (the certificate is one that nobody knows; if your service demands known signers, give --p12)"
                }
                false => "",
            };
            report.bad(
                "token",
                &format!("{granted}; expected: 200 with token and expira{hint}"),
            )?;
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
        let (ours, other) = (&self.sender, self.sender.another());
        let good = self.signed(ours.receipt(&self.target.rnc).as_bytes())?;
        let again = good.clone();
        let foreign = self.signed(other.receipt(documents::NOBODY).as_bytes())?;
        let altered = documents::altered(&self.signed(other.receipt(&self.target.rnc).as_bytes())?);
        let own = &self.target.rnc;
        for (what, xml, sender, buyer, refusal) in [
            ("a receipt", good, ours, own.as_str(), None),
            (
                "the same receipt again",
                again,
                ours,
                own,
                Some(CodigoMotivoNoRecibido::EnvioDuplicado),
            ),
            (
                "a receipt of another buyer",
                foreign,
                &other,
                documents::NOBODY,
                Some(CodigoMotivoNoRecibido::RncCompradorNoCorresponde),
            ),
            (
                "a receipt that was changed after it was signed",
                altered,
                &other,
                own,
                Some(CodigoMotivoNoRecibido::ErrorFirma),
            ),
        ] {
            let answer = self.calls.receipt(token, xml).await;
            // A receiver that is not the buyer may name itself or the buyer.
            match judged(&answer, [&[sender.rnc], &[own, buyer], &[&sender.encf()]], refusal) {
                Ok(words) => report.good(what, &words)?,
                Err(words) => report.bad(what, &words)?,
            }
        }
        Ok(())
    }

    /// Steps 10 and 11. The company never issued the receipt, so nothing of it changes.
    async fn approval(&self, token: &str, report: &mut Report) -> Result<(), Error> {
        let approval = self.signed(self.sender.approval(&self.target.rnc).as_bytes())?;
        let answer = self.calls.approval(token, approval).await;
        report.expect(
            "an approval of a receipt that was never issued",
            answer.status == 400,
            &answer,
            "400 with the reason",
        )
    }

    fn signed(&self, xml: &[u8]) -> Result<Vec<u8>, Error> {
        Ok(xmldsig::sign_foreign(xml, &self.identity, &Limits::default())?.xml)
    }
}

/// What an ARECF says, if it is signed and about this issuer, buyer and number. `refusal` is the reason that it must give.
fn judged(answer: &Answer, about: [&[&str]; 3], refusal: Option<CodigoMotivoNoRecibido>) -> Result<String, String> {
    let verified = verify(answer.xml(), &Limits::default())
        .map_err(|error| format!("{answer}; expected: 200 with a signed ARECF ({error})"))?;
    let arecf = Arecf::from_xml(&verified.document)
        .map_err(|error| format!("{answer}; expected: an ARECF ({error})"))?
        .detalle_acusede_recibo;
    let reason = arecf.codigo_motivo_no_recibido;
    let said = match (arecf.estado, reason) {
        (Some(EstadoAcuse::Recibido), None) => "received".to_owned(),
        (Some(EstadoAcuse::Recibido), Some(reason)) => format!("received, with the reason {}", reason.code()),
        (_, Some(reason)) => format!("not received, {} {}", reason.code(), reason.words()),
        (_, None) => "not received, without a reason".to_owned(),
    };
    let expected = refusal.map_or_else(
        || "received".to_owned(),
        |reason| format!("not received, {} {}", reason.code(), reason.words()),
    );
    let signer = verified.certificate.subject.replace(char::is_control, "");
    let words = format!(
        "status {}, {} ms: {said}; signed by {signer}",
        answer.status, answer.millis
    );
    let names = [
        arecf.rnc_emisor.as_ref().map(ToString::to_string),
        arecf.rnc_comprador.as_ref().map(ToString::to_string),
        arecf.encf.as_ref().map(ToString::to_string),
    ];
    for ((field, found), sent) in ["RNCEmisor", "RNCComprador", "eNCF"].iter().zip(&names).zip(about) {
        let found = found.as_deref().unwrap_or("nothing");
        if !sent.contains(&found) {
            return Err(format!("{words}; its {field} is {found}; expected: {}", sent[0]));
        }
    }
    if answer.status != 200 || said != expected {
        return Err(format!("{words}; expected: status 200, {expected}"));
    }
    Ok(words)
}
