//! A store that speaks the protocol of S3 on a free port, over a folder: what is put there can be looked at, and spoilt.

use std::fs;
use std::net;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;

/// The one bucket that there is.
pub const BUCKET: &str = "vault";
const ACCESS_KEY: &str = "AKIAVAULT";
const SECRET_KEY: &str = "hidden-in-the-cellar";

/// A store. It ends with this value.
pub struct ObjectStore {
    folder: TempDir,
    url: String,
    presence: watch::Sender<Presence>,
    /// None only while this is dropped.
    runtime: Option<Runtime>,
}

/// What a store does with its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It answers.
    There,
    /// It hangs up on everybody.
    Away,
    /// It listens to nobody, and hangs up on nobody who comes.
    Silent,
}

impl ObjectStore {
    /// Starts one.
    pub fn start() -> ObjectStore {
        ObjectStore::start_with(None)
    }

    /// The same, with TLS if it has an identity.
    pub fn start_with(identity: Option<ServerConfig>) -> ObjectStore {
        let folder = TempDir::new().expect("a temporary folder");
        fs::create_dir(folder.path().join(BUCKET)).expect("a bucket");
        let mut service = S3ServiceBuilder::new(FileSystem::new(folder.path()).expect("a store"));
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("threads");
        let listener = net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it listens").port();
        let scheme = if identity.is_some() { "https" } else { "http" };
        let acceptor = identity.map(|identity| TlsAcceptor::from(Arc::new(identity)));
        let (presence, seen) = watch::channel(Presence::There);
        runtime.spawn(accept(listener, acceptor, service.build(), seen));
        ObjectStore { folder, url: format!("{scheme}://localhost:{port}"), presence, runtime: Some(runtime) }
    }

    /// The variables by which a client finds it, and is known there.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ENDPOINT_URL", self.url.clone()),
            ("AWS_REGION", "eu-central-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
        ]
    }

    /// Where a file of the bucket is on disk.
    pub fn path(&self, key: &str) -> PathBuf {
        self.folder.path().join(BUCKET).join(key)
    }

    /// The names in a folder of the bucket, sorted.
    pub fn names(&self, folder: &str) -> Vec<String> {
        let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        // The store notes beside each file what it was told about it.
        let names = entries(&self.path(folder)).filter(|path| has_files(path)).filter_map(name);
        let mut names: Vec<String> = names.filter(|name| !name.starts_with('.')).collect();
        names.sort();
        names
    }

    /// What it does from now on.
    pub fn be(&self, presence: Presence) {
        self.presence.send_replace(presence);
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// A folder of a bucket is there as long as something is in it; one of a disk stays.
fn has_files(path: &Path) -> bool {
    !path.is_dir() || entries(path).any(|path| has_files(&path))
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        // Tests that are tasks may not wait for it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn accept(
    listener: net::TcpListener,
    acceptor: Option<TlsAcceptor>,
    service: S3Service,
    presence: watch::Receiver<Presence>,
) {
    listener.set_nonblocking(true).expect("a socket of this process");
    let listener = TcpListener::from_std(listener).expect("a runtime");
    while let Ok((socket, _)) = listener.accept().await {
        let (acceptor, service, mut presence) = (acceptor.clone(), service.clone(), presence.clone());
        let now = *presence.borrow_and_update();
        tokio::spawn(async move {
            let serving = async {
                match (now, acceptor) {
                    (Presence::Away, _) => {}
                    (Presence::Silent, _) => std::future::pending().await,
                    (Presence::There, None) => serve(socket, service).await,
                    (Presence::There, Some(acceptor)) => {
                        if let Ok(socket) = acceptor.accept(socket).await {
                            serve(socket, service).await;
                        }
                    }
                }
            };
            tokio::select! {
                () = serving => {}
                _ = presence.changed() => {}
            }
        });
    }
}

async fn serve(socket: impl AsyncRead + AsyncWrite + Unpin + Send, service: S3Service) {
    // Whoever hangs up is not waited for.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(socket), service).await;
}
