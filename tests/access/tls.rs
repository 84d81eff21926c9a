//! TLS, of a real proxy in front of a real server and of the server itself, with certificates made for the occasion.

use std::net::SocketAddr;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use std::time::{Duration, Instant};

use stratalog_client::{Address, Client, Credentials, ExecuteOptions};
use stratalog_tests::certificates::Authority;
use stratalog_tests::cli;
use stratalog_tests::server::{PASSWORD, Server};
use stratalog_tests::times::PATIENCE;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Exit code: no connection.
const NO_CONNECTION: Option<i32> = Some(3);

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
        assert_eq!(String::from_utf8_lossy(&output.stdout), "A,X\n1,2\n", "{output:?}");
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

/// A server that speaks TLS by itself, with a file of its configuration.
struct Speaking {
    server: Server,
    folder: TempDir,
    ours: Authority,
}

const NAMES: [&str; 2] = ["localhost", "127.0.0.1"];

impl Speaking {
    fn start() -> Speaking {
        let folder = TempDir::new().expect("a folder");
        let ours = Authority::new(folder.path(), "ours.pem");
        ours.files(folder.path(), "one", &NAMES);
        configure(folder.path(), "one");
        let mut command = Server::command(folder.path(), &[]);
        let server = Server::launch(command.arg("server.toml")).expect("it starts");
        Speaking { server, folder, ours }
    }

    fn port(&self) -> &str {
        self.server.address().rsplit(':').next().expect("a port")
    }

    /// The Rust client.
    async fn client(&self) -> Client {
        let address: Address = format!("wss://localhost:{}", self.port()).parse().expect("an address");
        let address = address.authorities(&self.ours.file);
        Client::connect_to(&address, Credentials::password("admin", PASSWORD)).await.expect("a connection")
    }

    /// A connection of somebody who believes this authority.
    async fn connect(&self, authority: &Path) -> std::io::Result<TlsStream<TcpStream>> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_file_iter(authority).expect("a file") {
            roots.add(certificate.expect("a certificate")).expect("an authority");
        }
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        let stream = TcpStream::connect(self.server.address()).await?;
        let name = ServerName::try_from("localhost").expect("a name");
        TlsConnector::from(Arc::new(config)).connect(name, stream).await
    }

    /// Waits until the server shows a certificate of this authority.
    async fn shows(&self, authority: &Authority) {
        let until = Instant::now() + PATIENCE;
        while self.connect(&authority.file).await.is_err() {
            assert!(Instant::now() < until, "another certificate:\n{}", self.server.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until this stands in its log.
    async fn says(&self, part: &str) {
        let until = Instant::now() + PATIENCE;
        while !self.server.log().contains(part) {
            assert!(Instant::now() < until, "`{part}` is not in\n{}", self.server.log());
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn hang_up(&self) {
        let pid = self.server.pid().to_string();
        assert!(
            std::process::Command::new("kill").args(["-HUP", &pid]).status().expect("kill runs").success()
        );
    }
}

fn configure(folder: &Path, name: &str) {
    let text = format!("[http.tls]\ncertificate = \"{name}.crt\"\nkey = \"{name}.key\"\n");
    std::fs::write(folder.join("server.toml"), text).expect("written");
}

/// Asks for a path; answers the status.
async fn status(mut stream: TlsStream<TcpStream>, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.expect("an answer, and an end that says so");
    String::from_utf8_lossy(&answer).split(' ').nth(1).expect("a status").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_speaks_tls_by_itself_with_every_client() {
    let speaking = Speaking::start();
    let (port, authority) = (speaking.port().to_owned(), &speaking.ours.file);
    assert!(speaking.server.log().contains("listening on https://127.0.0.1:"), "{}", speaking.server.log());
    let client = speaking.client().await;
    client.execute("+edge(1, 2)", ExecuteOptions::default()).await.expect("an insert");
    for url in [format!("wss://localhost:{port}/ws"), format!("https://127.0.0.1:{port}")] {
        let output = query(&url, Some(authority)).await;
        assert_eq!(String::from_utf8_lossy(&output.stdout), "A,X\n1,2\n", "{output:?}");
        refused(&query(&url, None).await, "UnknownIssuer");
    }
    // Large answers, both ways.
    let numbers: Vec<String> =
        (0..50_000).map(|number| format!("({number},\"a longer text {number}\")")).collect();
    let insert = format!("+many[{}]", numbers.join(","));
    client.execute(&insert, ExecuteOptions::default()).await.expect("an insert");
    assert_eq!(
        client.execute("?many(X, Y)", ExecuteOptions::default()).await.expect("rows").rows.len(),
        50_000
    );
    let stream = || speaking.connect(authority);
    assert_eq!(status(stream().await.expect("TLS"), "/ready").await, "200");
    assert_eq!(status(stream().await.expect("TLS"), "/metrics").await, "401");
    // Nobody gets anything in clear.
    let mut plain = TcpStream::connect(speaking.server.address()).await.expect("it listens");
    plain.write_all(b"GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n").await.expect("sent");
    let mut answer = Vec::new();
    // Closed, or reset.
    let _ = plain.read_to_end(&mut answer).await;
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP"), "{answer:?}");
    let mut probe = Server::command(speaking.folder.path(), &[("SERVICE_HTTP__PORT", &port)]);
    let output = run_to_end(&mut probe, &["probe", "--config", "server.toml"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "stratalog-server: ready\n");
    speaking.ours.files(speaking.folder.path(), "other", &NAMES);
    configure(speaking.folder.path(), "other");
    let mut probe = Server::command(speaking.folder.path(), &[("SERVICE_HTTP__PORT", &port)]);
    let output = run_to_end(&mut probe, &["probe", "--config", "server.toml"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("another certificate"), "{output:?}");
}

fn run_to_end(command: &mut std::process::Command, arguments: &[&str]) -> Output {
    command.args(arguments).output().expect("it runs")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_is_read_again_when_its_files_change_and_on_a_hangup() {
    let speaking = Speaking::start();
    let folder = speaking.folder.path();
    let open = speaking.client().await;
    // What cannot be used leaves the one that is.
    std::fs::write(folder.join("one.crt"), "nothing of the kind").expect("written");
    speaking.says("the certificate stays the one that it was").await;
    speaking.shows(&speaking.ours).await;
    let second = Authority::new(folder, "second.pem");
    second.files(folder, "one", &NAMES);
    speaking.shows(&second).await;
    // Who has connected before stays.
    open.execute("+edge(1, 2)", ExecuteOptions::default()).await.expect("an insert");
    let third = Authority::new(folder, "third.pem");
    third.files(folder, "elsewhere", &NAMES);
    configure(folder, "elsewhere");
    speaking.hang_up();
    speaking.shows(&third).await;
    configure(folder, "missing");
    speaking.hang_up();
    speaking.says("cannot use missing.crt for TLS").await;
    speaking.shows(&third).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn handshakes_that_do_not_end_hold_up_nobody_and_are_ended() {
    let speaking = Speaking::start();
    let mut silent = Vec::new();
    for _ in 0..100 {
        silent.push(TcpStream::connect(speaking.server.address()).await.expect("it listens"));
    }
    let stream = speaking.connect(&speaking.ours.file).await.expect("TLS");
    assert_eq!(status(stream, "/ready").await, "200");
    for mut stream in silent {
        let ended = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 8])).await;
        assert!(matches!(ended, Ok(Ok(0) | Err(_))), "it is still open");
    }
}

#[test]
fn a_server_without_what_tls_takes_does_not_start() {
    let folder = TempDir::new().expect("a folder");
    let (ours, others) = (Authority::new(folder.path(), "a.pem"), Authority::new(folder.path(), "b.pem"));
    let (certificate, _) = ours.files(folder.path(), "a", &NAMES);
    let (_, other_key) = others.files(folder.path(), "b", &NAMES);
    let start = |certificate: Option<&Path>, key: Option<&Path>| {
        let mut command = Server::command(folder.path(), &[]);
        let set = [("SERVICE_HTTP__TLS__CERTIFICATE", certificate), ("SERVICE_HTTP__TLS__KEY", key)];
        for (name, file) in set {
            file.map(|file| command.env(name, file));
        }
        let refusal = Server::launch(&mut command).expect_err("it cannot start");
        (refusal.code, refusal.log)
    };
    for (certificate, key, code, told) in [
        (Some(certificate.as_path()), None, 2, "`http.tls.key`: must be given with http.tls.certificate"),
        (None, Some(other_key.as_path()), 2, "`http.tls.certificate`: must be given with http.tls.key"),
        (Some(&certificate), Some(&other_key), 1, "b.key for TLS: "),
        (Some(&certificate), Some(&certificate), 1, "there is no private key in it"),
        (Some(&other_key), Some(&other_key), 1, "there is no certificate in it"),
        (Some(Path::new("/none")), Some(&other_key), 1, "cannot use /none for TLS: "),
    ] {
        let (exit, log) = start(certificate, key);
        assert_eq!(exit, Some(code), "{log}");
        assert!(log.contains(told), "`{told}` is not in {log}");
    }
}
