//! The command line.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use ecf::{Environment, Rnc};
use ecf_embedded::FaultRate;

/// The e-CF service with a simulated tax authority, in one process
#[derive(Debug, PartialEq, Eq, Parser)]
#[command(
    name = "ecf-local",
    bin_name = "cargo run --",
    max_term_width = 100,
    args_override_self = true
)]
pub struct Arguments {
    #[command(flatten)]
    pub options: RunOptions,
    /// Print one line of JSON when ready, for scripts
    #[arg(long)]
    pub json: bool,
    /// What to do instead of starting the system.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// A command besides the start of the system.
#[derive(Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Print a function's environment variables, for `cargo lambda`
    Env {
        function: String,
    },
    /// Carry out a task of the operator, on the system that is running or on a deployed stack; operator --help lists them
    // Read by `OperatorArguments`.
    #[command(disable_help_flag = true)]
    Operator {
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "TASK")]
        arguments: Vec<OsString>,
    },
    /// Write a test P12 that names a taxpayer and that this system trusts, for a sign-up or an upload
    Certificate {
        rnc: String,
        file: PathBuf,
    },
    Certify(Certify),
    CheckReception(CheckReception),
    /// Write infra/openapi/public-v1.json and the tables of events in docs/ from the code
    Openapi {
        /// Only compare
        #[arg(long)]
        check: bool,
    },
}

/// Run the data tests of the authority's certification, or its simulation, to the last verdict
///
/// On the local system the company of the workbooks is made when it is missing, with a test certificate; the simulated
/// authority gets the workbooks, and the uploads of a person are done in its portal. A simulation is of the demo company.
///
/// Ctrl-C does not stop the run. The same command shows it again, and continues it after a stop whose reason was removed.
///
/// Exit status: 0 every row was accepted; 1 the workbooks were refused, the run stopped, or an error; 2 a person has to
/// upload files.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct Certify {
    /// The workbook of e-CF, as the portal gave it
    #[arg(value_name = "SUITE-ecf.xlsx", required_unless_present = "simulation")]
    pub workbook: Option<PathBuf>,
    /// The workbook of commercial approvals
    #[arg(long, value_name = "SUITE-acecf.xlsx", requires = "workbook")]
    pub approvals: Option<PathBuf>,
    /// Make the receipts of step 4 from the company's own data, JSON; docs/certification.md shows one
    #[arg(long, value_name = "DATA.json", conflicts_with = "workbook")]
    pub simulation: Option<PathBuf>,
    /// CerteCF, or TesteCF for a rehearsal; a key of a deployment has its own environment [default: CerteCF]
    #[arg(long, value_parser = certification)]
    pub environment: Option<Environment>,
    /// Where to write the files for the portal [default: certificacion-RUN.zip]
    #[arg(long, value_name = "ZIP")]
    pub out: Option<PathBuf>,
    /// Begin a new run with workbooks that were sent before
    #[arg(long)]
    pub again: bool,
    /// The full invoices of this run were uploaded in the portal: send the approvals
    #[arg(long, conflicts_with = "again")]
    pub uploaded: bool,
    /// The address of a deployment, in place of the local system
    #[arg(long, requires = "key", value_parser = web_address)]
    pub url: Option<String>,
    /// An API key of the company in that deployment; better in the variable, which other users do not see
    #[arg(long, env = "ECF_API_KEY", hide_env_values = true)]
    pub key: Option<String>,
}

/// Call a company's published address as the tax authority does in steps 7 to 11 of the certification
///
/// Checks name, TLS, seed, token, receipts and approvals, and says what the authority would complain about. A test receipt
/// stays in the company's inbox; nothing but seeds is asked of an address that is not one of testecf or certecf.
///
/// Exit status: 0 nothing to correct; 1 something to correct, or an error.
#[derive(Debug, PartialEq, Eq, Args)]
pub struct CheckReception {
    /// url_recepcion, as GET /api/v1/client/company shows it; the local demo company's in CerteCF if left out
    #[arg(value_parser = web_address)]
    pub address: Option<String>,
    /// RNC of the company, if the address does not contain it
    #[arg(long)]
    pub rnc: Option<Rnc>,
    /// A certificate to sign with; one that nobody knows if left out, which a service with ReceptionTrust=chain refuses
    #[arg(long, value_name = "FILE", requires = "address")]
    pub p12: Option<PathBuf>,
    /// Its PIN; better in the variable, which other users do not see
    #[arg(long, env = "ECF_PIN", hide_env_values = true)]
    pub pin: Option<String>,
}

/// Upper bound of the speed: at 60, a worker still has time for one call within its timeout.
const MOST_SPEED: NonZeroU32 = NonZeroU32::new(60).expect("not zero");

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
pub struct RunOptions {
    /// Port on 127.0.0.1; 0 takes any free port
    #[arg(long, default_value_t = 8080)]
    pub port: u16,
    /// Where state is kept between runs
    #[arg(long, global = true, value_name = "DIR", default_value = ".local")]
    pub data: PathBuf,
    /// Forget that state first
    #[arg(long)]
    pub reset: bool,
    /// Use this tax authority in place of the built-in simulator
    #[arg(long, value_name = "URL")]
    pub simulator: Option<String>,
    /// Notify this address of each company that signs up, signed with the secret `portal_secret` of --json
    #[arg(long, value_name = "URL", value_parser = web_address)]
    pub portal: Option<String>,
    /// Let time run N times faster, 1 to 60: retries of hours in minutes; kept with the state
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = speed)]
    pub speed: Option<NonZeroU32>,
    /// Requests per second that one API key may send; a deployment's limit if left out, 0 for no limit
    #[arg(long, value_name = "N")]
    pub key_rate: Option<u32>,
    /// Let this percentage of AWS calls fail, be throttled, get lost or come late
    #[arg(long, value_name = "PERCENT[:SEED]", value_parser = fault_rate)]
    pub aws_faults: Option<FaultRate>,
    /// Let each AWS call take as long as assumed for a deployment: 5 to 30 ms, in real time at any speed
    #[arg(long)]
    pub aws_latency: bool,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            port: 8080,
            data: PathBuf::from(".local"),
            reset: false,
            simulator: None,
            portal: None,
            speed: None,
            key_rate: None,
            aws_faults: None,
            aws_latency: false,
        }
    }
}

fn web_address(text: &str) -> Result<String, String> {
    match url::Url::parse(text) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(text.to_owned()),
        _ => Err(format!("`{text}` is not an http or https address")),
    }
}

fn certification(text: &str) -> Result<Environment, String> {
    let environment = text.parse().ok().filter(|named| *named != Environment::Ecf);
    environment.ok_or_else(|| format!("`{text}` is not CerteCF or TesteCF"))
}

/// Timeouts and leases shrink with the speed: at 60, the timeout of a submission is one second, which one call needs.
fn speed(text: &str) -> Result<NonZeroU32, String> {
    let speed = text.parse().ok().filter(|speed: &NonZeroU32| *speed <= MOST_SPEED);
    speed.ok_or_else(|| {
        format!(
            "`{text}` is not a speed from 1 to {MOST_SPEED}: a send may take 60 seconds and holds its receipt for 90 seconds of that time, so that nothing could be sent faster"
        )
    })
}

/// `5` is a percentage; `5:1234` also sets the seed of the fault sequence.
fn fault_rate(text: &str) -> Result<FaultRate, String> {
    let expected = || format!("`{text}` is not a percentage from 0 to 100, with or without `:` and a number as seed");
    let (percent, seed) = text.split_once(':').unwrap_or((text, "0"));
    let percent: u8 = percent.parse().map_err(|_| expected())?;
    let seed: u64 = seed.parse().map_err(|_| expected())?;
    (percent <= 100)
        .then_some(FaultRate { percent, seed })
        .ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments, clap::Error> {
        Arguments::try_parse_from([&["ecf-local"], arguments].concat())
    }

    #[test]
    fn without_arguments_the_system_runs_on_its_default_port() {
        assert_eq!(
            parse(&[]).unwrap(),
            Arguments {
                options: RunOptions::default(),
                json: false,
                command: None
            }
        );
    }

    #[test]
    fn every_option_is_read() {
        let parsed = parse(&[
            "--port",
            "0",
            "--data",
            "x",
            "--reset",
            "--json",
            "--simulator",
            "http://127.0.0.1:1",
            "--portal",
            "http://127.0.0.1:2/companies",
            "--speed",
            "60",
            "--key-rate",
            "7",
            "--aws-faults",
            "5:42",
            "--aws-latency",
        ]);
        let options = RunOptions {
            port: 0,
            data: "x".into(),
            reset: true,
            simulator: Some("http://127.0.0.1:1".to_owned()),
            portal: Some("http://127.0.0.1:2/companies".to_owned()),
            speed: NonZeroU32::new(60),
            key_rate: Some(7),
            aws_faults: Some(FaultRate { percent: 5, seed: 42 }),
            aws_latency: true,
        };
        let arguments = Arguments {
            options,
            json: true,
            command: None,
        };
        assert_eq!(parsed.unwrap(), arguments);
    }

    #[test]
    fn what_follows_operator_is_the_operators() {
        let read = parse(&["--data", "x", "operator", "stuck", "--json", "--data", "y"]).unwrap();
        assert_eq!(read.options.data, PathBuf::from("x"));
        let arguments = ["stuck", "--json", "--data", "y"].map(OsString::from).to_vec();
        assert_eq!(read.command, Some(Command::Operator { arguments }));
        let arguments = vec!["--help".into()];
        assert_eq!(
            parse(&["operator", "--help"]).unwrap().command,
            Some(Command::Operator { arguments })
        );
    }

    #[test]
    fn a_certification_is_of_the_local_system_or_of_a_deployment() {
        let read = |arguments: &[&str]| match parse(&[&["certify", "suite.xlsx"], arguments].concat()) {
            Ok(Arguments {
                options,
                command: Some(Command::Certify(certify)),
                ..
            }) => Ok((options.data, certify.url, certify.key)),
            other => Err(format!("{other:?}")),
        };
        assert_eq!(read(&["--data", "x"]).unwrap(), ("x".into(), None, None));
        let (url, key) = ("https://ecf.example".to_owned(), "ecf_cert_k".to_owned());
        assert_eq!(
            read(&["--url", &url, "--key", &key]).unwrap(),
            (".local".into(), Some(url), Some(key))
        );
        for (arguments, reason) in [
            (&["--url", "https://ecf.example"][..], "--key <KEY>"),
            (&["--environment", "ecf"], "`ecf` is not CerteCF or TesteCF"),
            (&["--simulation", "data.json"], "cannot be used with"),
        ] {
            let error = parse(&[&["certify", "suite.xlsx"], arguments].concat()).unwrap_err();
            assert!(error.to_string().contains(reason), "{error}");
        }
        assert!(parse(&["certify", "--simulation", "data.json"]).is_ok());
        assert!(parse(&["certify"]).is_err());
    }

    #[test]
    fn r10_an_unknown_argument_is_named_and_a_speed_has_its_bound() {
        assert!(parse(&["--prot"]).unwrap_err().to_string().contains("--prot"));
        for speed in ["0", "61", "1200", "fast", "-1"] {
            let error = parse(&["--speed", speed]).unwrap_err().to_string();
            assert!(error.contains("1 to 60") && error.contains("90 seconds"), "{error}");
        }
        for portal in ["localhost:3000", "ftp://127.0.0.1/", "/companies"] {
            let error = parse(&["--portal", portal]).unwrap_err().to_string();
            assert!(error.contains(&format!("`{portal}`")), "{error}");
        }
        let rate = parse(&["--aws-faults", "101"]).unwrap_err().to_string();
        assert!(rate.contains("`101`") && rate.contains("0 to 100"), "{rate}");
        assert_eq!(
            parse(&["--port", "1", "--port", "2"]).unwrap().options.port,
            2,
            "the last one counts"
        );
        assert!(parse(&["serve"]).unwrap_err().to_string().contains("serve"));
    }
}
