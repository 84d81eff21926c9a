//! `login` and `authenticate`: who is there, and the session that they get.

use std::sync::Arc;

use parking_lot::Mutex;
use stratalog_protocol::{Authenticated, Failure, Reply, Request, RequestId, Response, VERSION};
use uuid::Uuid;

use super::Caller;
use crate::app::App;
use crate::auth::Identity;
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
    /// Something else than credentials.
    #[error("authentication required: the first message must be `login` or `authenticate`")]
    NotCredentials,
    /// The server could not check.
    #[error(transparent)]
    NotRun(#[from] NotRun),
}

/// Checks the credentials in the first message of a connection.
pub(crate) async fn log_in(app: &App, request: Request) -> Result<LoggedIn, LoginFailed> {
    match request {
        Request::Login(login) => match app.users.log_in(&login.username, login.password).await? {
            Some(identity) => Ok(LoggedIn { identity }),
            None => Err(LoginFailed::Password),
        },
        Request::Authenticate(_) => Err(LoginFailed::Key),
        Request::Execute(_) | Request::Insert(_) | Request::Cancel(_) | Request::Ping => {
            Err(LoginFailed::NotCredentials)
        }
    }
}

/// Binds a new session to a graph.
pub(crate) fn open_session(app: &Arc<App>, who: LoggedIn, graph: &str) -> Result<Caller, Failure> {
    let session = app.engine.open_session(graph).map_err(|error| wire::failure(&error, ""))?;
    Ok(Caller { app: app.clone(), identity: who.identity, session: Arc::new(Mutex::new(session)) })
}

/// The greeting of a new session, and its id.
pub(crate) fn authenticated(caller: &Caller, id: Option<RequestId>) -> (String, Uuid) {
    let session_id = Uuid::new_v4();
    let role = caller.app.users.role(&caller.identity);
    let greeting = Authenticated {
        session_id: session_id.to_string(),
        knowledge_graph: caller.session.lock().graph().to_owned(),
        version: VERSION.to_owned(),
        role: role.map_or("none", |role| role.as_str()).to_owned(),
    };
    (Reply { response: Response::Authenticated(greeting), id }.to_json(), session_id)
}
