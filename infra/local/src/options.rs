//! The command line.

use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

use ecf::Environment;
use ecf_embedded::FaultRate;

/// The text of `--help`.
pub const USAGE: &str = "\
The e-CF service with a simulated tax authority, in one process.

usage: ecf-local [--port PORT] [--data DIR] [--reset] [--json] [--simulator URL] [--portal URL] [--speed N] [--key-rate N]
                 [--aws-faults PERCENT[:SEED]]
       ecf-local env FUNCTION [--port PORT] [--data DIR]
       ecf-local operator COMMAND [--data DIR]
       ecf-local certificate RNC FILE [--data DIR]
       ecf-local certify SUITE.xlsx [--approvals SUITE.xlsx] …
       ecf-local certify --simulation DATA.json …
       ecf-local openapi [--check]

  --port PORT       where to listen on 127.0.0.1 (default 8080; 0 takes any free port)
  --data DIR        where state is kept between runs (default .local)
  --reset           forget that state first
  --json            print one line of JSON when ready, for scripts
  --simulator URL   use this tax authority instead of the built-in simulator
  --portal URL      notify this address of each company that signs up, signed with the secret `portal_secret` of --json
  --speed N         let time run N times faster, 1 to 60: retries of hours in minutes (kept with the state)
  --key-rate N      requests per second that one API key may send (default 50, as a deployment's; 0 for no limit)
  --aws-faults PERCENT[:SEED]
                    let so many of a hundred AWS calls fail, be throttled, get lost or come late
  env FUNCTION      print a function's environment variables, for `cargo lambda`
  operator COMMAND  carry out a command of the operator, a JSON object, on the system that is running;
                    docs/operator.md lists them
  certificate RNC FILE
                    write a test P12 that names a taxpayer and that this system trusts, for a sign-up or an upload
  certify SUITE.xlsx
                    run the data tests of the authority's certification; certify --help shows its options
  openapi           write infra/openapi/public-v1.json and the tables of events in docs/ from the code; --check only compares
";

/// The text of `certify --help`.
pub const CERTIFY_USAGE: &str = "\
Runs the data tests of the certification: sends the rows of the authority's workbooks and follows them to the last verdict.
With --simulation it makes the receipts of step 4 from the company's own data instead.

usage: ecf-local certify SUITE-ecf.xlsx [--approvals SUITE-acecf.xlsx] [--environment CerteCF|TesteCF] [--out ZIP] [--again]
                         [--uploaded] [--data DIR | --url URL --key KEY]
       ecf-local certify --simulation DATA.json [--environment …] [--out ZIP] [--again] [--data DIR | --url URL --key KEY]

  SUITE-ecf.xlsx        the workbook of e-CF, as the portal gave it
  --approvals FILE      the workbook of commercial approvals
  --simulation FILE     the company's own data, JSON; docs/certification.md shows one
  --environment NAME    CerteCF (default), or TesteCF for a rehearsal; a key of a deployment has its own environment
  --out ZIP             where to write the files for the portal (default certificacion-RUN.zip)
  --again               begin a new run with workbooks that were sent before
  --uploaded            the full invoices were uploaded in the portal: send the approvals
  --data DIR            the state folder of the local system that is running (default .local)
  --url URL             the address of a deployment, instead of the local system
  --key KEY             an API key of the company in that deployment

On the local system the company of the workbooks is made when it is missing, with a test certificate; the simulated authority
gets the workbooks, and the uploads of a person are done in its portal. A simulation is of the demo company.

Ctrl-C does not stop the run. The same command shows it again, and continues it after a stop whose reason was removed.

exit code: 0 every row was accepted; 1 the workbooks were refused, the run stopped, or an error; 2 a person has to upload files
";

/// The command to execute.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    Run {
        options: RunOptions,
        json: bool,
    },
    Env {
        function: String,
        options: RunOptions,
    },
    Operator {
        command: String,
        options: RunOptions,
    },
    Certificate {
        rnc: String,
        file: PathBuf,
        options: RunOptions,
    },
    Certify(Certify),
    Openapi {
        check: bool,
    },
    CertifyHelp,
    Help,
}

/// A certification run.
#[derive(Debug, PartialEq, Eq)]
pub struct Certify {
    /// Where the rows come from.
    pub rows: RowsFrom,
    /// The environment, if it is not that of the key.
    pub environment: Option<Environment>,
    /// Where to write the files for the portal.
    pub out: Option<PathBuf>,
    /// Whether to begin a new run with workbooks that were sent before.
    pub again: bool,
    /// Whether a person uploaded the full invoices.
    pub uploaded: bool,
    /// The system that does it.
    pub place: Place,
}

/// Where the rows of a run come from.
#[derive(Debug, PartialEq, Eq)]
pub enum RowsFrom {
    /// The workbook of e-CF, and that of commercial approvals.
    Workbooks {
        receipts: PathBuf,
        approvals: Option<PathBuf>,
    },
    /// The company's own data.
    Simulation(PathBuf),
}

/// A system that runs.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    /// The local system on this state folder.
    Local { data: PathBuf },
    /// A deployment.
    Deployment { url: String, key: String },
}

/// Upper bound of the speed: at 60, a worker still has time for one call within its timeout.
const MOST_SPEED: NonZeroU32 = NonZeroU32::new(60).expect("not zero");

/// Options of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// Port on 127.0.0.1; 0 picks a free port.
    pub port: u16,
    /// The state folder.
    pub data: PathBuf,
    /// Whether to delete the state first.
    pub reset: bool,
    /// URL of another tax authority than the built-in simulator.
    pub simulator: Option<String>,
    /// The operator's portal, which is notified of each new company.
    pub portal: Option<String>,
    /// Speed of time relative to the system's clock; stored with the state.
    pub speed: Option<NonZeroU32>,
    /// The rate limit of an API key, if it differs from the template's.
    pub key_rate: Option<u32>,
    /// The rate of faults in AWS calls.
    pub aws_faults: Option<FaultRate>,
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
        }
    }
}

impl Command {
    /// Reads the arguments after the program's name.
    ///
    /// # Errors
    ///
    /// Names the invalid argument.
    pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, lexopt::Error> {
        use lexopt::prelude::*;
        let mut options = RunOptions::default();
        let (mut json, mut check, mut again, mut uploaded) = (false, false, false, false);
        let (mut approvals, mut simulation, mut environment, mut out, mut url, mut key) =
            (None, None, None, None, None, None);
        let mut words = Vec::new();
        let mut parser = lexopt::Parser::from_args(arguments);
        while let Some(argument) = parser.next()? {
            match argument {
                Long("port") => options.port = parser.value()?.parse()?,
                Long("data") => options.data = parser.value()?.into(),
                Long("reset") => options.reset = true,
                Long("json") => json = true,
                Long("simulator") => options.simulator = Some(parser.value()?.string()?),
                Long("portal") => options.portal = Some(parser.value()?.parse_with(web_address)?),
                Long("speed") => options.speed = Some(parser.value()?.parse_with(speed)?),
                Long("key-rate") => options.key_rate = Some(parser.value()?.parse()?),
                Long("aws-faults") => options.aws_faults = Some(parser.value()?.parse_with(fault_rate)?),
                Long("check") => check = true,
                Long("approvals") => approvals = Some(parser.value()?.into()),
                Long("simulation") => simulation = Some(PathBuf::from(parser.value()?)),
                Long("environment") => environment = Some(parser.value()?.parse_with(certification)?),
                Long("out") => out = Some(parser.value()?.into()),
                Long("again") => again = true,
                Long("uploaded") => uploaded = true,
                Long("url") => url = Some(parser.value()?.parse_with(web_address)?),
                Long("key") => key = Some(parser.value()?.string()?),
                Long("help") | Short('h') if words.first().is_some_and(|word| word == "certify") => {
                    return Ok(Self::CertifyHelp);
                }
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(word) => words.push(word.string()?),
                other => return Err(other.unexpected()),
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match words.as_slice() {
            [] => Ok(Self::Run { options, json }),
            ["env", function] => Ok(Self::Env {
                function: (*function).to_owned(),
                options,
            }),
            ["operator", command] => Ok(Self::Operator {
                command: (*command).to_owned(),
                options,
            }),
            ["certificate", rnc, file] => Ok(Self::Certificate {
                rnc: (*rnc).to_owned(),
                file: PathBuf::from(file),
                options,
            }),
            ["certify", workbooks @ ..] if workbooks.len() <= 1 => Ok(Self::Certify(Certify {
                rows: match (workbooks, simulation) {
                    ([workbook], None) => RowsFrom::Workbooks {
                        receipts: PathBuf::from(workbook),
                        approvals,
                    },
                    ([], Some(data)) => RowsFrom::Simulation(data),
                    _ => return Err(lexopt::Error::from("certify takes a workbook or --simulation")),
                },
                environment,
                out,
                again,
                uploaded,
                place: match (url, key) {
                    (None, None) => Place::Local { data: options.data },
                    (Some(url), Some(key)) => Place::Deployment { url, key },
                    _ => return Err(lexopt::Error::from("--url and --key go together")),
                },
            })),
            ["openapi"] => Ok(Self::Openapi { check }),
            [unknown, ..] => Err(lexopt::Error::from(format!(
                "'{unknown}' is not a command of this program"
            ))),
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

    fn parse(arguments: &[&str]) -> Result<Command, lexopt::Error> {
        Command::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn without_arguments_the_system_runs_on_its_default_port() {
        assert_eq!(
            parse(&[]).unwrap(),
            Command::Run {
                options: RunOptions::default(),
                json: false
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
        };
        assert_eq!(parsed.unwrap(), Command::Run { options, json: true });
    }

    #[test]
    fn a_certification_is_of_the_local_system_or_of_a_deployment() {
        let place = |arguments: &[&str]| match parse(&[&["certify", "suite.xlsx"], arguments].concat()) {
            Ok(Command::Certify(options)) => Ok(options.place),
            other => Err(format!("{other:?}")),
        };
        assert_eq!(place(&["--data", "x"]).unwrap(), Place::Local { data: "x".into() });
        let deployment = Place::Deployment {
            url: "https://ecf.example".to_owned(),
            key: "ecf_cert_k".to_owned(),
        };
        assert_eq!(
            place(&["--url", "https://ecf.example", "--key", "ecf_cert_k"]).unwrap(),
            deployment
        );
        for (arguments, reason) in [
            (["--url", "https://ecf.example"], "go together"),
            (["--environment", "ecf"], "`ecf` is not CerteCF or TesteCF"),
        ] {
            let error = place(&arguments).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        let rows = match parse(&["certify", "--simulation", "data.json"]).unwrap() {
            Command::Certify(options) => options.rows,
            other => panic!("{other:?}"),
        };
        assert_eq!(rows, RowsFrom::Simulation("data.json".into()));
        assert!(parse(&["certify"]).is_err());
        assert_eq!(parse(&["certify", "--help"]).unwrap(), Command::CertifyHelp);
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
        assert!(parse(&["serve"]).unwrap_err().to_string().contains("serve"));
    }
}
