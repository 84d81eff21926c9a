//! Agents over HTTP: the streamable transport. They share one connection, in which nothing of a session is kept.

use super::Agent;
use crate::notices::Notices;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// How long nobody is let in where nobody can be.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until it is stopped. Only requests that name this machine are taken, and none that a page of another site makes.
pub(super) async fn serve(agent: &Agent, listen: SocketAddr, notices: Notices) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("{listen}: {error}");
    let listener = TcpListener::bind(listen).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    let config = StreamableHttpServerConfig::default().enforce_origin_validation();
    let service = StreamableHttpService::new(
        {
            let agent = agent.clone();
            move || Ok(agent.clone())
        },
        Arc::new(LocalSessionManager::default()),
        config,
    );
    notices.note(&format!("agents are served at http://{bound}/mcp"));
    loop {
        let Ok((socket, _)) = listener.accept().await else {
            // So many are open that no more can be; some will end.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let service = TowerToHyperService::new(service.clone());
        // Who goes away while it is answered is nobody's fault.
        tokio::spawn(async move {
            let _ = Builder::new(TokioExecutor::new()).serve_connection(TokioIo::new(socket), service).await;
        });
    }
}
