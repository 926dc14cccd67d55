//! Starts and stops the whole system.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use ecf_embedded::{Embedded, Latency};
use ecf_runtime::env::Env;
use ecf_runtime::{Clock, allow_origins};
use ecf_simulator::Simulator;
use ecf_stack::{Provisioned, Stack};
use ecf_store::{Clients, OperatorSecret};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::authority::Authority;
use crate::demo::Demo;
use crate::folder::StateFolder;
use crate::front::{self, Gateway};
use crate::invocations::{Invocations, Meter};
use crate::lapse::Lapse;
use crate::mounted::{Mounted, mount};
use crate::options::RunOptions;
use crate::pollers::{self, Mapping, POLLERS};
use crate::register;
use crate::timers;

/// Path of the simulated tax authority on the one port.
const SIMULATOR_PATH: &str = "/_simulator";
/// The stack's name, the prefix of its resources.
const STACK_NAME: &str = "ecf-local";
/// Signs notifications to the portal.
const PORTAL_SECRET: &str = "whsec_portal_of_the_local_system";
/// How long a shutdown waits for open batches. Workers that wait for the tax authority are the slowest. An aborted
/// worker leaves a lease, and its receipt is looked up after the next start before it is sent again.
const WORK_GRACE: Duration = Duration::from_secs(10);
/// How long a shutdown then waits for open requests.
const HTTP_GRACE: Duration = Duration::from_secs(2);

/// Why the system could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("cannot listen on 127.0.0.1:{port}; choose another port with --port")]
    Listen { port: u16, source: std::io::Error },
    #[error("the state in {} cannot be read or written", folder.display())]
    State { folder: PathBuf, source: std::io::Error },
    #[error("the state in {} is in use by a system that is running; stop it, or choose another folder with --data", folder.display())]
    InUse { folder: PathBuf },
    #[error("the state runs {kept} times as fast as real time, not {asked} times; --reset begins anew")]
    Speed { kept: NonZeroU32, asked: NonZeroU32 },
    #[error("the embedded AWS services did not start; --reset forgets their state")]
    Embedded(#[from] ecf_embedded::StartError),
    #[error("the tax authority's simulator did not start")]
    Simulator(#[from] ecf_simulator::StartError),
    #[error("the template cannot be carried out")]
    Stack(#[from] ecf_stack::StackError),
    #[error("the template's resources cannot be made")]
    Provision(#[from] ecf_stack::ProvisionError),
    #[error("function {function} did not start")]
    Function {
        function: String,
        source: ecf_runtime::Error,
    },
    #[error("the made-up register cannot be loaded")]
    Register(#[source] ecf_runtime::Error),
    #[error("the secret `{name}` cannot be stored")]
    Secret {
        name: &'static str,
        source: ecf_runtime::Error,
    },
    #[error("the certification authority of this system cannot be made")]
    Authority(#[source] ecf_runtime::Error),
    #[error("the demo company cannot be made")]
    Demo(#[source] ecf_runtime::Error),
}

/// A running system.
pub struct Local {
    base_url: String,
    clock: Clock,
    demo: Demo,
    clients: Clients,
    provisioned: Provisioned,
    portal: Option<String>,
    embedded: Embedded,
    meter: Meter,
    /// Pollers and timers.
    work: Tasks,
    /// The gateway and the simulator on the one port. Open batches still need them.
    http: Tasks,
    // Declared last: the folder is unlocked only after all tasks have ended.
    _folder: StateFolder,
}

impl Local {
    /// Starts the whole system and returns when it serves requests.
    ///
    /// # Errors
    ///
    /// Names the part that did not start, and why.
    pub async fn start(options: &RunOptions) -> Result<Self, StartError> {
        // The port is bound first, so that a start on a taken port changes no state.
        let listener = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)))
            .await
            .map_err(|source| StartError::Listen {
                port: options.port,
                source,
            })?;
        let address = listener.local_addr().map_err(|source| StartError::Listen {
            port: options.port,
            source,
        })?;
        let folder = StateFolder::claim(&options.data)?;
        if options.reset {
            folder.reset()?;
        }
        let lapse = Lapse::of(&folder, options.speed, Clock::system().now())?;
        let base_url = format!("http://{address}");
        let simulator_url = options
            .simulator
            .clone()
            .unwrap_or_else(|| format!("{base_url}{SIMULATOR_PATH}"));

        let embedded = Embedded::start(ecf_embedded::Options {
            data_dir: Some(folder.aws()),
            port: 0,
            // The pollers that received these messages ended with the last run.
            release_in_flight: true,
            pace: lapse.pace(),
            latency: if options.aws_latency {
                Latency::ASSUMED
            } else {
                Latency::default()
            },
        })
        .await?;
        let config = ecf_store::local_config(embedded.endpoint_url());
        let stack = Stack::embedded(parameters(&base_url, &simulator_url, options))?;
        let provisioned = stack.provision(&config, STACK_NAME).await?;
        let clients = Clients::new(&config);
        // Secrets that an operator adds to a deployment. The simulator accepts any key.
        store_secret(&clients, &provisioned, OperatorSecret::TaxauthStatusKey, "local").await?;
        let authority = Authority::open(&folder.authority(), lapse.clock().now()).map_err(StartError::Authority)?;
        let trusted = authority.certificate_pem().map_err(StartError::Authority)? + ecf_simulator::AUTHORITY_PEM;
        store_secret(&clients, &provisioned, OperatorSecret::CertificateAuthorities, &trusted).await?;
        if options.portal.is_some() {
            store_secret(&clients, &provisioned, OperatorSecret::PortalSecret, PORTAL_SECRET).await?;
        }
        let clock = lapse.clock();
        write_environment(&folder, embedded.endpoint_url(), &stack, &provisioned)?;

        let (mut work, mut http) = (Tasks::default(), Tasks::default());
        let meter = Meter::default();
        let mut routed = Vec::new();
        for function in &stack.functions {
            let variables = provisioned.environment_of(&function.name).cloned().unwrap_or_default();
            let env = Env::of(variables);
            let of_function = |source| StartError::Function {
                function: function.name.clone(),
                source,
            };
            let asking = ecf_roles::clients_of(&function.name, &clients, &config);
            match mount(&function.name, &env, &asking, clock.clone()).map_err(of_function)? {
                Mounted::Http(router) => {
                    let router = allow_origins(router, &env).map_err(|error| of_function(error.into()))?;
                    routed.push((function, router));
                }
                Mounted::Queue(worker) => {
                    for source in &function.queues {
                        let url = provisioned.queue_url(&source.queue).unwrap_or_default().to_owned();
                        let metered = meter.of(&function.name);
                        let limit = lapse.time_limit(function.timeout);
                        let mapping = Mapping::new(url, source, limit, worker.clone(), metered);
                        for _ in 0..POLLERS {
                            let poller = pollers::poll(clients.sqs.clone(), mapping.clone(), work.stop.clone());
                            work.running.spawn(poller);
                        }
                    }
                }
                // `ecf-local operator` runs it in its own process.
                Mounted::Invoked(_) => {}
                Mounted::Timed(timed) => {
                    for schedule in &function.schedules {
                        let stop = work.stop.clone();
                        let every = lapse.sleep(schedule.rate);
                        let timer = timers::run(meter.of(&function.name), every, timed.clone(), stop);
                        work.running.spawn(timer);
                    }
                }
            }
        }
        let simulator = simulator(&folder, clock.clone())?;
        let gateway = Router::new()
            .fallback(front::serve)
            .with_state(Gateway::new(&stack.api, routed, &meter));
        let app = Router::new().nest(SIMULATOR_PATH, simulator).fallback_service(gateway);
        let stopped = http.stop.clone();
        http.running.spawn(async move {
            let serving = axum::serve(listener, app).with_graceful_shutdown(stopped.cancelled_owned());
            if let Err(error) = serving.await {
                tracing::error!(error = %error, "the gateway stopped");
            }
        });
        let demo = Demo::seed(&folder.demo(), &clients, &provisioned, &authority, &clock)
            .await
            .map_err(StartError::Demo)?;
        register::seed(&clients, &provisioned, clock.now())
            .await
            .map_err(StartError::Register)?;
        // Started last: the faults must not affect the set-up.
        embedded.misbehave(options.aws_faults);
        Ok(Self {
            base_url,
            clock,
            demo: demo.with_simulator(simulator_url),
            clients,
            provisioned,
            portal: options.portal.clone(),
            embedded,
            meter,
            work,
            http,
            _folder: folder,
        })
    }

    /// The API's base URL; paths begin with `/api/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The demo company and other data for scripts.
    pub fn demo(&self) -> &Demo {
        &self.demo
    }

    /// The portal that is notified of new companies, and the secret of its signatures.
    pub fn portal(&self) -> Option<(&str, &'static str)> {
        self.portal.as_deref().map(|url| (url, PORTAL_SECRET))
    }

    /// The system's clock.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The clients of the embedded services, for tests that inspect internal state.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The number of calls of each AWS operation since the start.
    pub fn aws_calls(&self) -> BTreeMap<String, u64> {
        self.embedded.calls()
    }

    /// The invocations of each function since the start.
    pub fn invocations(&self) -> BTreeMap<String, Invocations> {
        self.meter.so_far()
    }

    /// How long the oldest waiting message of each queue has waited, in the time of [`Local::clock`].
    pub fn oldest_messages(&self) -> BTreeMap<String, Duration> {
        self.embedded.oldest_messages()
    }

    /// The names of the template's resources in this system.
    pub fn provisioned(&self) -> &Provisioned {
        &self.provisioned
    }

    /// Stops the system: finishes open batches, then open requests, then closes the services' files.
    pub async fn shutdown(self) {
        self.work.finish(WORK_GRACE).await;
        self.http.finish(HTTP_GRACE).await;
        self.embedded.shutdown().await;
    }
}

/// Tasks that end when `stop` is cancelled.
#[derive(Default)]
struct Tasks {
    stop: CancellationToken,
    running: JoinSet<()>,
}

impl Tasks {
    /// Cancels the tasks and waits; aborts those that exceed `grace`.
    async fn finish(mut self, grace: Duration) {
        self.stop.cancel();
        let all = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("work was still under way when the system stopped; it is taken up again at the next start");
            self.running.shutdown().await;
        }
    }
}

/// Parameters of the local system that differ from the template's defaults.
fn parameters(base_url: &str, simulator_url: &str, options: &RunOptions) -> BTreeMap<String, String> {
    let urls = [
        "TaxauthEcfUrl",
        "TaxauthFcUrl",
        "TaxauthStatusUrl",
        "StampEcfUrl",
        "StampFcUrl",
    ];
    let urls = urls.map(|name| (name.to_owned(), simulator_url.to_owned()));
    urls.into_iter()
        .chain([
            // The local gateway speaks plain HTTP and its URLs contain no stage.
            ("PublicUrl".to_owned(), base_url.to_owned()),
            ("PortalUrl".to_owned(), options.portal.clone().unwrap_or_default()),
            ("AllowLoopbackTargets".to_owned(), "true".to_owned()),
            ("CorsOrigins".to_owned(), "*".to_owned()),
            // Here all callers share one IP address.
            ("SignupsPerHour".to_owned(), "1000".to_owned()),
            ("RegisterLookupsPerMinute".to_owned(), "1000".to_owned()),
        ])
        .chain(
            options
                .key_rate
                .map(|rate| ("KeyRequestsPerSecond".to_owned(), rate.to_string())),
        )
        .collect()
}

fn simulator(folder: &StateFolder, clock: Clock) -> Result<Router, ecf_simulator::StartError> {
    let options = ecf_simulator::Options {
        data: Some(folder.simulator()),
        clock: Arc::new(move || clock.now()),
        ..ecf_simulator::Options::default()
    };
    Simulator::router(&options)
}

/// Stores an additional secret, as an operator does. A secret of an earlier start stays.
async fn store_secret(
    clients: &Clients,
    provisioned: &Provisioned,
    secret: OperatorSecret,
    text: &str,
) -> Result<(), StartError> {
    let failed = |source| StartError::Secret {
        name: secret.name(),
        source,
    };
    let prefix = provisioned
        .environment_of("status")
        .and_then(|variables| variables.get("SECRET_PREFIX"));
    let prefix = prefix.ok_or_else(|| failed("the function `status` has no SECRET_PREFIX".into()))?;
    let kms_key = provisioned
        .environment_of("operator")
        .and_then(|variables| variables.get("SECRETS_KMS_KEY"));
    let created = clients
        .secretsmanager
        .create_secret()
        .name(format!("{prefix}/{}", secret.name()))
        .secret_string(text)
        .set_kms_key_id(kms_key.cloned())
        .send()
        .await;
    match created {
        Ok(_) => Ok(()),
        Err(error)
            if error
                .as_service_error()
                .is_some_and(|error| error.is_resource_exists_exception()) =>
        {
            Ok(())
        }
        Err(error) => Err(failed(error.into())),
    }
}

/// Writes each function's variables to the state folder, for `ecf-local env`.
fn write_environment(
    folder: &StateFolder,
    endpoint: &str,
    stack: &Stack,
    provisioned: &Provisioned,
) -> Result<(), StartError> {
    let functions: BTreeMap<_, _> = stack
        .functions
        .iter()
        .map(|function| {
            let mut variables = provisioned.environment_of(&function.name).cloned().unwrap_or_default();
            for (name, value) in [
                ("AWS_ENDPOINT_URL", endpoint),
                ("AWS_REGION", "us-east-1"),
                ("AWS_ACCESS_KEY_ID", "local"),
                ("AWS_SECRET_ACCESS_KEY", "local"),
            ] {
                variables.insert(name.to_owned(), value.to_owned());
            }
            (function.name.clone(), variables)
        })
        .collect();
    let file = folder.environment();
    std::fs::write(&file, json!(functions).to_string()).map_err(|source| StartError::State { folder: file, source })
}
