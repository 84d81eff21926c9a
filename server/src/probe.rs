//! `stratalog-server probe`: asks a running server whether it is ready, for where there is no other HTTP client.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::Config;

/// How long connecting, asking and answering may take, each.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why a server is not taken for ready.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Nobody answers.
    #[error("no answer from {host}:{port}: {reason}")]
    NoAnswer {
        /// The host that was asked.
        host: String,
        /// Its port.
        port: u16,
        /// What the system said.
        reason: io::Error,
    },
    /// It says that it is not, or is something else.
    #[error("not ready: {0}")]
    NotReady(String),
}

/// Asks the server of this configuration, on this machine.
pub fn probe(config: &Config) -> Result<(), ProbeError> {
    let host = reachable(&config.host);
    let status = ask(&host, config.port).map_err(|reason| ProbeError::NoAnswer {
        host: host.clone(),
        port: config.port,
        reason,
    })?;
    match status.split(' ').nth(1) {
        Some("200") => Ok(()),
        Some(_) | None => Err(ProbeError::NotReady(status)),
    }
}

/// Who listens on all addresses is asked on the machine's own.
fn reachable(host: &str) -> String {
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(all)) if all.is_unspecified() => "127.0.0.1".to_owned(),
        Ok(IpAddr::V6(all)) if all.is_unspecified() => "::1".to_owned(),
        Ok(_) | Err(_) => host.to_owned(),
    }
}

/// The status line of the answer.
fn ask(host: &str, port: u16) -> io::Result<String> {
    let address = (host, port).to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(4096).read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}
