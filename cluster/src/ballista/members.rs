//! `Members`: who may take part where servers and executors are on several machines. Each of them shows a certificate of the same
//! authority, for one name that they all have, and what they say is encrypted.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::extension::EndpointOverrideFn;
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use futures::Stream;
use futures::stream::poll_fn;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::{ParsedCertificate, WebPkiClientVerifier};
use tokio_rustls::rustls::version::TLS13;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tokio_rustls::server::TlsStream;
use tonic::transport::{Certificate, ClientTlsConfig, Endpoint, Identity};

use crate::settings::TlsFiles;

/// The name that the certificate of each member is for.
const NAME: &str = "stratalog-cluster";
/// How long a handshake may take.
const HANDSHAKE: Duration = Duration::from_secs(5);
/// So many handshakes go on at once.
const HANDSHAKES: usize = 128;
/// How long to wait when the system has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// Those who have a certificate. Files are read for each connection, so other ones count from then on.
#[derive(Debug, Clone)]
pub(crate) struct Members {
    files: Arc<TlsFiles>,
}

impl Members {
    /// Those who show a certificate as these files say, if there are any. The files are tried. Without them, the addresses have to be
    /// of this machine alone.
    pub(crate) fn new(tls: Option<&TlsFiles>, addresses: &[SocketAddr]) -> Result<Option<Members>, String> {
        let Some(files) = tls else {
            return match addresses.iter().find(|address| !address.ip().is_loopback()) {
                Some(address) => Err(format!(
                    "{address} is not of this machine alone: it takes TLS, with an authority, a certificate and a key"
                )),
                None => Ok(None),
            };
        };
        if let Some(address) = addresses.iter().find(|address| address.ip().is_unspecified()) {
            return Err(format!("{address} is no address that others find: name one that this machine has"));
        }
        let members = Members { files: Arc::new(files.clone()) };
        members.receiving()?;
        members.calling()?;
        Ok(Some(members))
    }

    /// How members are called: what makes an endpoint one of theirs.
    pub(crate) fn endpoints(&self) -> EndpointOverrideFn {
        let members = self.clone();
        Arc::new(move |endpoint| members.endpoint(endpoint))
    }

    fn endpoint(&self, endpoint: Endpoint) -> Result<Endpoint, Box<dyn std::error::Error + Send + Sync>> {
        let address = endpoint.uri();
        let endpoint = match (address.scheme_str(), address.authority()) {
            (Some("http"), Some(authority)) => {
                // What an endpoint is cannot be changed, so it is made anew.
                let config = GrpcClientConfig::default();
                create_grpc_client_endpoint(format!("https://{authority}"), Some(&config))?
            }
            _ => endpoint,
        };
        Ok(endpoint.tls_config(self.calling()?)?)
    }

    fn calling(&self) -> Result<ClientTlsConfig, String> {
        let TlsFiles { authority, certificate, key } = &*self.files;
        let read = |path: &Path| std::fs::read(path).map_err(|error| unusable(path, &error));
        Ok(ClientTlsConfig::new()
            .domain_name(NAME)
            .ca_certificate(Certificate::from_pem(read(authority)?))
            .identity(Identity::from_pem(read(certificate)?, read(key)?)))
    }

    fn receiving(&self) -> Result<ServerConfig, String> {
        let TlsFiles { authority, certificate, key } = &*self.files;
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        for certificate in certificates(authority)? {
            roots.add(certificate).map_err(|error| unusable(authority, &error))?;
        }
        let signed = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
        let signed = signed.build().map_err(|error| unusable(authority, &error))?;
        let shown = certificates(certificate)?;
        let own = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(key, &error))?;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .and_then(|config| config.with_client_cert_verifier(signed).with_single_cert(shown, own))
            .map_err(|error| unusable(key, &error))?;
        config.alpn_protocols = vec![b"h2".to_vec()];
        Ok(config)
    }

    /// The connections of members, as long as somebody takes them.
    pub(crate) fn admitted(
        &self,
        listener: TcpListener,
    ) -> impl Stream<Item = io::Result<TlsStream<TcpStream>>> + Send + use<> {
        let members = self.clone();
        let (admitted, mut next) = mpsc::channel(16);
        tokio::spawn(async move {
            let handshakes = Arc::new(Semaphore::new(HANDSHAKES));
            loop {
                let Ok(place) = Arc::clone(&handshakes).acquire_owned().await else { return };
                let accepted = tokio::select! {
                    () = admitted.closed() => return,
                    accepted = listener.accept() => accepted,
                };
                let (stream, from) = match accepted {
                    Ok(accepted) => accepted,
                    Err(error) => {
                        tracing::warn!(%error, "cannot accept a connection");
                        sleep(PAUSE).await;
                        continue;
                    }
                };
                let (members, admitted) = (members.clone(), admitted.clone());
                tokio::spawn(async move {
                    let received = members.admit(stream).await;
                    drop(place);
                    match received {
                        Ok(stream) => drop(admitted.send(Ok(stream)).await),
                        // Somebody has looked whether anybody is there.
                        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                        Err(error) => tracing::info!(%from, %error, "not admitted to the cluster"),
                    }
                });
            }
        });
        poll_fn(move |context| next.poll_recv(context))
    }

    async fn admit(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        stream.set_nodelay(true)?;
        let acceptor = TlsAcceptor::from(Arc::new(self.receiving().map_err(io::Error::other)?));
        let stream = timeout(HANDSHAKE, acceptor.accept(stream)).await??;
        let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
        let shown = shown.ok_or_else(|| io::Error::other("no certificate"))?;
        let is_member = ParsedCertificate::try_from(shown)
            .and_then(|shown| verify_server_name(&shown, &ServerName::try_from(NAME).expect("a name")));
        is_member.map_err(io::Error::other)?;
        Ok(stream)
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
    match all {
        Ok(none) if none.is_empty() => Err(unusable(file, &"there is no certificate in it")),
        Ok(all) => Ok(all),
        Err(error) => Err(unusable(file, &error)),
    }
}

fn unusable(file: &Path, why: &dyn fmt::Display) -> String {
    format!("cannot use {} for TLS: {why}", file.display())
}
