//! A server and executors that know each other by certificates, and those whom they do not know.

#[path = "../../tests/harness/certificates.rs"]
#[allow(dead_code, unreachable_pub, reason = "not all of what suites share is used here")]
mod certificates;
mod process;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use certificates::Authority;
use process::{Executor, PATH, Server, free_address, has_worked, insert_chains};
use tempfile::TempDir;

const NAME: &str = "stratalog-cluster";
/// How somebody begins who speaks HTTP/2 without TLS.
const IN_CLEAR: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// A server that knows its executors.
struct Cluster {
    server: Server,
    listen: SocketAddr,
    authority: Authority,
    data: TempDir,
}

impl Cluster {
    fn start() -> Cluster {
        let data = tempfile::tempdir().expect("a folder for a while");
        let authority = Authority::new(data.path(), "authority.crt");
        let (certificate, key) = authority.files(data.path(), "server", &[NAME]);
        let listen = free_address();
        let variables = [
            ("SERVICE_LIMITS__QUERY_TIMEOUT_MS", "120000".to_owned()),
            ("SERVICE_CLUSTER__LISTEN", listen.to_string()),
            ("SERVICE_CLUSTER__STORE", data.path().join("store").display().to_string()),
            ("SERVICE_CLUSTER__TLS__AUTHORITY", authority.file.display().to_string()),
            ("SERVICE_CLUSTER__TLS__CERTIFICATE", certificate.display().to_string()),
            ("SERVICE_CLUSTER__TLS__KEY", key.display().to_string()),
        ];
        let server = Server::start_with(&data.path().join("data"), &variables);
        Cluster { server, listen, authority, data }
    }

    fn store(&self) -> String {
        self.data.path().join("store").display().to_string()
    }

    /// An executor that has this certificate.
    fn executor(&self, authority: &Path, files: &(PathBuf, PathBuf)) -> Command {
        let mut command = Executor::command(self.listen, &self.store(), &self.data.path().join("executor"));
        command.arg("--tls-authority").arg(authority);
        command.arg("--tls-certificate").arg(&files.0).arg("--tls-key").arg(&files.1);
        command
    }
}

/// What somebody says who ends by themselves.
fn refused(command: &mut Command) -> String {
    let Output { status, stderr, .. } = command.output().expect("a process");
    let said = String::from_utf8(stderr).expect("a text");
    assert!(!status.success(), "{said}");
    said
}

/// Two ports in a row of an address.
fn two_ports(address: Ipv4Addr) -> SocketAddr {
    loop {
        let first = TcpListener::bind((address, 0)).expect("a port").local_addr().expect("its address");
        if TcpListener::bind((address, first.port() + 1)).is_ok() {
            return first;
        }
    }
}

#[test]
fn members_work_together() {
    let cluster = Cluster::start();
    let mut connection = cluster.server.connect();
    insert_chains(&mut connection);
    let here = connection.run(PATH, "here")["rows"].clone();
    let files = cluster.authority.files(cluster.data.path(), "executor", &[NAME]);
    let listen = two_ports(Ipv4Addr::new(127, 0, 0, 3));
    let mut command = cluster.executor(&cluster.authority.file, &files);
    command.args(["--listen", &listen.to_string()]);
    let mut executor = Executor::of(command);
    let begun = Instant::now();
    let folder = cluster.data.path().join("executor");
    while !has_worked(&folder) {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not work");
        let answer = connection.run(PATH, "cluster");
        assert_eq!(answer["rows"], here, "{answer}");
    }

    // No door opens to those who say nothing of who they are.
    let next = SocketAddr::new(listen.ip(), listen.port() + 1);
    for address in [cluster.listen, listen, next] {
        let mut stream = TcpStream::connect(address).expect("somebody listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a time");
        stream.write_all(IN_CLEAR).expect("it is sent");
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        // An alert of TLS, and not a frame of HTTP/2.
        assert!(answer.is_empty() || answer.first() == Some(&21), "{address}: {answer:?}");
    }
    let answer = connection.run(PATH, "cluster");
    assert_eq!(answer["rows"], here, "{answer}");
    executor.kill();
}

#[test]
fn others_are_not_admitted() {
    let cluster = Cluster::start();
    let folder = cluster.data.path();
    let other = Authority::new(folder, "other.crt");

    // It does not know the server, or would not be known by it.
    let files = other.files(folder, "stranger", &[NAME]);
    let said = refused(&mut cluster.executor(&other.file, &files));
    assert!(said.contains("certificate"), "{said}");
    let said = refused(&mut cluster.executor(&cluster.authority.file, &files));
    assert!(said.contains("has not taken this executor"), "{said}");
    // The authority has given it a certificate for something else.
    let files = cluster.authority.files(folder, "browser", &["www.example.org"]);
    refused(&mut cluster.executor(&cluster.authority.file, &files));
    // It has none.
    refused(&mut Executor::command(cluster.listen, &cluster.store(), &folder.join("executor")));
    let mut command = Executor::command(cluster.listen, &cluster.store(), &folder.join("executor"));
    let said = refused(command.arg("--tls-key").arg(&files.1));
    assert!(said.contains("three files"), "{said}");
    let said = refused(&mut cluster.executor(&folder.join("nothing.crt"), &files));
    assert!(said.contains("cannot use"), "{said}");

    // It is a member, but somebody has its port, or there is no store.
    let files = cluster.authority.files(folder, "member", &[NAME]);
    let mut command = cluster.executor(&cluster.authority.file, &files);
    let said = refused(command.args(["--listen", &cluster.listen.to_string()]));
    assert!(said.contains("cannot listen on"), "{said}");
    std::fs::remove_dir_all(folder.join("store")).expect("nobody needs it now");
    let said = refused(&mut cluster.executor(&cluster.authority.file, &files));
    assert!(said.contains("cannot use the store"), "{said}");
}

#[test]
fn nothing_leaves_a_machine_without_tls() {
    let data = tempfile::tempdir().expect("a folder for a while");
    let far = "192.0.2.1:50050".parse().expect("an address");
    let said = refused(&mut Executor::command(far, &data.path().display().to_string(), data.path()));
    assert!(said.contains("it takes TLS"), "{said}");
    let mut server = Command::new(env!("CARGO_BIN_EXE_stratalog-cluster"));
    server.args(["server", "--port", "0", "--data-dir"]).arg(data.path());
    let said = refused(server.env("SERVICE_CLUSTER__LISTEN", "0.0.0.0:50050"));
    assert!(said.contains("it takes TLS"), "{said}");
}
