//! `stratalog migrate`: what a folder of declarations and rules would change in a graph, and the change, all of it or
//! none.

mod plan;
mod present;
mod rehearsal;
mod wanted;

use crate::diagnostics::Source;
use crate::exit::Exit;
use crate::notices::Notices;
use crate::script::Ended;
use plan::Plan;
use present::Present;
use std::io::{self, Write};
use std::path::Path;
use stratalog_client::{Client, ExecuteOptions};
use wanted::Wanted;

/// A migration as the command line asks for it.
pub(crate) struct Migration {
    /// What the folder says there should be.
    wanted: Wanted,
    /// Whether it is made, and not only shown.
    applies: bool,
    /// Whether rules go of which the folder knows nothing.
    prunes: bool,
    /// Whether it is a failure that something would change.
    checks: bool,
}

impl Migration {
    /// Reads the folder. The error is of the command line or of a file.
    pub(crate) fn read(folder: &Path, applies: bool, prunes: bool, checks: bool) -> Result<Self, String> {
        Ok(Migration { wanted: Wanted::read(folder)?, applies, prunes, checks })
    }

    /// Shows the plan, and carries it out if that is wanted.
    pub(crate) async fn run(&self, client: &Client, notices: Notices) -> Exit {
        match self.carry_out(client, notices).await {
            Ok(exit) => exit,
            Err(ended) => {
                ended.tell(notices, Source::NONE);
                Exit::from(&ended)
            }
        }
    }

    async fn carry_out(&self, client: &Client, notices: Notices) -> Result<Exit, Ended> {
        let present = Present::of(client).await.map_err(Ended::Failed)?;
        let plan = match Plan::new(&self.wanted, &present, self.prunes) {
            Ok(plan) => plan,
            Err(problem) => {
                notices.error(&problem);
                return Ok(Exit::Refused);
            }
        };
        let written = io::stdout().lock().write_all(plan.to_string().as_bytes());
        match Exit::of_writing(written, notices) {
            Exit::Done => {}
            unwritten => return Ok(unwritten),
        }
        for name in &plan.unknown_rules {
            notices.note(&format!(
                "{name} has rules of which the folder knows nothing: they stay (--prune drops them)"
            ));
        }
        if plan.is_empty() {
            notices.note("nothing to change");
            return Ok(Exit::Done);
        }
        let refused = rehearsal::problems(&plan, &self.wanted, &present);
        if !refused.is_empty() {
            refused.iter().for_each(|problem| notices.error(problem));
            return Ok(Exit::Refused);
        }
        if !self.applies {
            notices.note(&format!("{}; --apply makes them", counted(plan.len())));
            return Ok(if self.checks { Exit::Refused } else { Exit::Done });
        }
        let options = ExecuteOptions { atomic: true, ..ExecuteOptions::default() };
        let program = plan.program();
        if let Err(error) = client.execute(&program, options).await {
            notices.refusal(&error, Source { program: &program, origin: None });
            return Ok(Exit::from(&error));
        }
        notices.note(&format!("{} made", counted(plan.len())));
        Ok(Exit::Done)
    }
}

fn counted(changes: usize) -> String {
    if changes == 1 { "1 change".to_owned() } else { format!("{changes} changes") }
}
