//! Starting and stopping everything.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use ecf_embedded::Embedded;
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
use crate::lapse::Lapse;
use crate::mounted::{Mounted, mount};
use crate::options::RunOptions;
use crate::pollers::{self, Mapping, POLLERS};
use crate::register;
use crate::timers;

/// Where the simulated tax authority is mounted on the one port.
const SIMULATOR_PATH: &str = "/_simulator";
/// The stack's name; resources are called after it.
const STACK_NAME: &str = "ecf-local";
/// Signs what the portal is sent.
const PORTAL_SECRET: &str = "whsec_portal_of_the_local_system";
/// How long batches under way may take once a stop was asked for. The slowest wait for the tax authority; one that is cut
/// leaves a lease behind, and its receipt is looked up after the next start before it is sent again.
const WORK_GRACE: Duration = Duration::from_secs(10);
/// How long requests under way may take after that.
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
    /// Pollers and timers.
    work: Tasks,
    /// The gateway, and the simulator behind the same port: work under way still needs them.
    http: Tasks,
    // Last: the folder is free for the next start once nothing runs on it any more.
    _folder: StateFolder,
}

impl Local {
    /// Starts everything and returns when it answers.
    ///
    /// # Errors
    /// Says which part did not start and why.
    pub async fn start(options: &RunOptions) -> Result<Self, StartError> {
        // The port first: whoever finds it taken has touched nobody's state.
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
            // The pollers that had received them ended with the last run.
            release_in_flight: true,
            pace: lapse.pace(),
        })
        .await?;
        let config = ecf_store::local_config(embedded.endpoint_url());
        let stack = Stack::embedded(parameters(&base_url, &simulator_url, options))?;
        let provisioned = stack.provision(&config, STACK_NAME).await?;
        let clients = Clients::new(&config);
        // Secrets that an operator adds to a deployment. The simulator takes any key.
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
                        let mapping = Mapping::new(url, source, lapse.time_limit(function.timeout), worker.clone());
                        for _ in 0..POLLERS {
                            let poller = pollers::poll(clients.sqs.clone(), mapping.clone(), work.stop.clone());
                            work.running.spawn(poller);
                        }
                    }
                }
                // `ecf-local operator` runs it, in a process of its own.
                Mounted::Invoked(_) => {}
                Mounted::Timed(timed) => {
                    for schedule in &function.schedules {
                        let stop = work.stop.clone();
                        let timer = timers::run(function.name.clone(), lapse.sleep(schedule.rate), timed.clone(), stop);
                        work.running.spawn(timer);
                    }
                }
            }
        }
        let simulator = simulator(&folder, clock.clone())?;
        let gateway = Router::new()
            .fallback(front::serve)
            .with_state(Gateway::new(&stack.api, routed));
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
        // Only now: what plays the deployment must not fail.
        embedded.misbehave(options.aws_faults);
        Ok(Self {
            base_url,
            clock,
            demo: demo.with_simulator(simulator_url),
            clients,
            provisioned,
            portal: options.portal.clone(),
            embedded,
            work,
            http,
            _folder: folder,
        })
    }

    /// Where the API answers; paths begin with `/api/v1`.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The demo company and what else a script wants to know.
    pub fn demo(&self) -> &Demo {
        &self.demo
    }

    /// The portal that is notified of new companies, and the secret of its signatures.
    pub fn portal(&self) -> Option<(&str, &'static str)> {
        self.portal.as_deref().map(|url| (url, PORTAL_SECRET))
    }

    /// The time that the system lives in.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The clients of the embedded services, for tests that look behind the scenes.
    pub fn clients(&self) -> &Clients {
        &self.clients
    }

    /// How often each AWS operation was called since the start.
    pub fn aws_calls(&self) -> BTreeMap<String, u64> {
        self.embedded.calls()
    }

    /// What the template's resources are called here.
    pub fn provisioned(&self) -> &Provisioned {
        &self.provisioned
    }

    /// Stops: batches under way are finished, then requests under way, then the services close their files.
    pub async fn shutdown(self) {
        self.work.finish(WORK_GRACE).await;
        self.http.finish(HTTP_GRACE).await;
        self.embedded.shutdown().await;
    }
}

/// Tasks that end when they are told to stop.
#[derive(Default)]
struct Tasks {
    stop: CancellationToken,
    running: JoinSet<()>,
}

impl Tasks {
    /// Tells them to stop and waits; who takes too long is cut.
    async fn finish(mut self, grace: Duration) {
        self.stop.cancel();
        let all = async { while self.running.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("work was still under way when the system stopped; it is taken up again at the next start");
            self.running.shutdown().await;
        }
    }
}

/// What the local system sets otherwise than a deployment.
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
            // The gateway of the local system speaks plain HTTP and has no stage in its addresses.
            ("PublicUrl".to_owned(), base_url.to_owned()),
            ("PortalUrl".to_owned(), options.portal.clone().unwrap_or_default()),
            ("AllowLoopbackTargets".to_owned(), "true".to_owned()),
            ("CorsOrigins".to_owned(), "*".to_owned()),
            // Everybody comes from one address here.
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

/// Stores a secret beside the deployment's own, as an operator does. One of an earlier start stays.
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

/// Keeps each function's variables in the state folder, for `ecf-local env`.
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
