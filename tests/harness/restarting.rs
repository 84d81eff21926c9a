//! A server that comes back at the same place, with the same data.

use std::path::Path;

use tempfile::TempDir;

use crate::server::Server;

/// A server, or none at the moment.
#[derive(Debug)]
pub struct Restarting {
    server: Option<Server>,
    port: String,
    folder: TempDir,
}

impl Restarting {
    /// Starts one on a free port, in a folder of its own.
    pub fn start() -> Restarting {
        let folder = TempDir::new().expect("a temporary folder");
        let server = Server::start_in(folder.path(), &[]);
        let port = server.address().rsplit(':').next().expect("a port").to_owned();
        Restarting { server: Some(server), port, folder }
    }

    /// The one that runs.
    pub fn server(&self) -> &Server {
        self.server.as_ref().expect("the server runs")
    }

    /// Its folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Kills it, as `kill -9` does.
    pub fn kill(&mut self) {
        self.server = None;
    }

    /// Kills it if it runs, and starts another one on the same port.
    pub fn restart(&mut self) {
        self.kill();
        self.server = Some(Server::start_in(self.folder.path(), &[("SERVICE_HTTP__PORT", &self.port)]));
    }
}
