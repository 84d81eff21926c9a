//! `login` and `authenticate`: who is there, and the session that they get.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use stratalog_engine::{Caller as _, Error, Need};
use stratalog_protocol::{Authenticated, Failure, Reply, Request, RequestId, Response, VERSION};
use uuid::Uuid;

use super::Caller;
use crate::admin::Operator;
use crate::app::App;
use crate::auth::{Identity, Refusal};
use crate::queries::NotRun;
use crate::wire;

/// Somebody whose credentials are valid.
pub(crate) struct LoggedIn {
    identity: Identity,
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
    match request {
        Request::Login(login) => match app.accounts.log_in(address, &login.username, login.password).await? {
            Ok(identity) => Ok(LoggedIn { identity }),
            Err(Refusal::Wrong) => Err(LoginFailed::Password),
            Err(Refusal::TooMany { retry }) => Err(LoginFailed::Throttled(retry)),
        },
        Request::Authenticate(request) => match app.accounts.authenticate(&request.api_key) {
            Some(identity) => Ok(LoggedIn { identity }),
            None => Err(LoginFailed::Key),
        },
        Request::Execute(_) | Request::Insert(_) | Request::Cancel(_) | Request::Ping => {
            Err(LoginFailed::NotCredentials)
        }
    }
}

/// Binds a new session to a graph, if it exists for this user.
pub(crate) fn open_session(app: &Arc<App>, who: LoggedIn, graph: &str) -> Result<Caller, Failure> {
    let identity = who.identity;
    let allowed = identity.allows(Need::Enter, graph).map_err(Error::refused);
    let operator = Operator { identity: identity.clone(), running: app.running.clone() };
    let session = allowed.and_then(|()| app.engine.open_session_for(Arc::new(operator), graph));
    let session = session.map_err(|error| wire::failure(&error, ""))?;
    Ok(Caller {
        app: app.clone(),
        identity,
        session_id: Uuid::new_v4(),
        session: Arc::new(Mutex::new(session)),
        tally: Arc::new(Mutex::new(app.metrics.session())),
    })
}

/// The greeting of a new session.
pub(crate) fn authenticated(caller: &Caller, id: Option<RequestId>) -> String {
    let role = caller.identity.role();
    let greeting = Authenticated {
        session_id: caller.session_id.to_string(),
        knowledge_graph: caller.session.lock().graph().to_owned(),
        version: VERSION.to_owned(),
        role: role.map_or("none", |role| role.as_str()).to_owned(),
    };
    Reply { response: Response::Authenticated(greeting), id }.to_json()
}
