//! How a program is to run: parameters, limits, and whether it is one transaction; and how an answer is to be told.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use stratalog_protocol::{EvaluationPlace, Value, Working};

/// How a program is to run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExecuteOptions {
    /// A value for each `$name` in the program.
    pub params: BTreeMap<String, Value>,
    /// At most so many rows.
    pub limit: Option<u64>,
    /// The program is stopped after so long, or sooner where the server's own limit is shorter.
    pub timeout: Option<Duration>,
    /// Either all writes of the program take effect, or none.
    pub atomic: bool,
    /// The program's rules take the place of those of the same heads that there were before it.
    pub replace_rules: bool,
    /// Where its queries are evaluated.
    pub place: EvaluationPlace,
    /// Who is told how far it is.
    pub progress: Option<Watcher>,
}

/// Somebody who is told how far a program is, twice a second while its answer is waited for: [`ExecuteOptions::progress`].
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(&Working) + Send + Sync>);

impl Watcher {
    pub(crate) fn tell(&self, working: &Working) {
        (self.0)(working);
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watcher(..)")
    }
}

/// Each is equal to its copies alone.
impl PartialEq for Watcher {
    fn eq(&self, other: &Watcher) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl ExecuteOptions {
    /// Gives `$name` a value.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Parameter>) -> ExecuteOptions {
        self.params.insert(name.into(), value.into().0);
        self
    }

    /// Asks for at most so many rows.
    #[must_use]
    pub fn limit(mut self, rows: u64) -> ExecuteOptions {
        self.limit = Some(rows);
        self
    }

    /// Stops the program after so long.
    #[must_use]
    pub fn timeout(mut self, time: Duration) -> ExecuteOptions {
        self.timeout = Some(time);
        self
    }

    /// Lets the program's rules take the place of those of the same heads that there were before it.
    #[must_use]
    pub fn replace_rules(mut self) -> ExecuteOptions {
        self.replace_rules = true;
        self
    }

    /// Says where its queries are evaluated.
    #[must_use]
    pub fn place(mut self, place: EvaluationPlace) -> ExecuteOptions {
        self.place = place;
        self
    }

    /// Tells how far the program is, twice a second, while its answer is waited for.
    #[must_use]
    pub fn progress(mut self, tell: impl Fn(&Working) + Send + Sync + 'static) -> ExecuteOptions {
        self.progress = Some(Watcher(Arc::new(tell)));
        self
    }

    /// Makes the program's writes one transaction.
    #[must_use]
    pub fn atomic(mut self) -> ExecuteOptions {
        self.atomic = true;
        self
    }
}

/// How an answer is to be told as it changes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LiveOptions {
    /// A value for each `$name` in the query.
    pub params: BTreeMap<String, Value>,
    /// No two versions are told as one change.
    pub every_version: bool,
    /// It is told how far everything is, for [`Live::wait`](crate::Live::wait).
    pub progress: bool,
    /// Go on after what this [token](crate::Live::token) stands for.
    pub resume: Option<String>,
}

impl LiveOptions {
    /// Gives `$name` a value.
    #[must_use]
    pub fn param(mut self, name: impl Into<String>, value: impl Into<Parameter>) -> LiveOptions {
        self.params.insert(name.into(), value.into().0);
        self
    }

    /// Tells each version that changes the answer by itself, and not several as one change. Who is so far behind that this is not
    /// possible any more gets all rows.
    #[must_use]
    pub fn every_version(mut self) -> LiveOptions {
        self.every_version = true;
        self
    }

    /// Tells how far everything is, for [`Live::wait`](crate::Live::wait).
    #[must_use]
    pub fn progress(mut self) -> LiveOptions {
        self.progress = true;
        self
    }

    /// Goes on after what a [token](crate::Live::token) stands for: where the server still knows what has changed since, that alone
    /// is told, and otherwise all rows.
    #[must_use]
    pub fn resume(mut self, token: impl Into<String>) -> LiveOptions {
        self.resume = Some(token.into());
        self
    }
}

/// What may be given to a `$name`: a [`Value`], or what turns into one.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter(Value);

macro_rules! parameter_from {
    ($($type:ty => $value:expr),* $(,)?) => {
        $(impl From<$type> for Parameter {
            fn from(value: $type) -> Parameter {
                let make: fn($type) -> Value = $value;
                Parameter(make(value))
            }
        })*
    };
}

parameter_from! {
    Value => |value| value,
    bool => Value::Bool,
    i64 => Value::Int,
    i32 => |value| Value::Int(value.into()),
    f64 => Value::Float,
    String => Value::Text,
    &str => |value| Value::Text(value.to_owned()),
    Vec<f64> => Value::Vector,
}
