//! `cancel`: stops requests of the same connection by their id, whether they run or wait.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;
use stratalog_protocol::{Reply, RequestId, Response, ResultTable, Value};

use crate::queries::Ticket;

/// The requests of one connection that are not answered yet, in their order.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    open: Mutex<VecDeque<(Option<RequestId>, Arc<Ticket>)>>,
}

impl Tickets {
    /// A ticket for a new request.
    pub(crate) fn issue(&self, id: Option<RequestId>) -> Arc<Ticket> {
        let ticket = Arc::new(Ticket::default());
        self.open.lock().push_back((id, ticket.clone()));
        ticket
    }

    /// Takes the ticket of an answered request back.
    pub(crate) fn close(&self, ticket: &Arc<Ticket>) {
        let mut open = self.open.lock();
        if let Some(position) = open.iter().position(|(_, other)| Arc::ptr_eq(other, ticket)) {
            open.remove(position);
        }
    }

    /// Stops the requests with this id; the answer says whether there was one.
    pub(crate) fn cancel(&self, target: &RequestId, id: Option<RequestId>) -> String {
        let open = self.open.lock();
        let mut found = false;
        for (_, ticket) in open.iter().filter(|(id, _)| id.as_ref() == Some(target)) {
            ticket.cancel();
            found = true;
        }
        cancelled(found, id)
    }

    /// Stops everything: the client is gone, or the server stops.
    pub(crate) fn cancel_all(&self) {
        self.open.lock().iter().for_each(|(_, ticket)| ticket.cancel());
    }
}

/// The answer to `cancel`.
pub(super) fn cancelled(found: bool, id: Option<RequestId>) -> String {
    let table = ResultTable {
        columns: vec!["cancelled".to_owned()],
        rows: vec![vec![Value::Bool(found)]],
        row_count: 1,
        total_count: 1,
        ..ResultTable::default()
    };
    Reply { response: Response::Result(table), id }.to_json()
}

#[cfg(test)]
mod tests {
    use stratalog_engine::Stop;
    use stratalog_protocol::RequestId;

    use super::Tickets;

    #[test]
    fn cancel_stops_the_named_request_and_no_other() {
        let tickets = Tickets::default();
        let one = tickets.issue(Some(RequestId::Number(1)));
        let two = tickets.issue(Some(RequestId::Text("1".to_owned())));
        let nameless = tickets.issue(None);
        let answer = tickets.cancel(&RequestId::Number(1), Some(RequestId::Number(9)));
        assert_eq!(
            answer,
            concat!(
                r#"{"type":"result","columns":["cancelled"],"rows":[[true]],"row_count":1,"total_count":1,"#,
                r#""truncated":false,"execution_time_ms":0,"id":9}"#
            )
        );
        assert_eq!((one.stopped(), two.stopped(), nameless.stopped()), (Some(Stop::Caller), None, None));
    }

    #[test]
    fn an_answered_request_cannot_be_cancelled() {
        let tickets = Tickets::default();
        let ticket = tickets.issue(Some(RequestId::Number(1)));
        tickets.close(&ticket);
        assert!(tickets.cancel(&RequestId::Number(1), None).contains("[[false]]"));
        assert!(ticket.stopped().is_none());
    }
}
