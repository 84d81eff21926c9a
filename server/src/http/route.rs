//! The filters that take the requests of an endpoint: who may ask, as its kind says, and how it is answered.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use warp::Filter;
use warp::filters::BoxedFilter;
use warp::http::{HeaderMap, Method};
use warp::reply::Response;

use super::endpoint::{Endpoint, File, Kind};
use super::{Problem, basic, bearer, no_endpoint, page, read_only};
use crate::app::App;
use crate::net::Link;
use crate::queries::off_thread;

impl Endpoint {
    /// Filters that take the requests of this endpoint, and no others.
    pub(super) fn routes(&self, app: &Arc<App>) -> Vec<BoxedFilter<(Response,)>> {
        match self.kind {
            Kind::Probe(answer) => vec![probe(app, self.path, answer)],
            Kind::Keyed(answer) => vec![keyed(app, self.path, answer)],
            Kind::Page(answer) => vec![shown_to_users(app, self.path, answer)],
            Kind::Home(answer) => vec![home(app, self.path, answer)],
            Kind::Files(files) => files.iter().map(|file| shown(self.path, file)).collect(),
            Kind::Console(answer) if app.has_console => vec![console(app, self.path, answer)],
            Kind::Console(_) => Vec::new(),
            Kind::Socket(route) => vec![route(app)],
        }
    }
}

fn at(path: &str) -> BoxedFilter<()> {
    at_start(path).and(warp::path::end()).boxed()
}

fn at_start(path: &str) -> BoxedFilter<()> {
    let parts = path.split('/').filter(|part| !part.is_empty());
    parts.fold(warp::any().boxed(), |path, part| path.and(warp::path(part.to_owned())).boxed())
}

fn probe(
    app: &Arc<App>,
    path: &str,
    answer: fn(Arc<App>) -> BoxFuture<'static, Response>,
) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    at(path)
        .and(warp::method())
        .then(move |method: Method| {
            let app = app.clone();
            async move {
                match read_only(&method) {
                    Ok(()) => answer(app).await,
                    Err(problem) => problem.into_response(),
                }
            }
        })
        .boxed()
}

fn keyed(app: &Arc<App>, path: &str, answer: fn(&App) -> Response) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    at(path)
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .then(move |method: Method, headers: HeaderMap| {
            let app = app.clone();
            async move {
                match bearer::check(&headers, &app.accounts).and_then(|()| read_only(&method)) {
                    Ok(()) => made(app, answer).await,
                    Err(problem) => problem.into_response(),
                }
            }
        })
        .boxed()
}

fn shown_to_users(app: &Arc<App>, path: &str, answer: fn(&App) -> Response) -> BoxedFilter<(Response,)> {
    let app = app.clone();
    at(path)
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .and(warp::ext::optional::<Link>())
        .then(move |method: Method, headers: HeaderMap, link: Option<Link>| {
            let app = app.clone();
            async move {
                let mut allowed = bearer::check(&headers, &app.accounts);
                if allowed.is_err() {
                    allowed = basic::check(&headers, &app, link.as_ref()).await;
                }
                match allowed.and_then(|()| read_only(&method)) {
                    Ok(()) => made(app, answer).await,
                    Err(problem) => page::refuse(problem, &headers),
                }
            }
        })
        .boxed()
}

async fn made(app: Arc<App>, answer: fn(&App) -> Response) -> Response {
    off_thread(move || answer(&app)).await.unwrap_or_else(|_| Problem::Internal.into_response())
}

fn home(app: &Arc<App>, path: &str, answer: fn() -> Response) -> BoxedFilter<(Response,)> {
    let accounts = app.accounts.clone();
    at(path)
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .map(move |method: Method, headers: HeaderMap| {
            match page::wants_html(&headers) && read_only(&method).is_ok() {
                true => answer(),
                false => no_endpoint(&method, &headers, &accounts),
            }
        })
        .boxed()
}

fn console(
    app: &Arc<App>,
    path: &str,
    answer: fn(&str, &HeaderMap) -> Option<Response>,
) -> BoxedFilter<(Response,)> {
    let accounts = app.accounts.clone();
    let (start, name) = match path.strip_suffix("/{file}") {
        Some(start) => (at_start(start), warp::path::param::<String>().and(warp::path::end()).boxed()),
        None => (at_start(path), warp::path::end().map(String::new).boxed()),
    };
    start
        .and(name)
        .and(warp::method())
        .and(warp::header::headers_cloned())
        .map(move |name: String, method: Method, headers: HeaderMap| match read_only(&method) {
            Ok(()) => answer(&name, &headers).unwrap_or_else(|| no_endpoint(&method, &headers, &accounts)),
            Err(problem) => problem.into_response(),
        })
        .boxed()
}

fn shown(path: &str, file: &'static File) -> BoxedFilter<(Response,)> {
    at(&path.replace("{file}", file.name))
        .and(warp::method())
        .map(|method: Method| match read_only(&method) {
            Ok(()) => file.response(),
            Err(problem) => problem.into_response(),
        })
        .boxed()
}
