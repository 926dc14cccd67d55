//! The tax authority's services, simulated on one loopback port.
//!
//! A client calls `{base}/{ambiente}/{servicio}/…` and gets the authority's answers: seeds and tokens, track ids and
//! verdicts, summaries, queries, approvals, annulments, status. Documents are checked in earnest (signature, structure,
//! delegation, sequence, references, arithmetic) by code that shares nothing with the service under test. Under
//! `/_control/`, tests configure faults and read the received documents (README.md).
//!
//! Start reading at [`Simulator::start`], then `services` (the addresses), `judge` (the verdicts), `fault`.

mod answer;
mod call;
mod control;
mod data_test;
mod dates;
mod document;
mod emisorreceptor;
mod encf;
mod environment;
mod facts;
mod failure;
mod fault;
mod judge;
mod params;
mod reception;
mod services;
mod settings;
mod signature;
mod state;
mod structure;
mod token;
mod upload;
mod verdict;
mod xml;

use std::{
    fmt,
    net::Ipv4Addr,
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::Router;
use jiff::{SignedDuration, Timestamp};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::state::{State, StateError};

/// How long a shutdown waits for open requests. A fault may delay a request for minutes.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// The certification authority of the simulated issuer's certificate, in PEM. A system that trusts it accepts this
/// issuer's certificate. The authority's private key is not stored anywhere.
pub const AUTHORITY_PEM: &str = include_str!("emisorreceptor/authority.pem");

/// The simulator's source of time: tests move it, a running system reads the host's clock.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Start options of a simulator.
#[derive(Clone)]
pub struct Options {
    /// Loopback port; 0 picks a free port.
    pub port: u16,
    /// Folder of the SQLite file; `None` stores the state in memory.
    pub data: Option<PathBuf>,
    /// How long a document stays "En Proceso" after its reception.
    pub verdict_delay: Duration,
    /// Source of time.
    pub clock: Clock,
}

impl Default for Options {
    #[expect(
        clippy::disallowed_methods,
        reason = "a program of its own has nobody else to ask for the time"
    )]
    fn default() -> Self {
        Self {
            port: 0,
            data: None,
            verdict_delay: Duration::from_millis(600),
            clock: Arc::new(Timestamp::now),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("port", &self.port)
            .field("data", &self.data)
            .field("verdict_delay", &self.verdict_delay)
            .finish_non_exhaustive()
    }
}

/// Why a simulator could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The port is taken or not allowed.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Listen {
        /// The requested port.
        port: u16,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The folder of the database cannot be made.
    #[error("cannot make the folder {}", folder.display())]
    Folder {
        /// The requested folder.
        folder: PathBuf,
        /// The operating system's error.
        source: std::io::Error,
    },
    /// The database does not open or contains unreadable data.
    #[error("cannot open the simulator's database")]
    Database(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl From<StateError> for StartError {
    fn from(error: StateError) -> Self {
        Self::Database(Box::new(error))
    }
}

/// State that all services share.
#[derive(Clone)]
pub(crate) struct App(Arc<Shared>);

pub(crate) struct Shared {
    pub(crate) state: State,
    /// Locked while a document is checked and stored.
    pub(crate) judging: Mutex<()>,
    clock: Clock,
    verdict_delay: Duration,
}

impl App {
    fn open(options: &Options) -> Result<Self, StartError> {
        if let Some(folder) = &options.data {
            std::fs::create_dir_all(folder).map_err(|source| StartError::Folder {
                folder: folder.clone(),
                source,
            })?;
        }
        Ok(Self(Arc::new(Shared {
            state: State::open(options.data.as_deref())?,
            judging: Mutex::new(()),
            clock: Arc::clone(&options.clock),
            verdict_delay: options.verdict_delay,
        })))
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.0.clock)()
    }

    /// The delay set through the control service, otherwise the delay of the start options.
    pub(crate) fn verdict_delay(&self) -> SignedDuration {
        let delay = self
            .state
            .settings()
            .verdict_delay_ms
            .map_or(self.0.verdict_delay, Duration::from_millis);
        SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX)
    }
}

impl std::ops::Deref for App {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App").finish_non_exhaustive()
    }
}

/// A running simulator.
#[derive(Debug)]
pub struct Simulator {
    base_url: String,
    stop: oneshot::Sender<()>,
    server: JoinHandle<std::io::Result<()>>,
}

impl Simulator {
    /// Opens the state, listens on loopback and serves until [`Simulator::shutdown`].
    ///
    /// # Errors
    /// When the port is taken or the database does not open.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        let router = Self::router(&options)?;
        let listen = |source| StartError::Listen {
            port: options.port,
            source,
        };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))
            .await
            .map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let (stop, stopped) = oneshot::channel();
        let server = axum::serve(listener, router).with_graceful_shutdown(async {
            // An error means that the sender was dropped together with the simulator: stop as well.
            let _ = stopped.await;
        });
        let server = tokio::spawn(server.into_future());
        Ok(Self {
            base_url: format!("http://{address}"),
            stop,
            server,
        })
    }

    /// `http://127.0.0.1:{port}`, without a trailing slash.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The services as a router, to be mounted in another server; `port` is not used.
    ///
    /// # Errors
    /// When the database does not open.
    pub fn router(options: &Options) -> Result<Router, StartError> {
        Ok(services::router(&App::open(options)?))
    }

    /// Stops listening, and waits up to one second for open requests.
    pub async fn shutdown(self) {
        let Self { stop, mut server, .. } = self;
        let _ = stop.send(());
        if tokio::time::timeout(TIME_LIMIT, &mut server).await.is_err() {
            server.abort();
        }
    }
}
