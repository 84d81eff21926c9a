//! TLS: the certificate that the server shows, read again when its files change.
//!
//! A handshake runs on the task of its connection and has a time limit, so nobody waits for it at the door.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;

/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// How often it is looked whether the files have changed.
const LOOK: Duration = Duration::from_secs(2);

/// The files of a certificate, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those that it is signed with.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Why there is no TLS with these files.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {} for TLS: {reason}", .file.display())]
pub struct TlsError {
    file: PathBuf,
    reason: String,
}

/// What connections are encrypted with.
#[derive(Debug)]
pub(crate) struct Tls {
    shown: ArcSwap<ServerConfig>,
    files: Mutex<Watched>,
}

#[derive(Debug)]
struct Watched {
    files: TlsFiles,
    /// What was there when they were read, or tried.
    read: Marks,
}

/// By what it is seen that files have changed: of each, when and how long.
type Marks = [Option<(SystemTime, u64)>; 2];

impl Tls {
    /// Reads the files.
    pub(crate) fn open(files: &TlsFiles) -> Result<Tls, TlsError> {
        let read = marks(files);
        let shown = ArcSwap::from_pointee(read_configuration(files)?);
        Ok(Tls { shown, files: Mutex::new(Watched { files: files.clone(), read }) })
    }

    /// Takes over what another one has read.
    pub(crate) fn replace(&self, other: Tls) {
        let mut watched = self.files.lock();
        *watched = other.files.into_inner();
        self.shown.store(other.shown.into_inner());
    }

    /// Speaks TLS with whoever has connected.
    pub(crate) async fn accept(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        let acceptor = TlsAcceptor::from(self.shown.load_full());
        timeout(HANDSHAKE, acceptor.accept(stream)).await?
    }

    /// Looks for other files for ever.
    pub(crate) async fn keep(&self) {
        let mut seen = None;
        loop {
            sleep(LOOK).await;
            let (files, read) = {
                let watched = self.files.lock();
                (watched.files.clone(), watched.read)
            };
            let looked = tokio::task::spawn_blocking(move || (marks(&files), files)).await;
            let Ok((now, files)) = looked else { continue };
            // Two files are not written at once: they are read when they have been the same twice.
            if now != read && seen.replace(now) == Some(now) {
                self.read_again(&files, now).await;
            }
        }
    }

    async fn read_again(&self, files: &TlsFiles, now: Marks) {
        let reading = tokio::task::spawn_blocking({
            let files = files.clone();
            move || read_configuration(&files)
        });
        let Ok(read) = reading.await else { return };
        let mut watched = self.files.lock();
        if watched.files != *files {
            return;
        }
        watched.read = now;
        match read {
            Ok(configuration) => {
                self.shown.store(Arc::new(configuration));
                tracing::info!("the certificate {} was read again", files.certificate.display());
            }
            Err(error) => tracing::error!("the certificate stays the one that it was: {error}"),
        }
    }
}

fn marks(files: &TlsFiles) -> Marks {
    let mark = |path: &Path| {
        let found = std::fs::metadata(path).ok()?;
        Some((found.modified().ok()?, found.len()))
    };
    [mark(&files.certificate), mark(&files.key)]
}

/// The certificate that is shown first, to which the key belongs.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let wrong = |reason: String| TlsError { file: file.to_owned(), reason };
    let read: Result<Vec<_>, pem::Error> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    match read {
        Ok(none) if none.is_empty() => Err(wrong("there is no certificate in it".to_owned())),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(wrong(error.to_string())),
    }
}

fn read_configuration(files: &TlsFiles) -> Result<ServerConfig, TlsError> {
    let certificates = certificates(&files.certificate)?;
    let wrong = |reason: &dyn ToString| TlsError { file: files.key.clone(), reason: reason.to_string() };
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| match error {
        pem::Error::NoItemsFound => wrong(&"there is no private key in it"),
        error => wrong(&error),
    })?;
    let mut configuration = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(certificates, key))
        .map_err(|error| wrong(&error))?;
    configuration.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(configuration)
}
