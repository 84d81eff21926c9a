//! The command line behind TLS: a real server, a real proxy in front of it, certificates made for the occasion.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use stratalog_tests::cli;
use stratalog_tests::server::{PASSWORD, Server};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// Exit code: no connection.
const NO_CONNECTION: Option<i32> = Some(3);

/// Somebody who issues certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its own certificate.
    file: PathBuf,
}

impl Authority {
    fn new(folder: &Path, name: &str) -> Authority {
        let key = KeyPair::generate().expect("a key");
        let mut params = CertificateParams::new(Vec::new()).expect("no names");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let file = folder.join(name);
        std::fs::write(&file, params.self_signed(&key).expect("a certificate").pem()).expect("written");
        Authority { issuer: Issuer::new(params, key), file }
    }

    /// How a server of these names shows who it is.
    fn identity(&self, names: &[&str]) -> ServerConfig {
        let key = KeyPair::generate().expect("a key");
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let params = CertificateParams::new(names).expect("names");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(
                vec![certificate.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).expect("a key"),
            )
            .expect("the key belongs to the certificate")
    }
}

/// A proxy that ends TLS in front of a server; it runs as long as the test.
async fn proxy(server: &Server, identity: ServerConfig) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let (acceptor, behind) = (TlsAcceptor::from(Arc::new(identity)), server.address().to_owned());
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (acceptor, behind) = (acceptor.clone(), behind.clone());
            tokio::spawn(async move {
                // Clients that do not believe it leave in the middle.
                let Ok(mut outside) = acceptor.accept(stream).await else { return };
                let mut inside = TcpStream::connect(behind).await.expect("the server listens");
                let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    address
}

/// Runs a query; without a file of authorities the system's are asked.
async fn query(url: &str, authorities: Option<&Path>) -> Output {
    let mut command = cli::command();
    command.args(["--url", url, "query", "?edge(1, X)", "--format", "csv"]);
    command.env("STRATALOG_PASSWORD", PASSWORD).env_remove("STRATALOG_CA_FILE");
    if let Some(file) = authorities {
        command.arg("--ca-file").arg(file);
    }
    run(command).await
}

async fn run(mut command: std::process::Command) -> Output {
    let run = move || command.output().expect("the command line runs");
    tokio::task::spawn_blocking(run).await.expect("no panic")
}

fn refused(output: &Output, reason: &str) {
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), NO_CONNECTION, "{error}");
    assert!(error.contains(reason), "`{reason}` is not in: {error}");
    assert!(output.stdout.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_is_believed_that_proves_its_name() {
    let (server, folder) = (Server::start(), TempDir::new().expect("a folder"));
    server.log_in().await.rows("+edge(1, 2)").await;
    let ours = Authority::new(folder.path(), "ours.pem");
    let others = Authority::new(folder.path(), "others.pem");
    let port = proxy(&server, ours.identity(&["localhost", "127.0.0.1"])).await.port();
    for url in [format!("wss://localhost:{port}/ws"), format!("https://127.0.0.1:{port}")] {
        let output = query(&url, Some(&ours.file)).await;
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1,X\n1,2\n", "{output:?}");
        assert!(output.status.success());
        refused(&query(&url, None).await, "UnknownIssuer");
        refused(&query(&url, Some(&others.file)).await, "UnknownIssuer");
    }
    let mut command = cli::command();
    command.args([
        "--url",
        &format!("wss://localhost:{port}"),
        "query",
        "?edge(1, X)",
        "--format",
        "csv",
        "--no-header",
    ]);
    command.env("STRATALOG_PASSWORD", PASSWORD).env("STRATALOG_CA_FILE", &ours.file);
    assert_eq!(String::from_utf8_lossy(&run(command).await.stdout), "1,2\n");

    let elsewhere = proxy(&server, ours.identity(&["db.example.com"])).await.port();
    let output = query(&format!("wss://localhost:{elsewhere}"), Some(&ours.file)).await;
    refused(&output, "not valid for name \"localhost\"");
}

#[tokio::test]
async fn what_is_wrong_with_tls_is_told() {
    let (server, folder) = (Server::start(), TempDir::new().expect("a folder"));
    let ours = Authority::new(folder.path(), "ours.pem");
    let url = format!("wss://{}/ws", server.address());
    // Nobody speaks TLS there.
    refused(&query(&url, Some(&ours.file)).await, "TLS: ");
    let missing = folder.path().join("missing.pem");
    refused(&query(&url, Some(&missing)).await, "missing.pem: ");
    let empty = folder.path().join("empty.pem");
    std::fs::write(&empty, "nothing of the kind").expect("written");
    refused(&query(&url, Some(&empty)).await, "empty.pem: there is no certificate in it");
}
