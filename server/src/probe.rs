//! `stratalog-server probe`: asks a running server whether it is ready, for where there is no other HTTP client.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error as RustlsError, SignatureScheme, Stream,
};

use crate::Config;
use crate::tls;

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
    let shown = config.tls().map_err(io::Error::other);
    let shown = shown.and_then(|files| files.map(|files| certificate(&files.certificate)).transpose());
    let status = shown
        .and_then(|certificate| ask(&host, config.port, certificate))
        .map_err(|reason| ProbeError::NoAnswer { host: host.clone(), port: config.port, reason })?;
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

/// The status line of the answer; with a certificate, of the server that shows this one.
fn ask(host: &str, port: u16, certificate: Option<CertificateDer<'static>>) -> io::Result<String> {
    let address = (host, port).to_socket_addrs()?.next().ok_or(io::ErrorKind::AddrNotAvailable)?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    match certificate {
        None => exchange(&mut stream),
        Some(certificate) => {
            let name = ServerName::from(address.ip());
            let mut session =
                ClientConnection::new(Arc::new(believing(certificate)?), name).map_err(io::Error::other)?;
            exchange(&mut Stream::new(&mut session, &mut stream))
        }
    }
}

fn exchange(stream: &mut (impl Read + Write)) -> io::Result<String> {
    stream.write_all(b"GET /ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.take(4096).read_to_end(&mut answer)?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// The certificate that the server shows.
fn certificate(file: &Path) -> io::Result<CertificateDer<'static>> {
    let first = tls::certificates(file).map_err(io::Error::other)?.into_iter().next();
    first.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Believes whoever has the key of this certificate. Its name and its authority say nothing here: the server is asked by
/// its address, and known by its file.
fn believing(certificate: CertificateDer<'static>) -> io::Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Arc::new(Known { certificate, provider: provider.clone() });
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().map_err(io::Error::other)?;
    Ok(builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth())
}

#[derive(Debug)]
struct Known {
    certificate: CertificateDer<'static>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Known {
    fn verify_server_cert(
        &self,
        shown: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, RustlsError> {
        match *shown == self.certificate {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(RustlsError::General("the server shows another certificate".to_owned())),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, shown, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        shown: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, RustlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, shown, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
