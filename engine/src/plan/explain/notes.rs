//! Plans as text and as JSON: what `.explain` shows, and with measurements what `.profile` does.
//!
//! One line a step, in the order of execution: what it does, what it reads, and how many bindings are expected after
//! it. Relations that rules derive have no size before they are evaluated; theirs is marked as estimated.

use std::time::Duration;

use serde_json::{Value, json};

use super::strategies::StrategyNote;

/// How a program would be evaluated, or was.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Derived relations that need not be derived: their rows are kept.
    pub kept: Vec<RelationNote>,
    /// Those of which there are rows of an earlier state of the graph.
    pub older: Vec<OlderNote>,
    /// What each rewrite did, in their order.
    pub rewrites: Vec<RewriteNote>,
    /// Where it would be evaluated, and why, if there is a choice.
    pub place: Option<String>,
    /// What is told of relations whose rows are in attached files.
    pub files: Vec<String>,
    /// The strata in the order of evaluation.
    pub strata: Vec<StratumNote>,
    /// What came of it, if it was evaluated.
    pub answer: Option<AnswerNote>,
}

/// What one rewrite did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteNote {
    /// Its name.
    pub name: &'static str,
    /// Whether the program is another one after it.
    pub changed: bool,
    /// The relations that it made; magic ones end with their adornment, `b` for a bound column and `f` for a free one.
    pub made: Vec<String>,
    /// Whether an evaluation went on without it, as more was asked for than there is.
    pub given_up: bool,
}

/// One stratum.
#[derive(Debug, Clone, PartialEq)]
pub struct StratumNote {
    /// The relations derived here.
    pub relations: Vec<RelationNote>,
    /// Whether it runs in rounds until nothing new comes.
    pub recursive: bool,
    /// Whether it stands in the place of the one before it, if it is complete sooner; of two that were tried, only that one is
    /// noted.
    pub is_alternative: bool,
    /// How the recursion goes on, should there be much to do.
    pub strategy: Option<StrategyNote>,
    /// Its rules; a recursive one once for each atom that reads the last round's rows.
    pub rules: Vec<RuleNote>,
    /// How it went, if it ran.
    pub course: Option<Course>,
}

/// A derived relation.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationNote {
    /// Its name.
    pub name: String,
    /// Its number of rows.
    pub size: Size,
}

/// A derived relation whose rows of an earlier state of the graph are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OlderNote {
    /// Its name.
    pub name: String,
    /// Its number of rows; if they were brought forward, since then.
    pub rows: usize,
    /// What becomes of them.
    pub fate: Fate,
}

/// What becomes of rows of an earlier state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// They would be brought to the present state, if that takes no longer than this.
    Tried(Duration),
    /// They would be derived anew, which took so long the last time.
    Anew(Duration),
    /// They were brought to the present state in this way, in this time.
    Forward(Forward, Duration),
    /// That was given up after this time.
    GivenUp(Duration),
}

/// How rows were brought to the present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forward {
    /// Nothing below has become another.
    AsTheyAre,
    /// They are those of another relation.
    Shared,
    /// By joins with what has changed.
    Joins,
    /// By groups that have won and lost solutions.
    Groups,
    /// By what the nodes at edges that have changed do not reach any more, and reach now.
    Walk,
    /// By the nodes that have lost their best value, or have a better one.
    BestValues,
    /// By proofs of lower ranks.
    Ranks,
    /// By taking out all that has used what is gone, and proving it again.
    Rederivation,
}

impl Forward {
    /// As in `brought forward by ranks`, and in JSON.
    fn said(self) -> (&'static str, &'static str) {
        match self {
            Forward::AsTheyAre => ("as they are", "as_they_are"),
            Forward::Shared => ("by sharing", "shared"),
            Forward::Joins => ("by joins", "joins"),
            Forward::Groups => ("by groups", "groups"),
            Forward::Walk => ("by a walk", "walk"),
            Forward::BestValues => ("by best values", "best_values"),
            Forward::Ranks => ("by ranks", "ranks"),
            Forward::Rederivation => ("by rederivation", "rederivation"),
        }
    }
}

/// A number of rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Size {
    /// Before evaluation.
    Expected(f64),
    /// After it.
    Found(usize),
}

/// How the evaluation of a stratum went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// Rounds of recursion; where parts ran apart, as many as the slowest of them needed.
    pub rounds: usize,
    /// How long another strategy than rounds of tuples took, if one did.
    pub switched: Option<Duration>,
    /// From its beginning to its end.
    pub time: Duration,
}

/// One rule's plan.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleNote {
    /// The rule.
    pub text: String,
    /// The relation whose new rows drive this variant of a recursive rule.
    pub delta: Option<String>,
    /// Source, steps and head.
    pub steps: Vec<StepNote>,
}

/// One step of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct StepNote {
    /// Its algorithm, in a word.
    pub operator: &'static str,
    /// What it reads or computes.
    pub detail: String,
    /// Bindings expected after it.
    pub rows: f64,
    /// Whether it reads a relation that is derived, whose size is estimated.
    pub estimated: bool,
    /// What it did, if it ran.
    pub measured: Option<Measured>,
}

/// What an operator did, in all rounds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// Bindings that left it; of the head, rows that were new.
    pub rows: u64,
    /// The time spent in it alone, added up over threads.
    pub time: Duration,
}

/// What a query answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerNote {
    /// Rows of the answer.
    pub rows: usize,
    /// What they would be without a limit.
    pub total: usize,
    /// From the beginning to the end, with sorting.
    pub time: Duration,
}

impl Explanation {
    /// The plan as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let kept = self.kept.iter().map(|relation| format!("kept {}", relation.text()));
        let older = self.older.iter().map(OlderNote::line);
        let mut lines: Vec<String> =
            older.chain(kept).chain(self.rewrites.iter().map(RewriteNote::line)).collect();
        lines.extend(self.place.clone());
        lines.extend(self.files.iter().cloned());
        for (number, stratum) in self.strata.iter().enumerate() {
            lines.push(stratum.line(number + 1));
            for rule in &stratum.rules {
                let delta = rule.delta.as_ref().map(|name| format!(", new rows of {name}"));
                lines.push(format!("  rule {}{}", rule.text, delta.unwrap_or_default()));
                lines.extend(rule.steps.iter().map(StepNote::line));
            }
        }
        lines.extend(self.answer.as_ref().map(AnswerNote::line));
        lines
    }

    /// The plan as one JSON object.
    pub fn to_json(&self) -> String {
        let mut plan = json!({
            "kept": self.kept.iter().map(RelationNote::to_json).collect::<Vec<_>>(),
            "older": self.older.iter().map(OlderNote::to_json).collect::<Vec<_>>(),
            "rewrites": self.rewrites.iter().map(RewriteNote::to_json).collect::<Vec<_>>(),
            "strata": self.strata.iter().map(StratumNote::to_json).collect::<Vec<_>>(),
        });
        if let Some(place) = &self.place {
            plan["place"] = place.as_str().into();
        }
        if !self.files.is_empty() {
            plan["files"] = json!(self.files);
        }
        if let Some(answer) = &self.answer {
            plan["answer"] = answer.to_json();
        }
        plan.to_string()
    }
}

impl OlderNote {
    fn line(&self) -> String {
        let OlderNote { name, rows, fate } = self;
        let rows = if *rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
        match fate {
            Fate::Tried(most) => {
                format!("older {name} ({rows}), to be brought forward in {} or less", in_ms(*most))
            }
            Fate::Anew(took) => {
                format!("older {name} ({rows}), to be derived anew in about {}", in_ms(*took))
            }
            Fate::Forward(way, took) => {
                format!("older {name}, brought forward to {rows} {} in {}", way.said().0, in_ms(*took))
            }
            Fate::GivenUp(took) => format!("older {name} ({rows}), given up after {}", in_ms(*took)),
        }
    }

    fn to_json(&self) -> Value {
        let (fate, time) = match self.fate {
            Fate::Tried(most) => ("tried", most),
            Fate::Anew(took) => ("anew", took),
            Fate::Forward(_, took) => ("forward", took),
            Fate::GivenUp(took) => ("given_up", took),
        };
        let mut note = json!({ "name": self.name, "rows": self.rows, "fate": fate, "time_ms": ms(time) });
        if let Fate::Forward(way, _) = self.fate {
            note["by"] = way.said().1.into();
        }
        note
    }
}

impl RewriteNote {
    fn line(&self) -> String {
        let what = match (self.changed, self.made.as_slice()) {
            (false, _) => "changes nothing".to_owned(),
            (true, []) => "changes rules".to_owned(),
            (true, made) => format!("makes {}", made.join(", ")),
        };
        let given_up =
            if self.given_up { "; given up, as that asks for many more rows than are stored" } else { "" };
        format!("rewrite {}: {what}{given_up}", self.name)
    }

    fn to_json(&self) -> Value {
        json!({ "name": self.name, "changed": self.changed, "made": self.made, "given_up": self.given_up })
    }
}

impl StratumNote {
    fn line(&self, number: usize) -> String {
        let mut line = format!("stratum {number}");
        if self.recursive {
            line += ", recursive";
        }
        if self.is_alternative && self.course.is_none() {
            line += ", or the one before it";
        }
        if let Some(strategy) = self.strategy {
            let time = self.course.and_then(|course| course.switched);
            line += &strategy.text(time.is_some()).map(|text| format!(", {text}")).unwrap_or_default();
            line += &time.map(|time| format!(" in {}", in_ms(time))).unwrap_or_default();
        }
        if let Some(course) = self.course {
            if self.recursive {
                line += &format!(", {} round{}", course.rounds, if course.rounds == 1 { "" } else { "s" });
            }
            line += &format!(", {}", in_ms(course.time));
        }
        let relations: Vec<String> = self.relations.iter().map(RelationNote::text).collect();
        format!("{line}: {}", relations.join(", "))
    }

    fn to_json(&self) -> Value {
        let mut stratum = json!({
            "relations": self.relations.iter().map(RelationNote::to_json).collect::<Vec<_>>(),
            "recursive": self.recursive,
            "strategy": self.strategy.map(StrategyNote::to_json),
            "rules": self.rules.iter().map(RuleNote::to_json).collect::<Vec<_>>(),
        });
        if self.is_alternative {
            stratum["is_alternative"] = json!(true);
        }
        if let Some(course) = self.course {
            stratum["rounds"] = json!(course.rounds);
            stratum["switched"] = json!(course.switched.is_some());
            if let Some(time) = course.switched {
                stratum["strategy_ms"] = json!(ms(time));
            }
            stratum["time_ms"] = json!(ms(course.time));
        }
        stratum
    }
}

impl RelationNote {
    fn text(&self) -> String {
        match self.size {
            Size::Expected(rows) => format!("{} ({} rows, estimated)", self.name, count(rows)),
            Size::Found(rows) => format!("{} ({rows} rows)", self.name),
        }
    }

    fn to_json(&self) -> Value {
        match self.size {
            Size::Expected(rows) => json!({ "name": self.name, "rows": count(rows) }),
            Size::Found(rows) => json!({ "name": self.name, "measured_rows": rows }),
        }
    }
}

impl RuleNote {
    /// Only where it begins and ends: what is between does not run by itself.
    pub fn ends(mut self) -> RuleNote {
        let end = self.steps.len().saturating_sub(1).max(1);
        self.steps.drain(1..end);
        self
    }

    fn to_json(&self) -> Value {
        let steps: Vec<Value> = self.steps.iter().map(StepNote::to_json).collect();
        json!({ "rule": self.text, "delta": self.delta, "steps": steps })
    }
}

impl StepNote {
    fn line(&self) -> String {
        let step = format!("    {} {}", self.operator, self.detail);
        match self.measured {
            None => {
                let estimated = if self.estimated { ", estimated" } else { "" };
                format!("{step} -> {} rows{estimated}", count(self.rows))
            }
            Some(Measured { rows, time }) => {
                format!("{step} -> {rows} rows, expected {}, {}", count(self.rows), in_ms(time))
            }
        }
    }

    fn to_json(&self) -> Value {
        let mut step = json!({
            "operator": self.operator,
            "detail": self.detail,
            "rows": count(self.rows),
            "estimated": self.estimated,
        });
        if let Some(measured) = self.measured {
            step["measured_rows"] = json!(measured.rows);
            step["time_ms"] = json!(ms(measured.time));
        }
        step
    }
}

impl AnswerNote {
    fn line(&self) -> String {
        let of = if self.rows < self.total { format!(" of {}", self.total) } else { String::new() };
        format!("answer: {}{of} rows, {}", self.rows, in_ms(self.time))
    }

    fn to_json(&self) -> Value {
        json!({ "rows": self.rows, "total": self.total, "time_ms": ms(self.time) })
    }
}

/// An estimate as a whole number; what is more than nothing is at least one.
fn count(rows: f64) -> u64 {
    rows.ceil().min(1e18) as u64
}

/// In milliseconds, to the microsecond.
fn ms(time: Duration) -> f64 {
    time.as_micros() as f64 / 1_000.0
}

fn in_ms(time: Duration) -> String {
    format!("{:.3} ms", ms(time))
}
