//! The accept loop: counts connections, bounds how long their headers may take, and tells requests who is there.
//!
//! Those for whom there is no place are looked at all the same: they may ask for a probe, or be administrators.

use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::Either;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use warp::filters::BoxedFilter;
use warp::http::{HeaderValue, StatusCode, header};
use warp::reply::Response;

use super::cors::Cors;
use super::{Problem, forwarded, gate, routes, versioned};
use crate::app::App;
use crate::limits::{Origin, Standing, Visit};
use crate::net::{Stream, Wire, prepare};

/// How long somebody for whom there is no place may take to say what they want.
const VISIT: Duration = Duration::from_secs(1);

/// How long to wait when the system has no file descriptors left.
const PAUSE: Duration = Duration::from_millis(50);

/// What a client asks.
type Request = hyper::Request<hyper::body::Incoming>;

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
        let peer = address.ip().to_canonical();
        let from = Origin { peer, is_proxy: forwarded::is_trusted(peer, &app.trusted_proxies) };
        let standing = app.places.connection(from);
        let (app, routes) = (app.clone(), routes.clone());
        tokio::spawn(async move {
            let _counted = app.watch();
            match standing {
                Standing::Guest { .. } => begin(stream, from, standing, routes, &app).await,
                Standing::Visitor(ref visit) => {
                    let visit = visit.clone();
                    receive(stream, from, visit, standing, routes, &app).await;
                }
            }
        });
    }
}

/// Serves connections that come from this very process.
pub(crate) struct Inside {
    app: Arc<App>,
    routes: BoxedFilter<(Response,)>,
}

impl Inside {
    /// For an application that nothing listens for.
    pub(crate) fn new(app: Arc<App>) -> Inside {
        Inside { routes: routes(&app), app }
    }

    /// What answers them.
    pub(crate) fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Serves one of them until it ends.
    pub(crate) fn serve<S: Stream + 'static>(&self, stream: S) -> impl Future<Output = ()> + Send + use<S> {
        let from = Origin { peer: Ipv4Addr::LOCALHOST.into(), is_proxy: false };
        let (app, routes, standing) =
            (Arc::clone(&self.app), self.routes.clone(), self.app.places.connection(from));
        async move {
            let _counted = app.watch();
            serve(stream, from, standing, routes, &app).await;
        }
    }
}

/// Serves somebody for whom there is no place, until the room is needed for the next one.
async fn receive(
    stream: TcpStream,
    from: Origin,
    visit: Visit,
    standing: Standing,
    routes: BoxedFilter<(Response,)>,
    app: &Arc<App>,
) {
    let mut first = [0];
    let has_asked = tokio::select! {
        biased;
        () = visit.over() => false,
        asked = timeout(VISIT, stream.peek(&mut first)) => matches!(asked, Ok(Ok(1))),
    };
    if !has_asked {
        // Without a handshake, nothing could be said to somebody who expects TLS.
        if app.tls.is_none() {
            turn_away(stream, visit.why().into()).await;
        }
        return;
    }
    tokio::select! {
        () = begin(stream, from, standing, routes, app) => {}
        () = visit.over() => tracing::debug!(peer = %from.peer, "a connection without a place was ended"),
    }
}

/// Serves a connection, after its handshake if it is encrypted.
async fn begin(
    stream: TcpStream,
    from: Origin,
    standing: Standing,
    routes: BoxedFilter<(Response,)>,
    app: &Arc<App>,
) {
    if let Err(error) = prepare(&stream, app.limits.longest_send) {
        tracing::debug!(peer = %from.peer, %error, "a connection ended before it began");
        return;
    }
    let Some(tls) = &app.tls else { return serve(stream, from, standing, routes, app).await };
    let accepted = tokio::select! {
        () = app.stopped() => return,
        accepted = tls.accept(stream) => accepted,
    };
    match accepted {
        Ok(stream) => serve(stream, from, standing, routes, app).await,
        Err(error) => tracing::debug!(peer = %from.peer, %error, "no TLS with a connection"),
    }
}

/// Answers the requests of a connection until either end closes it, or a socket is made of it.
async fn serve(
    stream: impl Stream + 'static,
    from: Origin,
    standing: Standing,
    routes: BoxedFilter<(Response,)>,
    app: &Arc<App>,
) {
    let is_guest = matches!(standing, Standing::Guest { .. });
    let head_timeout = if is_guest { app.limits.request_head } else { app.limits.request_head.min(VISIT) };
    let (wire, link) = Wire::new(stream, from, standing);
    let service = TowerToHyperService::new(warp::service(routes));
    let service = service_fn(move |mut request: Request| {
        let link = link.of(forwarded::client(from.peer, request.headers(), &app.trusted_proxies));
        let cors = Cors::of(request.headers(), &app.origins);
        let admitted = gate::admit(&request, app, &link);
        request.extensions_mut().insert(link);
        let answer = admitted.map(|()| match cors.preflight(&request) {
            Some(answer) => Either::Left(ready(Ok(answer))),
            None => Either::Right(service.call(request)),
        });
        async move {
            let response = match answer {
                Ok(answer) => answer.await?,
                Err(problem) => problem.into_response(),
            };
            let mut response = versioned(cors.say(response));
            if !is_guest && response.status() != StatusCode::SWITCHING_PROTOCOLS {
                response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
            }
            Ok::<_, Infallible>(response)
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(head_timeout);
    let mut connection = pin!(http.serve_connection(TokioIo::new(wire), service).with_upgrades());
    let outcome = tokio::select! {
        outcome = &mut connection => outcome,
        () = app.stopped() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = outcome {
        tracing::debug!(peer = %from.peer, %error, "a connection ended early");
    }
}

/// Answers without reading: the server has no place for this connection.
async fn turn_away(mut stream: TcpStream, why: Problem) {
    let (body, status) = (why.to_json(), why.status());
    let mut response = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
         x-api-version: v{}\r\nconnection: close\r\n",
        body.len(),
        stratalog_protocol::VERSION,
    );
    why.headers().iter().for_each(|(name, value)| response += &format!("{name}: {value}\r\n"));
    response += &format!("\r\n{body}");
    // It is the first that is sent, so there is room for it; whoever is gone needs no answer.
    let written: io::Result<()> = async {
        stream.write_all(response.as_bytes()).await?;
        stream.shutdown().await
    }
    .await;
    if let Err(error) = written {
        tracing::debug!(%error, "a connection without a place ended early");
    }
}
