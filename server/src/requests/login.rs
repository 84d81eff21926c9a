//! `login` and `authenticate`: who is there, and the session that they get.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use stratalog_engine::{Caller as _, Error, Need};
use stratalog_protocol::{Authenticated, Code, Failure, Reply, Request, RequestId, Response, VERSION};
use uuid::Uuid;

use super::Caller;
use crate::app::App;
use crate::audit::{Entry, LOGIN};
use crate::auth::{Identity, KeyRefusal, KeyScope, Refusal};
use crate::deposits::Answers;
use crate::limits::Full;
use crate::queries::{NotRun, RETRY_AFTER_MS};
use crate::sessions::Foreign;
use crate::wire;

/// Somebody whose credentials are valid.
pub(crate) struct LoggedIn {
    identity: Identity,
}

impl LoggedIn {
    /// Whether places are kept for them.
    pub(crate) fn is_administrator(&self) -> bool {
        self.identity.administers()
    }
}

/// Why somebody is not let in. The text tells what was wrong, not what is right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LoginFailed {
    /// No such user, or another password.
    #[error("invalid username or password")]
    Password,
    /// No such key.
    #[error("invalid API key")]
    Key,
    /// A key that was one once.
    #[error("this API key has expired")]
    KeyExpired,
    /// A key for something else.
    #[error("this API key opens no sessions: it has the scope `{}`", .0.as_str())]
    KeyScope(KeyScope),
    /// Too many wrong passwords lately, so that this one was not even checked.
    #[error("too many failed logins: try again in {} seconds", .0.as_secs().max(1))]
    Throttled(Duration),
    /// Something else than credentials.
    #[error("authentication required: the first message must be `login` or `authenticate`")]
    NotCredentials,
    /// The server could not check.
    #[error(transparent)]
    NotRun(#[from] NotRun),
}

/// Checks the credentials in the first message of a connection.
pub(crate) async fn log_in(app: &App, address: IpAddr, request: Request) -> Result<LoggedIn, LoginFailed> {
    let accounts = &app.accounts;
    if let Request::Login(_) | Request::Authenticate(_) = &request
        && let Some(identity) = accounts.owner(address)
    {
        return Ok(LoggedIn { identity });
    }
    match request {
        Request::Login(login) => {
            let outcome = match accounts.log_in(address, &login.username, login.password).await? {
                Ok(identity) => Ok(LoggedIn { identity }),
                Err(Refusal::Wrong) => Err(LoginFailed::Password),
                Err(Refusal::TooMany { retry }) => Err(LoginFailed::Throttled(retry)),
            };
            // What is no name of a user may be a password in the wrong place.
            let who = Some(login.username.as_str()).filter(|name| accounts.has_user(name));
            tell(app, Entry { who, ..Entry::default() }, address, &outcome);
            outcome
        }
        Request::Authenticate(request) => {
            let (outcome, key) = match accounts.authenticate(address, &request.api_key) {
                Ok(identity) => (Ok(LoggedIn { identity }), None),
                Err((why, key)) => (Err(why.into()), key),
            };
            let known = key.as_ref().map(|key| (key.owner.as_str(), key.label.as_str()));
            let came = outcome.as_ref().ok().map(|came| &came.identity);
            let (who, key) = known.or_else(|| Some((came?.username(), came?.key()?))).unzip();
            tell(app, Entry { who, key, ..Entry::default() }, address, &outcome);
            outcome
        }
        Request::Execute(_)
        | Request::Check(_)
        | Request::Format(_)
        | Request::Complete(_)
        | Request::Insert(_)
        | Request::Query(_)
        | Request::InsertFacts(_)
        | Request::RetractFacts(_)
        | Request::AddRule(_)
        | Request::Subscribe(_)
        | Request::Unsubscribe(_)
        | Request::Cancel(_)
        | Request::Ping => Err(LoginFailed::NotCredentials),
    }
}

/// Puts a login into the audit log.
fn tell(app: &App, entry: Entry<'_>, from: IpAddr, outcome: &Result<LoggedIn, LoginFailed>) {
    let entry = Entry { action: LOGIN, from: Some(from), what: "logs in".to_owned(), ..entry };
    app.accounts.audit().record(&match outcome {
        Ok(_) => entry,
        Err(failed) => entry.refused(failed),
    });
}

impl From<KeyRefusal> for LoginFailed {
    fn from(refusal: KeyRefusal) -> LoginFailed {
        match refusal {
            KeyRefusal::Unknown => LoginFailed::Key,
            KeyRefusal::Expired => LoginFailed::KeyExpired,
            KeyRefusal::Scope(scope) => LoginFailed::KeyScope(scope),
        }
    }
}

/// Where somebody who logs in wants to.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// A new session, bound to the graph of this name.
    Graph(String),
    /// The session of this id.
    Session(Uuid),
}

/// Gives somebody the session that they want: a new one, if its graph exists for them, or one of theirs.
pub(crate) fn enter(app: &Arc<App>, who: LoggedIn, target: &Target) -> Result<Caller, Failure> {
    let of_user = match who.is_administrator() {
        true => None,
        false => Some(app.places.of_user(who.identity.username()).ok_or_else(|| too_many_sockets(app))?),
    };
    let (identity, session) = match target {
        Target::Graph(graph) => {
            let id = Uuid::new_v4();
            let identity = who.identity.in_session(id.to_string().into());
            let allowed = identity.allows(Need::Enter, graph).map_err(Error::refused);
            let session =
                allowed.and_then(|()| app.engine.open_session_for(Arc::new(identity.clone()), graph));
            let session = session.map_err(|error| wire::failure(&error, ""))?;
            (identity.clone(), app.sessions.open(id, session, identity)?)
        }
        Target::Session(id) => {
            let gone = || Failure::new(Code::NotFound, "the session does not exist any more");
            let identity = who.identity;
            let may = |owner: &Identity| identity.username() == owner.username() || identity.administers();
            let session = app.sessions.attach(*id, may).ok_or_else(gone)?;
            let session = session.map_err(|Foreign| {
                let denied = Failure::new(Code::AccessDenied, "access denied: the session is another user's");
                denied.help("log in as the user who opened it")
            })?;
            (identity.in_session(session.name().clone()), session)
        }
    };
    let answers = app.deposits.clone().map(|deposits| Arc::new(Answers::of(deposits)));
    Ok(Caller {
        app: app.clone(),
        identity,
        session,
        _of_user: of_user,
        subscriptions: Arc::default(),
        answers,
    })
}

fn too_many_sockets(app: &App) -> Failure {
    let limit = app.limits.user.sockets;
    Failure::new(Code::LimitExceeded, format!("the user has {limit} connections already"))
        .limit("user.max_sockets", limit as u64)
        .help("close those that are not needed")
}

/// What is said to somebody who has logged in and for whom there is no place.
pub(crate) fn no_place(full: Full, app: &App) -> Failure {
    let limits = &app.limits;
    let (message, name, limit) = match full {
        Full::Connections => ("too many connections are open", "max_connections", limits.connections),
        Full::Sockets | Full::Strangers => {
            ("too many WebSocket connections are open", "max_ws_connections", limits.sockets)
        }
        Full::OfAddress => (
            "too many connections of this address are open",
            "max_connections_per_address",
            limits.connections_of_address,
        ),
    };
    Failure::new(Code::Overloaded, message).limit(name, limit as u64).retry_after_ms(RETRY_AFTER_MS)
}

/// The greeting of a session, with the number of the last notification before it for those who ask.
pub(crate) fn authenticated(caller: &Caller, last_seq: Option<u64>, id: Option<RequestId>) -> String {
    let role = caller.identity.role();
    let greeting = Authenticated {
        session_id: caller.session.id().to_string(),
        knowledge_graph: caller.session.binding().name(),
        version: VERSION.to_owned(),
        role: role.map_or("none", |role| role.as_str()).to_owned(),
        scope: Some(caller.identity.scope())
            .filter(|scope| !scope.is_all())
            .map(|scope| scope.as_str().to_owned()),
        last_seq,
    };
    Reply { response: Response::Authenticated(greeting), id }.to_json()
}
