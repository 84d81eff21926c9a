//! The accept loop: counts connections, bounds how long their headers may take, and tells requests who is there.

use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use warp::filters::BoxedFilter;
use warp::reply::Response;

use super::cors::Cors;
use super::{Problem, forwarded, gate, routes, versioned};
use crate::app::App;
use crate::limits::Place;
use crate::net::{Stream, Wire};

/// How long the headers of a request may take, and a kept connection may wait for the next one.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long to wait when the system has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// Serves connections until the server is told to stop.
pub(crate) async fn accept(listener: &TcpListener, app: Arc<App>) {
    let routes = routes(&app);
    let mut stopped = pin!(app.stopped());
    loop {
        let accepted = tokio::select! {
            () = &mut stopped => return,
            accepted = listener.accept() => accepted,
        };
        let (stream, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(place) = app.places.connection() else {
            // Without a handshake, nothing could be said to somebody who expects TLS.
            if app.tls.is_none() {
                tokio::spawn(turn_away(stream));
            }
            continue;
        };
        // Replies are whole frames: waiting for more to send would only delay them.
        let _ = stream.set_nodelay(true);
        let (app, routes) = (app.clone(), routes.clone());
        tokio::spawn(async move {
            let _counted = app.watch();
            let Some(tls) = &app.tls else { return serve(stream, address.ip(), place, routes, &app).await };
            let accepted = tokio::select! {
                () = app.stopped() => return,
                accepted = tls.accept(stream) => accepted,
            };
            match accepted {
                Ok(stream) => serve(stream, address.ip(), place, routes, &app).await,
                Err(error) => tracing::debug!(%address, %error, "no TLS with a connection"),
            }
        });
    }
}

/// Answers the requests of one connection until either end closes it.
async fn serve(
    stream: impl Stream + 'static,
    peer: IpAddr,
    place: Place,
    routes: BoxedFilter<(Response,)>,
    app: &Arc<App>,
) {
    let (wire, link) = Wire::new(stream, peer, place);
    let service = TowerToHyperService::new(warp::service(routes));
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        let client = forwarded::client(peer, request.headers(), &app.trusted_proxies);
        request.extensions_mut().insert(link.of(client));
        let cors = Cors::of(request.headers(), &app.origins);
        let answer = gate::admit(&request, app, peer, client).map(|()| match cors.preflight(&request) {
            Some(answer) => Either::Left(ready(Ok(answer))),
            None => Either::Right(service.call(request)),
        });
        async move {
            let response = match answer {
                Ok(answer) => answer.await?,
                Err(problem) => problem.into_response(),
            };
            Ok::<_, Infallible>(versioned(cors.say(response)))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    let mut connection = pin!(http.serve_connection(TokioIo::new(wire), service).with_upgrades());
    let outcome = tokio::select! {
        outcome = &mut connection => outcome,
        () = app.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(%peer, %error, "a connection ended early");
    }
}

/// Answers without reading: the server has no place for this connection.
async fn turn_away(mut stream: TcpStream) {
    let body = Problem::TooManyConnections.to_json();
    let response = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         x-api-version: v{}\r\nretry-after: 1\r\nconnection: close\r\n\r\n{body}",
        body.len(),
        stratalog_protocol::VERSION,
    );
    let written: io::Result<()> = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    }
    .await;
    if let Err(error) = written {
        tracing::debug!(%error, "a connection without a place ended early");
    }
}
