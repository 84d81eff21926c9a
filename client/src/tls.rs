//! The stream to a server, behind TLS where the address says so.
//!
//! A certificate is always checked: for the name in the address, and against authorities that the system trusts or that
//! a file names. There is no way to leave that out.

use crate::address::{Address, Security};
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// Bytes to and from a server.
pub(crate) type Stream = Box<dyn Bytes>;

/// Whatever carries bytes both ways.
pub(crate) trait Bytes: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Bytes for S {}

/// Connects; the error says why not.
pub(crate) async fn connect(address: &Address) -> Result<Stream, String> {
    let plain = async {
        let stream = TcpStream::connect((address.host(), address.port())).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    };
    let failed = |error: std::io::Error| error.to_string();
    match address.security() {
        Security::Plain => Ok(Box::new(plain.await.map_err(failed)?)),
        #[cfg(unix)]
        Security::Inside(inside) => {
            let stream = inside.dial().map_err(failed)?;
            stream.set_nonblocking(true).map_err(failed)?;
            Ok(Box::new(tokio::net::UnixStream::from_std(stream).map_err(failed)?))
        }
        Security::Tls { authorities } => {
            // What is wrong here is wrong before anybody is asked.
            let connector = TlsConnector::from(Arc::new(configuration(authorities.as_deref())?));
            let name = ServerName::try_from(address.host().to_owned()).map_err(|error| error.to_string())?;
            let stream = connector.connect(name, plain.await.map_err(failed)?).await;
            Ok(Box::new(stream.map_err(|error| format!("TLS: {error}"))?))
        }
    }
}

fn configuration(authorities: Option<&Path>) -> Result<ClientConfig, String> {
    let roots = match authorities {
        Some(file) => read(file).map_err(|problem| format!("{}: {problem}", file.display()))?,
        None => of_the_system()?,
    };
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(|error| error.to_string())?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The certificates in a PEM file.
fn read(file: &Path) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| error.to_string())? {
        let certificate = certificate.map_err(|error| error.to_string())?;
        roots.add(certificate).map_err(|error| error.to_string())?;
    }
    if roots.is_empty() { Err("there is no certificate in it".to_owned()) } else { Ok(roots) }
}

/// The certificates that the system trusts. Of those, some may be too strange to be read.
fn of_the_system() -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        return Err(
            "the system has no certificates of authorities: name a file of them (--ca-file)".to_owned()
        );
    }
    Ok(roots)
}
