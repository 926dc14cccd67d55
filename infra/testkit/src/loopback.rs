//! An HTTP server on loopback for tests.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::Router;
use tokio::{net::TcpListener, task::JoinHandle};

/// A server on a free port; dropping the value closes it.
#[derive(Debug)]
pub(crate) struct Loopback {
    pub(crate) address: SocketAddr,
    server: JoinHandle<()>,
}

impl Loopback {
    pub(crate) async fn serve(router: Router) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("a loopback port is free");
        let address = listener.local_addr().expect("a bound port has an address");
        let server = tokio::spawn(async move {
            axum::serve(listener, router)
                .await
                .expect("the server serves until it is dropped");
        });
        Self { address, server }
    }
}

impl Drop for Loopback {
    fn drop(&mut self) {
        self.server.abort();
    }
}

/// Locks state that a server shares with its test. A poisoned lock is ignored: the test that panicked has already
/// failed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
