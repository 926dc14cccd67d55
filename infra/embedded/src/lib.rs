//! DynamoDB, S3, SQS and Secrets Manager on one loopback port, inside the calling process.
//!
//! The local system and the tests run the production code, the AWS SDK included, against this crate: it speaks the
//! real wire protocols, so nothing above the SDK knows where it is. Each service keeps what it answered in the
//! data folder before it answers; a killed process loses nothing that was acknowledged.
//!
//! Start reading at [`front`], which takes each request to the service it names:
//!
//! | module | service | made of |
//! |---|---|---|
//! | [`dynamodb`] | DynamoDB | the `dynoxide` crate, behind a proxy |
//! | [`s3`] | S3 | the `s3s` crate for the protocol, files and SQLite of our own below it |
//! | [`sqs`] | SQS | own code on SQLite |
//! | [`secrets`] | Secrets Manager | own code on SQLite |
//!
//! What has no caller is not emulated: a request for it is refused with an error that names it. What else differs from AWS
//! is listed in this crate's `README.md`.

mod aws_json;
mod calls;
mod clock;
mod data_dir;
mod dynamodb;
mod faults;
mod front;
mod s3;
mod secrets;
mod sqlite;
mod sqs;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
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

/// The account that owns every queue, secret and bucket here.
pub(crate) const ACCOUNT_ID: &str = "000000000000";

/// The region named in the ARNs this crate makes; requests for any region are answered.
pub(crate) const REGION: &str = "us-east-1";

/// The secret access key that presigned S3 addresses must have been made with.
///
/// Requests that carry their signature in the `Authorization` header are taken whatever they are signed with. A
/// presigned address is verified, because its expiry and its fixed parameters are worth testing.
pub const PRESIGN_SECRET_ACCESS_KEY: &str = "test";

/// How long requests that are under way may take once a shutdown was asked for.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(2);

/// Where the services keep their state and where they listen.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The folder that holds all state, made when missing; `None` keeps everything in memory.
    pub data_dir: Option<PathBuf>,
    /// The loopback port; 0 takes any free one.
    pub port: u16,
    /// Shows messages again that were in flight when the folder was last in use, instead of waiting for their
    /// visibility time-out. For a caller whose receivers all ended with the process: nobody else can be holding them.
    pub release_in_flight: bool,
    /// How fast the waits of the queues pass.
    pub pace: Pace,
}

/// Why the services could not be started.
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

/// The running services; dropping the value stops them.
///
/// They run on threads of their own, so a caller that blocks its runtime does not block them, and a test on a
/// single-threaded runtime works.
#[derive(Debug)]
pub struct Embedded {
    endpoint_url: String,
    server: Option<JoinHandle<()>>,
    faults: Faults,
    calls: Calls,
    stop: watch::Sender<bool>,
    // After `stop`, so that a drop tells the services before it takes their threads away.
    threads: Threads,
    // Last: the folder is free for the next start once nothing runs on it any more.
    _data_dir: DataDir,
}

impl Embedded {
    /// Opens or creates the databases and listens.
    ///
    /// # Errors
    ///
    /// When the port is taken, or the data folder is unusable, in use or of another layout.
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
        let server = threads.run(|runtime| {
            let services = Services::open(
                &data_dir,
                &endpoint_url,
                options.pace,
                faults.clone(),
                calls.clone(),
                stopping.clone(),
            )?;
            if options.release_in_flight {
                services.release_in_flight()?;
            }
            let listener =
                tokio::net::TcpListener::from_std(listener).map_err(|source| StartError::Listen { port, source })?;
            Ok(runtime.spawn(front::serve(listener, services, stopping)))
        })?;
        Ok(Embedded {
            endpoint_url,
            server: Some(server),
            faults,
            calls,
            stop,
            threads,
            _data_dir: data_dir,
        })
    }

    /// The address of all four services, for the SDK's `endpoint_url` or `AWS_ENDPOINT_URL`.
    pub fn endpoint_url(&self) -> &str {
        &self.endpoint_url
    }

    /// From now on lets calls fail, get lost or wait as often as this says; `None` ends it.
    pub fn misbehave(&self, rate: Option<FaultRate>) {
        self.faults.set(rate);
    }

    /// How often each operation was called since the start, by service and operation (`DynamoDB UpdateItem`, `S3 PUT`).
    pub fn calls(&self) -> BTreeMap<String, u64> {
        self.calls.so_far()
    }

    /// Lets the requests under way finish, for up to two seconds, and stops.
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

/// The runtime of the services. A `Runtime` must not be dropped from async code, which is where ours usually is.
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

    /// Runs `set_up` inside the runtime, so that it may make sockets and spawn.
    fn run<T>(&self, set_up: impl FnOnce(&Runtime) -> Result<T, StartError>) -> Result<T, StartError> {
        let runtime = self.0.as_ref().expect("the runtime is taken only by join and drop");
        let _inside = runtime.enter();
        set_up(runtime)
    }

    async fn join(&mut self) {
        if let Some(runtime) = self.0.take() {
            let stopped = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(SHUTDOWN_GRACE));
            // A failure means that the caller's own runtime is being torn down; the threads end with it.
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
