//! A server of a test on loopback.

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::Router;
use tokio::{net::TcpListener, task::JoinHandle};

/// A server on a free port; dropping it closes it.
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

/// What a server shares with its test. One that panicked holding the lock has failed already.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
