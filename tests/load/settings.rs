//! What is run, from the environment.

use std::fmt;
use std::time::Duration;

/// What a request asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Point,
    Join,
    Reach,
    Insert,
    Session,
}

/// All kinds, as the mix names them.
pub(crate) const KINDS: [(Kind, &str); 5] = [
    (Kind::Point, "point"),
    (Kind::Join, "join"),
    (Kind::Reach, "reach"),
    (Kind::Insert, "insert"),
    (Kind::Session, "session"),
];

/// How many of a hundred requests are of each kind, in the order of [`KINDS`].
#[derive(Debug, Clone)]
pub(crate) struct Mix([u64; KINDS.len()]);

impl Mix {
    fn read(text: &str) -> Mix {
        let mut mix = [0; KINDS.len()];
        for part in text.split(',') {
            let (name, share) = part.split_once(':').unwrap_or_else(|| panic!("`{part}` is not KIND:SHARE"));
            let at = KINDS.iter().position(|(_, known)| *known == name.trim());
            let at = at.unwrap_or_else(|| panic!("`{name}` is none of {:?}", KINDS.map(|(_, known)| known)));
            mix[at] = share.trim().parse().expect("a share is a number");
        }
        Mix(mix)
    }

    /// The kind of a request, drawn with a random number.
    pub(crate) fn draw(&self, random: u64) -> Kind {
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

/// What is run.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) connections: Vec<usize>,
    pub(crate) time: Duration,
    pub(crate) facts: u64,
    pub(crate) mix: Mix,
    /// One user runs what never ends.
    pub(crate) divergence: bool,
    /// Somebody sends hostile input.
    pub(crate) attack: bool,
}

impl Settings {
    pub(crate) fn read() -> Settings {
        let text = |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
        let number = |name: &str, default: &str| text(name, default).parse::<u64>().expect("a number");
        let connections = text("LOAD_CONNECTIONS", "1,8,64,256");
        Settings {
            connections: connections.split(',').map(|n| n.trim().parse().expect("numbers")).collect(),
            time: Duration::from_secs(number("LOAD_SECONDS", "10")),
            facts: number("LOAD_FACTS", "100000"),
            mix: Mix::read(&text("LOAD_MIX", "point:80,reach:15,insert:5")),
            divergence: number("LOAD_DIVERGENCE", "0") != 0,
            attack: number("LOAD_ATTACK", "0") != 0,
        }
    }
}
