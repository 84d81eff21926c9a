//! `complete`: what may be written at a place of a program.

use std::sync::Arc;

use stratalog_engine::commands::COMMANDS;
use stratalog_engine::{Budget, Caller as _};
use stratalog_language::Document;
use stratalog_language::columns::Columns;
use stratalog_language::complete::{Offer, OfferKind};
use stratalog_language::offers::{Among, offers};
use stratalog_protocol::{
    self as protocol, Complete, Completions, Failure, Reply as ReplyMessage, RequestId, Response,
};

use super::Caller;
use crate::admin::ADMIN_COMMANDS;
use crate::auth;
use crate::queries::Ticket;
use crate::wire::{self, Reply};

/// Offers what goes on a program, where the session is.
pub(super) async fn complete(
    caller: &Caller,
    complete: Complete,
    id: Option<RequestId>,
    ticket: &Arc<Ticket>,
) -> Result<Reply, Failure> {
    let (who, session) = (caller.identity.clone(), caller.turn(ticket).await?);
    let engine = caller.app.engine.clone();
    let look = move |_: &Budget| {
        let grant =
            auth::grant_check(&who, &session).map_err(|error| wire::failure(&error, &complete.program))?;
        let graphs: Vec<String> = engine.graphs().into_iter().filter(|graph| who.sees(graph)).collect();
        let families = COMMANDS.iter().chain(ADMIN_COMMANDS);
        let commands: Vec<_> = families.flat_map(|family| family.entries).collect();
        let before = before(&complete);
        let (program, catalog) = (Document::new(complete.program.clone(), []), grant.catalog(&session));
        let columns = [program.columns(), Columns::new(&catalog)];
        let among = Among { columns: &columns, commands: &commands, graphs: &graphs };
        Ok::<_, Failure>(offers(before, &among).into_iter().map(shown).collect())
    };
    let offers = caller.app.queries.run(&caller.share(), ticket, None, look).await??;
    let response = Response::Completions(Completions { offers });
    Ok(Reply::Whole(ReplyMessage { response, id }.to_json()))
}

/// What stands before the place. In the middle of a character is before it.
fn before(complete: &Complete) -> &str {
    let length = complete.program.len();
    let offset =
        complete.offset.map_or(length, |offset| usize::try_from(offset).map_or(length, |at| at.min(length)));
    &complete.program[..complete.program.floor_char_boundary(offset)]
}

fn shown(offer: Offer) -> protocol::Offer {
    protocol::Offer {
        text: offer.value,
        typed: offer.typed as u64,
        kind: match offer.kind {
            OfferKind::Relation => protocol::OfferKind::Relation,
            OfferKind::Function => protocol::OfferKind::Function,
            OfferKind::Aggregate => protocol::OfferKind::Aggregate,
            OfferKind::Variable => protocol::OfferKind::Variable,
            OfferKind::Word => protocol::OfferKind::Word,
        },
        about: offer.about,
    }
}
