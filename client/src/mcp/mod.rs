//! `stratalog mcp`: the database as tools of agents (Model Context Protocol), over standard input and output or HTTP.
//!
//! Agents have the rights of the credentials that were given; unless they are allowed to write, no program that would is sent. They
//! share one connection, so nothing stays in its session. Answers are bounded and say by how much.

mod answers;
mod http;
mod reference;
mod tools;

use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::interrupts::Interrupts;
use crate::notices::Notices;
use crate::settings::Settings;
use crate::terminal;
use rmcp::ServiceExt;
use rmcp::handler::server::router::tool::ToolRouter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use stratalog_client::Client;

/// So many rows of an answer, if nothing else is said: more than an agent reads with profit.
pub(crate) const ROWS: u64 = 200;
/// How long a program may take, if nothing else is said.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// What agents may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// Whether they may change something.
    pub write: bool,
    /// At most so many rows of an answer.
    pub rows: u64,
    /// Programs are stopped after so long.
    pub timeout: Duration,
}

/// What agents are told, and the connection that they share.
#[derive(Clone)]
pub(crate) struct Agent {
    terms: Terms,
    client: Arc<Client>,
    tool_router: ToolRouter<Agent>,
}

impl Agent {
    fn new(client: Client, terms: Terms) -> Agent {
        let mut tool_router = Agent::reading();
        if terms.write {
            tool_router.merge(Agent::writing());
        }
        let client = Arc::new(client.reconnecting(terms.timeout));
        Agent { terms, client, tool_router }
    }
}

/// Serves until the agent ends, or with `listen` until it is interrupted. What is wrong with address or password is told at
/// once, and not to the first agent.
pub(crate) async fn run(
    settings: &Settings,
    terms: Terms,
    listen: Option<SocketAddr>,
    notices: Notices,
    interrupts: &Interrupts,
) -> Exit {
    let agent = match Client::connect_to(&settings.address, settings.credentials.clone()).await {
        Ok(client) => Agent::new(client, terms),
        Err(error) => {
            notices.refusal(&error, Source::NONE);
            return Exit::from(&error);
        }
    };
    if listen.is_none() && terminal::can_ask() {
        notices.note("an agent is expected here, on standard input; Ctrl-C ends this");
    }
    let served = async {
        match listen {
            Some(listen) => http::serve(&agent, listen, notices).await,
            None => over_standard_input(agent).await,
        }
    };
    tokio::select! {
        served = served => match served {
            Ok(()) => Exit::Done,
            Err(problem) => {
                notices.error(&problem);
                Exit::Connection
            }
        },
        () = interrupts.requested() => Exit::Interrupted,
    }
}

async fn over_standard_input(agent: Agent) -> Result<(), String> {
    let service = agent.serve(rmcp::transport::stdio()).await.map_err(|error| error.to_string())?;
    service.waiting().await.map(|_| ()).map_err(|error| error.to_string())
}
