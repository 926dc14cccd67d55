//! A server that mistreats one connection.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

/// What a connection does once its request is there.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wire {
    /// Closes without a word.
    Closes,
    /// Never answers.
    Stalls,
    /// Sends these bytes and closes.
    Says(&'static str),
}

/// The address of a server that treats one connection so.
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
            // Ends when the caller hangs up.
            Wire::Stalls => while stream.read(&mut buffer).is_ok_and(|read| read > 0) {},
        }
    });
    format!("http://{address}")
}

/// An address where nobody listens.
pub(super) fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}
