//! DynamoDB, S3, SQS and Secrets Manager on one loopback port, inside the calling process.
//!
//! The local system and the tests run the production code, including the AWS SDK, against this crate. It speaks the
//! real wire protocols, so the code above the SDK is the same as in production. Each service writes its state to the
//! data folder before it responds; a killed process loses no acknowledged write.
//!
//! Start reading at [`front`], which routes each request to its service:
//!
//! | module | service | made of |
//! |---|---|---|
//! | [`dynamodb`] | DynamoDB | the `dynoxide` crate, behind a proxy |
//! | [`s3`] | S3 | the `s3s` crate for the protocol; files and SQLite for the state |
//! | [`sqs`] | SQS | own code on SQLite |
//! | [`secrets`] | Secrets Manager | own code on SQLite |
//!
//! Only operations that have a caller are emulated. Any other request is rejected with an error that names the
//! operation. This crate's `README.md` lists the other differences from AWS.

mod aws_json;
mod calls;
mod clock;
mod data_dir;
mod dynamodb;
mod faults;
mod front;
mod latency;
mod s3;
mod secrets;
mod sqlite;
mod sqs;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::calls::Calls;
pub use crate::clock::Pace;
use crate::data_dir::DataDir;
pub use crate::faults::FaultRate;
use crate::faults::Faults;
use crate::front::Services;
pub use crate::latency::Latency;

/// The account that owns every queue, secret and bucket.
pub(crate) const ACCOUNT_ID: &str = "000000000000";

/// The region in the ARNs of this crate. Requests for any region are answered.
pub(crate) const REGION: &str = "us-east-1";

/// The secret access key of presigned S3 URLs.
///
/// A signature in the `Authorization` header is not verified. The signature of a presigned URL is, because tests rely
/// on its expiry and its fixed parameters.
pub const PRESIGN_SECRET_ACCESS_KEY: &str = "test";

/// How long a shutdown waits for open requests.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Data folder, port and speed of the services.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder of all state, created if missing; `None` stores the state in memory.
    pub data_dir: Option<PathBuf>,
    /// The loopback port; 0 picks a free port.
    pub port: u16,
    /// Makes messages visible at once that were in flight when the folder was last in use. Set it when all receivers
    /// ended with the process; otherwise these messages wait for their visibility timeout.
    pub release_in_flight: bool,
    /// The speed of the queues' delays.
    pub pace: Pace,
    /// How long each call takes, in real time at any pace.
    pub latency: Latency,
}

/// Why the services could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("port {port} on the loopback address cannot be listened on")]
    Listen { port: u16, source: std::io::Error },
    #[error("the data folder {} cannot be used", path.display())]
    DataDir { path: PathBuf, source: std::io::Error },
    #[error("the data folder {} is in use by another process", path.display())]
    DataDirInUse { path: PathBuf },
    #[error("the {service} database cannot be opened")]
    Database {
        service: &'static str,
        source: rusqlite::Error,
    },
    #[error(
        "the {service} database has layout {found}, expected {expected}: it was written by another version, start with an empty data folder"
    )]
    Layout {
        service: &'static str,
        found: i64,
        expected: i64,
    },
    #[error("the dynamodb database cannot be opened")]
    DynamoDb(#[source] dynoxide::DynoxideError),
    #[error("the threads of the embedded services cannot be started")]
    Runtime(#[source] std::io::Error),
}

/// The running services. Dropping the value stops them.
///
/// They run on their own threads. A caller that blocks its runtime does not block the services, and a test on a
/// single-threaded runtime works.
#[derive(Debug)]
pub struct Embedded {
    endpoint_url: String,
    server: Option<JoinHandle<()>>,
    faults: Faults,
    calls: Calls,
    /// The server owns them: their databases close on its threads.
    services: Weak<Services>,
    stop: watch::Sender<bool>,
    // Declared after `stop`, so that a drop signals the services before it ends their threads.
    threads: Threads,
    // Declared last: the folder is unlocked only after all threads have ended.
    _data_dir: DataDir,
}

impl Embedded {
    /// Opens or creates the databases and listens.
    ///
    /// # Errors
    ///
    /// When the port is taken, or the data folder is unusable, in use or of another layout version.
    pub async fn start(options: Options) -> Result<Embedded, StartError> {
        let data_dir = DataDir::claim(options.data_dir)?;
        let port = options.port;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .and_then(|listener| {
                listener.set_nonblocking(true)?;
                Ok(listener)
            })
            .map_err(|source| StartError::Listen { port, source })?;
        let address = listener
            .local_addr()
            .map_err(|source| StartError::Listen { port, source })?;
        let endpoint_url = format!("http://{address}");

        let threads = Threads::start()?;
        let (stop, stopping) = watch::channel(false);
        let (faults, calls) = (Faults::default(), Calls::default());
        let (server, services) = threads.run(|runtime| {
            let services = Services::open(
                &data_dir,
                &endpoint_url,
                options.pace,
                options.latency,
                faults.clone(),
                calls.clone(),
                stopping.clone(),
            )?;
            if options.release_in_flight {
                services.release_in_flight()?;
            }
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|source| StartError::Listen { port, source })?;
            let shared = Arc::downgrade(&services);
            Ok((runtime.spawn(front::serve(listener, services, stopping)), shared))
        })?;
        Ok(Embedded {
            endpoint_url,
            server: Some(server),
            faults,
            calls,
            services,
            stop,
            threads,
            _data_dir: data_dir,
        })
    }

    /// The endpoint of all four services, for the SDK's `endpoint_url` or `AWS_ENDPOINT_URL`.
    pub fn endpoint_url(&self) -> &str {
        &self.endpoint_url
    }

    /// Injects faults at this rate from now on; `None` stops them.
    pub fn misbehave(&self, rate: Option<FaultRate>) {
        self.faults.set(rate);
    }

    /// The number of requests since the start, by service and operation (`DynamoDB UpdateItem`, `S3 PUT`).
    pub fn calls(&self) -> BTreeMap<String, u64> {
        self.calls.so_far()
    }

    /// How long the oldest message of each queue has waited since it became visible, in the time of [`Options::pace`]. A
    /// queue without a visible message is omitted. Messages that a function is working on do not count.
    pub fn oldest_messages(&self) -> BTreeMap<String, Duration> {
        let services = self.services.upgrade();
        services.map(|services| services.oldest_messages()).unwrap_or_default()
    }

    /// Waits up to two seconds for the open requests, then stops.
    pub async fn shutdown(mut self) {
        self.stop.send_replace(true);
        if let Some(server) = self.server.take()
            && tokio::time::timeout(SHUTDOWN_GRACE, server).await.is_err()
        {
            tracing::warn!("requests were still under way when the embedded services stopped");
        }
        self.threads.join().await;
    }
}

/// The runtime of the services. A `Runtime` must not be dropped in async code, where an `Embedded` usually is dropped.
#[derive(Debug)]
struct Threads(Option<Runtime>);

impl Threads {
    fn start() -> Result<Threads, StartError> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("embedded-aws")
            .enable_all()
            .build()
            .map(|runtime| Threads(Some(runtime)))
            .map_err(StartError::Runtime)
    }

    /// Runs `set_up` inside the runtime, so that it may create sockets and spawn tasks.
    fn run<T>(&self, set_up: impl FnOnce(&Runtime) -> Result<T, StartError>) -> Result<T, StartError> {
        let runtime = self.0.as_ref().expect("the runtime is taken only by join and drop");
        let _inside = runtime.enter();
        set_up(runtime)
    }

    async fn join(&mut self) {
        if let Some(runtime) = self.0.take() {
            let stopped = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(SHUTDOWN_GRACE));
            // An error means that the caller's own runtime is shutting down; the threads end with it.
            let _ = stopped.await;
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
