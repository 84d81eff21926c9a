//! `exchanges.txt`: conversations of clients with a server, from which both documents and tests take their examples.
//!
//! `# TITLE` begins one, `@ ADDRESS` opens a connection for it and those that follow, `→` is what the client sends and
//! `←` what the server answers: JSON, or after `binary` the bytes of a binary frame in base64.

use stratalog_protocol::VERSION;

use serde_json::{Value as Json, json};

/// One conversation.
pub(super) struct Exchange {
    pub(super) title: &'static str,
    /// Where to connect, if not where the one before did.
    pub(super) address: Option<&'static str>,
    pub(super) frames: Vec<Frame>,
}

/// One frame of it.
pub(super) struct Frame {
    pub(super) from: Side,
    pub(super) content: Content,
}

/// Who sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Server,
}

/// What is sent.
pub(super) enum Content {
    /// A text frame.
    Text(Json),
    /// A binary frame, in base64.
    Binary(&'static str),
}

/// All of them, in their order.
pub(super) fn exchanges() -> Vec<Exchange> {
    let mut found: Vec<Exchange> = Vec::new();
    for line in include_str!("exchanges.txt").lines() {
        if let Some(title) = line.strip_prefix("# ") {
            found.push(Exchange { title, address: None, frames: Vec::new() });
        }
        let Some(exchange) = found.last_mut() else { continue };
        if let Some(address) = line.strip_prefix("@ ") {
            exchange.address = Some(address);
        }
        for (mark, from) in [("→ ", Side::Client), ("← ", Side::Server)] {
            if let Some(content) = line.strip_prefix(mark) {
                exchange.frames.push(Frame { from, content: Content::read(content) });
            }
        }
    }
    found
}

impl Content {
    fn read(text: &'static str) -> Content {
        match text.strip_prefix("binary ") {
            Some(base64) => Content::Binary(base64),
            // The tests read every line.
            None => {
                Content::Text(serde_json::from_str(&text.replace("VERSION", VERSION)).unwrap_or_default())
            }
        }
    }

    /// The type of the message.
    pub(super) fn kind(&self) -> &str {
        match self {
            Content::Text(json) => json["type"].as_str().unwrap_or_default(),
            Content::Binary(_) => "arrow",
        }
    }

    /// As an example of its message.
    pub(super) fn payload(&self) -> Json {
        match self {
            Content::Text(json) => json.clone(),
            Content::Binary(base64) => json!(base64),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;
    use stratalog_protocol::{Message, Reply};

    use super::{Content, Side, exchanges};

    #[test]
    fn every_text_is_a_message_of_its_side_and_complete() {
        for exchange in exchanges() {
            assert!(!exchange.frames.is_empty(), "{}", exchange.title);
            for frame in exchange.frames {
                let Content::Text(json) = frame.content else { continue };
                let text = json.to_string();
                let again = match frame.from {
                    Side::Client => Message::parse(&text).map(|message| message.to_json()),
                    Side::Server => Reply::parse(&text).map(|reply| reply.to_json()),
                };
                let again: Json =
                    serde_json::from_str(&again.unwrap_or_else(|error| panic!("{error}: {text}"))).unwrap();
                // Nothing in it is unknown, and nothing stands for what it is anyway.
                assert_eq!(again, json, "{}", exchange.title);
            }
        }
    }
}
