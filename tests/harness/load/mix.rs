//! Kinds of requests, and how often each is made.

use std::fmt;
use std::str::FromStr;

/// What a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A lookup.
    Point,
    /// A lookup in two relations.
    Join,
    /// A bound question to a recursive rule.
    Reach,
    /// A durable insert or delete of one fact.
    Insert,
    /// A fact of the session.
    Session,
}

/// All kinds, as the mix names them.
pub const KINDS: [(Kind, &str); 5] = [
    (Kind::Point, "point"),
    (Kind::Join, "join"),
    (Kind::Reach, "reach"),
    (Kind::Insert, "insert"),
    (Kind::Session, "session"),
];

/// How many of a hundred requests are of each kind, in the order of [`KINDS`].
#[derive(Debug, Clone)]
pub struct Mix([u64; KINDS.len()]);

/// What is no mix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMix(String);

impl fmt::Display for NoMix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = KINDS.map(|(_, name)| name).join(", ");
        write!(f, "`{}` is not KIND:SHARE, where KIND is one of {names}", self.0)
    }
}

impl FromStr for Mix {
    type Err = NoMix;

    fn from_str(text: &str) -> Result<Mix, NoMix> {
        let mut mix = [0; KINDS.len()];
        for part in text.split(',') {
            let wrong = || NoMix(part.to_owned());
            let (name, share) = part.split_once(':').ok_or_else(wrong)?;
            let at = KINDS.iter().position(|(_, known)| *known == name.trim()).ok_or_else(wrong)?;
            mix[at] = share.trim().parse().map_err(|_| wrong())?;
        }
        Ok(Mix(mix))
    }
}

impl Mix {
    /// The kind of a request, drawn with a random number.
    pub fn draw(&self, random: u64) -> Kind {
        let mut left = random % self.0.iter().sum::<u64>();
        for ((kind, _), share) in KINDS.iter().zip(self.0) {
            if left < share {
                return *kind;
            }
            left -= share;
        }
        Kind::Point
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> =
            KINDS.iter().zip(self.0).map(|((_, name), share)| format!("{name}:{share}")).collect();
        f.write_str(&parts.join(","))
    }
}
