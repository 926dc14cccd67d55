//! `ecf-local certify`: a certification run to its end, on the local system or on a deployment; `--sign` for forms.
//!
//! The service does the work. This program begins the run under a key that follows from the workbooks, so it may be
//! stopped at any moment: the run goes on, and the same command shows it again.

mod local;
mod service;
mod show;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use ecf_runtime::Error;
use sha2::{Digest, Sha256};

use crate::options::Certify;
use local::Portal;
pub use local::data_test;
use service::{Begun, Run, Service};
use show::Bar;

/// Exit code when a person has to upload the files in the portal.
const WAITS_FOR_A_PERSON: u8 = 2;
/// The wait between two looks at the run.
const LOOK: Duration = Duration::from_secs(1);

/// What a run is begun with.
enum Rows {
    Workbooks {
        receipts: Part,
        approvals: Option<Part>,
    },
    /// The company's own data, a JSON object.
    Simulation(Part),
}

/// A file that is sent.
#[derive(Clone)]
struct Part {
    name: String,
    bytes: Vec<u8>,
}

impl Part {
    fn read(path: &Path) -> Result<Self, Error> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { name, bytes })
    }
}

impl Rows {
    fn read(options: &Certify) -> Result<Self, Error> {
        let read = |path: &Option<PathBuf>| path.as_deref().map(Part::read).transpose();
        Ok(match (read(&options.workbook)?, read(&options.simulation)?) {
            (Some(receipts), _) => Self::Workbooks {
                receipts,
                approvals: read(&options.approvals)?,
            },
            (None, Some(data)) => Self::Simulation(data),
            (None, None) => return Err("certify takes a workbook, --simulation or --sign".into()),
        })
    }

    /// The start of the idempotency keys of all runs of these files.
    fn key(&self) -> String {
        let (kind, first, second) = match self {
            Self::Workbooks { receipts, approvals } => ("certify", receipts, approvals.as_ref()),
            Self::Simulation(data) => ("simulate", data, None),
        };
        let mut hash = Sha256::new();
        for part in std::iter::once(first).chain(second) {
            hash.update(Sha256::digest(&part.bytes));
        }
        format!("{kind}-{}", &hex::encode(hash.finalize())[..32])
    }

    /// The name of the file that is sent as this part of the form.
    fn name(&self, part: &str) -> &str {
        match self {
            Self::Workbooks {
                approvals: Some(approvals),
                ..
            } if part == "approvals" => &approvals.name,
            Self::Workbooks { receipts: part, .. } | Self::Simulation(part) => &part.name,
        }
    }
}

/// Begins the run of these files on a deployment or on the system of a state folder, or continues it, and follows it
/// until it ends or waits for a person.
///
/// # Errors
///
/// When a file cannot be read, no system is running, or the service cannot be reached.
pub async fn certify(options: &Certify, data: &Path) -> Result<ExitCode, Error> {
    if let Some(form) = &options.sign {
        return sign(form, options, data).await;
    }
    let rows = Rows::read(options)?;
    let (service, portal) = match options.url.as_deref().zip(options.key.as_deref()) {
        Some((url, key)) => (Service::new(url, key)?, None),
        None => match Portal::open(&rows, options, data).await? {
            Ok((service, portal)) => (service, Some(portal)),
            Err((part, findings)) => return show::findings(&part.name, &findings),
        },
    };
    let office = Office {
        options,
        service,
        portal,
    };
    match office.begin(&rows).await? {
        Begun::Run(run) => office.follow(run).await,
        Begun::Refused { part, findings } => show::findings(rows.name(&part), &findings),
    }
}

/// Signs a form of the portal and writes it beside the one that came.
async fn sign(form: &Path, options: &Certify, data: &Path) -> Result<ExitCode, Error> {
    let Part { name, bytes } = Part::read(form)?;
    let service = match options.url.as_deref().zip(options.key.as_deref()) {
        Some((url, key)) => Service::new(url, key)?,
        None => Portal::of_demo(options, data).await?.0,
    };
    let signed = service
        .sign(bytes)
        .await?
        .map_err(|refusal| format!("{name}: {refusal}"))?;
    let stem = form.file_stem().unwrap_or_default().to_string_lossy();
    let beside = || form.with_file_name(format!("{stem}-signed.xml"));
    let path = options.out.clone().unwrap_or_else(beside);
    write(&path, &signed)?;
    say(&format!("{}: signed; upload it in the portal as it is", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    Ok(std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))?)
}

struct Office<'o> {
    options: &'o Certify,
    service: Service,
    /// The simulated portal, of the local system.
    portal: Option<Portal>,
}

impl Office<'_> {
    async fn begin(&self, rows: &Rows) -> Result<Begun, Error> {
        let (key, runs) = (rows.key(), self.service.runs().await?);
        let earlier: Vec<_> = runs
            .iter()
            .filter(|run| run.idempotency_key.starts_with(&key))
            .collect();
        if let (Some(newest), false) = (earlier.first(), self.options.again) {
            say(&format!("run {} of these files goes on", newest.run_id))?;
            let run = self.service.run(&newest.run_id).await?;
            let continued = if run.can_continue() {
                self.service.command(&run, "continue").await?
            } else {
                Ok(run)
            };
            return continued.map(Begun::Run).map_err(Into::into);
        }
        let is_open = runs.iter().any(|run| run.is_open());
        if let (Some(portal), false) = (&self.portal, is_open) {
            portal.prescribe(&self.service).await?;
        }
        let key = match earlier.len() {
            0 => key,
            runs => format!("{key}-{}", runs + 1),
        };
        let begun = self.service.begin(&key, self.options.environment, rows).await?;
        if let Begun::Run(run) = &begun {
            for notice in &run.notices {
                say(&format!("notice: {notice}"))?;
            }
            say(&format!(
                "run {} has {} rows. Ctrl-C does not stop it; the same command shows it again.",
                run.run_id, run.counts.rows
            ))?;
        }
        Ok(begun)
    }

    async fn follow(&self, mut run: Run) -> Result<ExitCode, Error> {
        let bar = Bar::new();
        // Only of a run that waited before this command: nobody has the files of a later one yet.
        let mut uploaded = self.options.uploaded && run.status == "awaits_uploads";
        loop {
            bar.show(&run);
            match run.status.as_str() {
                "running" => tokio::time::sleep(LOOK).await,
                "awaits_uploads" => {
                    let files = self.service.files(&run).await?;
                    if let (Some(portal), Some(files)) = (&self.portal, &files) {
                        let count = portal.upload(&self.service, files).await?;
                        bar.say(&format!(
                            "the run waits for a person, who uploads {count} full invoices in the portal; done in the simulated portal"
                        ));
                        uploaded = true;
                    }
                    if !uploaded {
                        bar.end();
                        show::table(&run)?;
                        self.keep(&run, files)?;
                        say(&format!("{}\nThen start the same command with --uploaded.", run.next))?;
                        return Ok(ExitCode::from(WAITS_FOR_A_PERSON));
                    }
                    run = self.service.command(&run, "confirm-uploads").await??;
                    uploaded = false;
                    continue;
                }
                _ => break,
            }
            run = self.service.run(&run.run_id).await?;
        }
        bar.end();
        show::table(&run)?;
        if run.status == "finished" {
            let files = self.service.files(&run).await?;
            self.keep(&run, files)?;
            say(&run.next)?;
            return Ok(ExitCode::SUCCESS);
        }
        show::stop(&run)?;
        if run.begins_anew() {
            say("To send the same in a new run, start the command with --again.")?;
        } else if run.can_continue() {
            say("Then start the same command; it continues the run.")?;
        }
        Ok(ExitCode::FAILURE)
    }

    /// Writes the files that a person uploads, if there are any.
    fn keep(&self, run: &Run, files: Option<Vec<u8>>) -> Result<(), Error> {
        let Some(files) = files else {
            return say("The run has no full invoices, so nothing is to be uploaded in the portal.");
        };
        let default = || PathBuf::from(format!("certificacion-{}.zip", run.run_id));
        let path = self.options.out.clone().unwrap_or_else(default);
        write(&path, &files)?;
        say(&format!("{}: the files to upload in the portal", path.display()))
    }
}

fn say(text: &str) -> Result<(), Error> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}
