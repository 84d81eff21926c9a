//! AsyncAPI 3.0 of the WebSocket's messages, made from the types that travel. Its examples are whole conversations
//! (`x-exchanges`), of which every message has its share.

use std::sync::LazyLock;

use schemars::SchemaGenerator;
use serde_json::{Map, Value as Json, json};
use stratalog_protocol::{Message as Request, Reply, VERSION};

use super::exchanges::{Content, Exchange, Side, exchanges};
use super::schemas::{self, Message};
use crate::http::endpoint::{Endpoint, Parameter};
use crate::ws;

const ABOUT: &str = "The messages between a Stratalog server and its clients.\n\nA text frame holds one JSON object with \
    a `type`. Fields that are not known are to be ignored, and `null` is the same as leaving an optional field out. Any \
    message of a client may carry an `id`, and every answer to it repeats it. Requests of one connection run one at a \
    time and are answered in their order, only `ping` and `cancel` at once. Binary frames are Arrow, and come only after \
    a message that announces them.\n\nThe first message must be `login` or `authenticate`, within 30 seconds; anything \
    else closes the connection.";

/// What may answer each message of a client; what answers nothing is sent unasked.
const ANSWERS: &[(&str, &[&str])] = &[
    ("login", &["authenticated", "auth_error", "error"]),
    ("authenticate", &["authenticated", "auth_error", "error"]),
    ("execute", &["working", "result", "result_start", "result_chunk", "arrow", "result_end", "error"]),
    ("check", &["checked", "error"]),
    ("format", &["formatted", "error"]),
    ("complete", &["completions", "error"]),
    ("insert", &["result", "error"]),
    ("query", &["result", "result_start", "result_chunk", "result_end", "error"]),
    ("insert_facts", &["ack", "error"]),
    ("retract_facts", &["ack", "error"]),
    ("add_rule", &["ack", "error"]),
    ("subscribe", &["subscribed", "error"]),
    ("unsubscribe", &["unsubscribed", "error"]),
    ("cancel", &["result"]),
    ("ping", &["pong"]),
];

/// The document.
pub(in crate::http) static DOCUMENT: LazyLock<Json> = LazyLock::new(document);

fn document() -> Json {
    let mut generator = schemas::draft_7();
    let requests = schemas::messages::<Request>(&mut generator);
    let replies = schemas::messages::<Reply>(&mut generator);
    let exchanges = exchanges();
    let mut messages: Map<String, Json> = requests
        .iter()
        .chain(&replies)
        .map(|message| (message.kind.clone(), described(message, &exchanges)))
        .collect();
    messages.insert("arrow".to_owned(), arrow(&exchanges));
    let mut operations = Map::new();
    for (channel, suffix) in [("ws", ""), ("session", "_in_session")] {
        for request in &requests {
            operations.insert(format!("{}{suffix}", request.kind), taken(request, channel));
        }
        operations.insert(format!("upload{suffix}"), upload(channel));
        for reply in replies.iter().filter(|reply| is_unasked(&reply.kind)) {
            operations.insert(format!("{}{suffix}", reply.kind), told(reply, channel));
        }
    }
    json!({
        "asyncapi": "3.0.0",
        "info": {
            "title": "Stratalog over WebSocket",
            "version": VERSION,
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0" },
        },
        "defaultContentType": "application/json",
        "servers": {
            "here": {
                "host": "{host}",
                "protocol": "ws",
                "description": "TLS is the work of a proxy in front of the server.",
                "variables": { "host": { "default": "127.0.0.1:8080", "description": "Host and port." } },
            }
        },
        "channels": {
            "ws": channel(&ws::OWN, &messages),
            "session": channel(&ws::OF_SESSION, &messages),
        },
        "operations": operations,
        "components": { "messages": messages.clone(), "schemas": schemas_of(&messages, generator) },
        "x-exchanges": exchanges.iter().map(shown).collect::<Json>(),
    })
}

fn schemas_of(messages: &Map<String, Json>, generator: SchemaGenerator) -> Map<String, Json> {
    schemas::named(&messages.values().map(|message| message["payload"].clone()).collect(), generator)
}

fn channel(endpoint: &Endpoint, messages: &Map<String, Json>) -> Json {
    let (path, query): (Vec<&Parameter>, Vec<&Parameter>) = endpoint
        .parameters
        .iter()
        .partition(|parameter| endpoint.path.contains(&format!("{{{}}}", parameter.name)));
    let references = messages
        .keys()
        .map(|kind| (kind.clone(), json!({ "$ref": format!("#/components/messages/{kind}") })));
    let query: Map<String, Json> = query
        .into_iter()
        .map(|parameter| {
            let kind = if parameter.is_number { "integer" } else { "string" };
            (parameter.name.to_owned(), json!({ "type": kind, "description": parameter.what }))
        })
        .collect();
    let close_codes: Map<String, Json> =
        ws::CloseCode::ALL.iter().map(|code| ((*code as u16).to_string(), json!(code.when()))).collect();
    let mut channel = json!({
        "address": endpoint.path,
        "description": endpoint.summary,
        "messages": references.collect::<Json>(),
        "bindings": {
            "ws": {
                "method": "GET",
                "query": { "type": "object", "properties": query },
                "bindingVersion": "0.1.0",
            }
        },
        "x-close-codes": close_codes,
    });
    if !path.is_empty() {
        let path = path.into_iter();
        channel["parameters"] =
            path.map(|each| (each.name.to_owned(), json!({ "description": each.what }))).collect();
    }
    channel
}

fn described(message: &Message, exchanges: &[Exchange]) -> Json {
    json!({
        "name": message.kind,
        "title": message.kind,
        "summary": message.summary,
        "contentType": "application/json",
        "payload": message.schema,
        "examples": examples(&message.kind, exchanges),
    })
}

fn arrow(exchanges: &[Exchange]) -> Json {
    json!({
        "name": "arrow",
        "title": "Arrow frame",
        "summary": "A binary frame: a piece of one Arrow IPC stream, whose pieces follow each other. Between \
                    `result_start` with the format `arrow` and `result_end`, or after an `insert` with that format. \
                    At once after a `delta` with that format it is a whole stream.",
        "contentType": "application/vnd.apache.arrow.stream",
        "payload": {
            "type": "string",
            "format": "binary",
            "contentEncoding": "base64",
            "description": "The bytes; in examples as base64.",
        },
        "examples": examples("arrow", exchanges),
    })
}

fn examples(kind: &str, exchanges: &[Exchange]) -> Json {
    let frames =
        exchanges.iter().flat_map(|exchange| exchange.frames.iter().map(move |frame| (exchange, frame)));
    frames
        .filter(|(_, frame)| frame.content.kind() == kind)
        .map(|(exchange, frame)| json!({ "summary": exchange.title, "payload": frame.content.payload() }))
        .collect()
}

/// A message that the server takes, and what may come back.
fn taken(request: &Message, channel: &str) -> Json {
    let answers =
        ANSWERS.iter().find(|(kind, _)| *kind == request.kind).map_or(&[][..], |(_, answers)| answers);
    json!({
        "action": "receive",
        "channel": { "$ref": format!("#/channels/{channel}") },
        "summary": request.summary,
        "messages": [reference(&request.kind, channel)],
        "reply": {
            "channel": { "$ref": format!("#/channels/{channel}") },
            "messages": answers.iter().map(|kind| reference(kind, channel)).collect::<Json>(),
        },
    })
}

fn upload(channel: &str) -> Json {
    json!({
        "action": "receive",
        "channel": { "$ref": format!("#/channels/{channel}") },
        "summary": "The frames after an `insert` with the format `arrow`; they have no answer of their own.",
        "messages": [reference("arrow", channel)],
    })
}

/// A message that answers nothing.
fn told(reply: &Message, channel: &str) -> Json {
    json!({
        "action": "send",
        "channel": { "$ref": format!("#/channels/{channel}") },
        "summary": reply.summary,
        "messages": [reference(&reply.kind, channel)],
    })
}

/// Errors also come unasked: they say why the connection ends, or which notifications were missed; and subscriptions end
/// where there is no answer any more.
fn is_unasked(kind: &str) -> bool {
    ["error", "unsubscribed"].contains(&kind) || ANSWERS.iter().all(|(_, answers)| !answers.contains(&kind))
}

fn reference(kind: &str, channel: &str) -> Json {
    json!({ "$ref": format!("#/channels/{channel}/messages/{kind}") })
}

fn shown(exchange: &Exchange) -> Json {
    let frames: Vec<Json> = exchange
        .frames
        .iter()
        .map(|frame| {
            let side = match frame.from {
                Side::Client => "client",
                Side::Server => "server",
            };
            match &frame.content {
                Content::Text(json) => json!({ side: json }),
                Content::Binary(base64) => json!({ side: { "binary": base64 } }),
            }
        })
        .collect();
    let mut shown = json!({ "title": exchange.title });
    if let Some(address) = exchange.address {
        shown["address"] = json!(address);
    }
    shown["frames"] = json!(frames);
    shown
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use stratalog_protocol::{Message, Reply};

    use super::{ANSWERS, DOCUMENT, is_unasked};
    use crate::http::documents::schemas;

    fn kinds<T: schemars::JsonSchema>() -> BTreeSet<String> {
        let messages = schemas::messages::<T>(&mut schemas::draft_7());
        messages.into_iter().map(|message| message.kind).collect()
    }

    #[test]
    fn every_message_of_a_client_has_its_answers() {
        let listed: BTreeSet<String> = ANSWERS.iter().map(|(kind, _)| (*kind).to_owned()).collect();
        assert_eq!(kinds::<Message>(), listed);
        let replies = kinds::<Reply>();
        for answer in ANSWERS.iter().flat_map(|(_, answers)| *answers) {
            assert!(replies.contains(*answer) || *answer == "arrow", "{answer}");
        }
        let unasked: Vec<&String> = replies.iter().filter(|kind| is_unasked(kind)).collect();
        assert_eq!(
            unasked,
            [
                "delta",
                "error",
                "kg_change",
                "persistent_update",
                "progress",
                "rule_change",
                "schema_change",
                "unsubscribed"
            ]
        );
    }

    #[test]
    fn the_types_are_those_that_are_read() {
        for (text, kinds) in [
            (Message::parse(r#"{"type":"?"}"#).unwrap_err().problem, kinds::<Message>()),
            (Reply::parse(r#"{"type":"?"}"#).unwrap_err().problem, kinds::<Reply>()),
        ] {
            let (_, known) = text.split_once("known types are ").unwrap();
            assert_eq!(known.split(", ").map(str::to_owned).collect::<BTreeSet<_>>(), kinds);
        }
    }

    #[test]
    fn every_message_has_an_example() {
        for (kind, message) in DOCUMENT["components"]["messages"].as_object().unwrap() {
            assert!(!message["examples"].as_array().unwrap().is_empty(), "no example of `{kind}`");
            assert!(!message["summary"].as_str().unwrap().is_empty(), "no words about `{kind}`");
        }
    }
}
