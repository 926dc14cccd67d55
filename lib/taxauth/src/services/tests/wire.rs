//! A server that breaks one connection in a given way.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

/// What happens to a connection after the request.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wire {
    /// Closed without an answer.
    Closes,
    /// No answer, and not closed.
    Stalls,
    /// These bytes, then closed.
    Says(&'static str),
}

/// The address of a server that treats one connection in this way.
pub(super) fn wire(behaviour: Wire) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut buffer = [0; 65_536];
        let _ = stream.read(&mut buffer);
        match behaviour {
            Wire::Closes => {}
            Wire::Says(bytes) => {
                let _ = stream.write_all(bytes.as_bytes());
            }
            // Ends when the client disconnects.
            Wire::Stalls => while stream.read(&mut buffer).is_ok_and(|read| read > 0) {},
        }
    });
    format!("http://{address}")
}

/// An address without a server.
pub(super) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}
