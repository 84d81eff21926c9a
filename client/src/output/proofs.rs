//! Proofs as trees: each fact on a line, below it what it follows from.
//!
//! What stands in several places is drawn where it comes first. A tree that would leave the terminal goes on below, under a
//! number, as a tree of its own.

use super::printable;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Write};
use stratalog_client::files::value_text;
use stratalog_client::{AggregateProof, FactSource, ProofKind, ProofNode, ProofTree, Value};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How trees are drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub ascii: bool,
    pub colour: bool,
    /// Columns of the terminal; without one, nothing is folded.
    pub width: Option<u16>,
}

/// A fact is given so much of a line at least; where that is not left, its tree goes on below.
const READABLE: usize = 36;
/// So many inputs of an aggregate stand in a line.
const INPUTS: usize = 4;

/// Draws a proof; `names` are the columns of the answer.
pub(super) fn write(out: &mut dyn Write, tree: &ProofTree, names: &[String], look: Look) -> io::Result<()> {
    let mut drawing = Drawing {
        out,
        tree,
        names,
        look,
        numbers: HashMap::new(),
        drawn: HashSet::new(),
        later: VecDeque::new(),
    };
    for (place, root) in tree.roots.iter().enumerate() {
        if place > 0 {
            writeln!(drawing.out, "{}", drawing.faint("or"))?;
        }
        drawing.draw(root, String::new(), String::new())?;
    }
    while let Some((id, number)) = drawing.later.pop_front() {
        writeln!(drawing.out)?;
        let mark = format!("[{number}] ");
        let below = " ".repeat(mark.width());
        drawing.draw(id, mark, below)?;
    }
    Ok(())
}

/// A proof as plain text.
pub(crate) fn text(tree: &ProofTree, names: &[String]) -> String {
    let mut out = Vec::new();
    // Writing to memory does not fail.
    let _ = write(&mut out, tree, names, Look { ascii: true, colour: false, width: None });
    String::from_utf8_lossy(&out).into_owned()
}

struct Drawing<'d> {
    out: &'d mut dyn Write,
    tree: &'d ProofTree,
    names: &'d [String],
    look: Look,
    /// The numbers of trees that go on below.
    numbers: HashMap<&'d str, usize>,
    /// Nodes that stand somewhere already.
    drawn: HashSet<&'d str>,
    later: VecDeque<(&'d str, usize)>,
}

impl<'d> Drawing<'d> {
    /// Draws a node and what is below it; `first` stands before its first line, `rest` before all others.
    fn draw(&mut self, id: &'d str, first: String, rest: String) -> io::Result<()> {
        // Proofs may be deep: what is still to be drawn is a list, not a call in a call.
        let mut open = vec![(id, first, rest)];
        // What goes on below has been announced, and is drawn here.
        let mut is_first = true;
        while let Some((id, first, rest)) = open.pop() {
            let Some(node) = self.tree.nodes.get(id) else { continue };
            let fact = self.fact(node);
            let has_more = !node.children.is_empty();
            if has_more && !is_first && self.drawn.contains(id) {
                let mark = self.numbers.get(id).map_or_else(|| "above".to_owned(), |n| format!("see [{n}]"));
                self.line(&first, &rest, &fact, &mark)?;
                continue;
            }
            if has_more && !is_first && self.is_narrow(&rest) {
                let number = self.numbers.len() + 1;
                self.numbers.insert(id, number);
                self.drawn.insert(id);
                self.later.push_back((id, number));
                self.line(&first, &rest, &fact, &format!("see [{number}]"))?;
                continue;
            }
            is_first = false;
            self.drawn.insert(id);
            let (branch, last, bar) = match self.look.ascii {
                true => ("|- ", "`- ", "|  "),
                false => ("├─ ", "└─ ", "│  "),
            };
            let below = if has_more { format!("{rest}{bar}") } else { format!("{rest}   ") };
            self.line(&first, &below, &fact, &reason(node))?;
            for (place, child) in node.children.iter().enumerate().rev() {
                let is_last = place + 1 == node.children.len();
                let (mark, more) = if is_last { (last, "   ") } else { (branch, bar) };
                open.push((child, format!("{rest}{mark}"), format!("{rest}{more}")));
            }
        }
        Ok(())
    }

    /// Whether a line that begins so has little room.
    fn is_narrow(&self, before: &str) -> bool {
        self.look.width.is_some_and(|width| before.width() + READABLE > usize::from(width).max(READABLE + 3))
    }

    /// A fact and what there is to say of it: on one line if there is room, else folded.
    fn line(&mut self, first: &str, rest: &str, fact: &str, note: &str) -> io::Result<()> {
        let width = self.look.width.map_or(usize::MAX, usize::from);
        let one = first.width() + fact.width() + if note.is_empty() { 0 } else { 2 + note.width() };
        if one <= width {
            let note = if note.is_empty() { String::new() } else { format!("  {}", self.faint(note)) };
            return writeln!(self.out, "{first}{fact}{note}");
        }
        let mut before = first;
        for part in folded(fact, width.saturating_sub(first.width())) {
            writeln!(self.out, "{before}{part}")?;
            before = rest;
        }
        for part in folded(note, width.saturating_sub(rest.width() + 2)) {
            writeln!(self.out, "{rest}  {}", self.faint(&part))?;
        }
        Ok(())
    }

    fn faint(&self, text: &str) -> String {
        match self.look.colour {
            true => nu_ansi_term::Style::new().dimmed().paint(text).to_string(),
            false => text.to_owned(),
        }
    }

    fn fact(&self, node: &ProofNode) -> String {
        let values = || node.conclusion.args.iter().map(argument);
        let text = match (node.kind, &node.negation) {
            (ProofKind::Negation, Some(negation)) => {
                format!("no {}", negation.pattern.strip_prefix('!').unwrap_or(&negation.pattern))
            }
            // The query has no name, but its columns have.
            _ if node.conclusion.pred == "?" => {
                let named = self.names.iter().zip(values()).map(|(name, value)| format!("{name} = {value}"));
                named.collect::<Vec<_>>().join(", ")
            }
            _ => format!("{}({})", node.conclusion.pred, values().collect::<Vec<_>>().join(", ")),
        };
        printable(&text).into_owned()
    }
}

/// A value as a program would write it.
fn argument(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        other => value_text(other, "null").into_owned(),
    }
}

/// Why a node holds, in a few words.
fn reason(node: &ProofNode) -> String {
    let rule = node.rule_id.as_deref().unwrap_or_default();
    let mut text = match node.kind {
        ProofKind::Fact if node.source == Some(FactSource::Session) => "of this session".to_owned(),
        ProofKind::Fact | ProofKind::Negation => String::new(),
        ProofKind::Rule => format!("by {rule}"),
        ProofKind::Aggregate => {
            let all = if node.aggregates.is_empty() { node.aggregate.as_slice() } else { &node.aggregates };
            let aggregates: Vec<String> = all.iter().map(aggregated).collect();
            format!("by {rule}; {}", aggregates.join("; "))
        }
        ProofKind::VectorSearch => match &node.vector_search {
            Some(search) => format!("found by {} at {}", search.index_name, argument(&search.distance)),
            None => "found by a search".to_owned(),
        },
        ProofKind::WhyNot => String::new(),
        ProofKind::Truncated => format!("goes on: .why ?{}", fact_text(node)),
    };
    if let Some(value) = &node.replaced_by {
        text.push_str(&format!("; replaced by {} later", argument(value)));
    }
    if node.alternatives > 0 {
        let ways = if node.alternatives == 1 { "way" } else { "ways" };
        text.push_str(&format!(" (and {} other {ways})", node.alternatives));
    }
    printable(&text).into_owned()
}

fn fact_text(node: &ProofNode) -> String {
    let values: Vec<String> = node.conclusion.args.iter().map(argument).collect();
    format!("{}({})", node.conclusion.pred, values.join(", "))
}

/// `sum<N> = 7 of 3: 1, 2, 4`
fn aggregated(proof: &AggregateProof) -> String {
    let place = proof.input_columns.iter().position(|column| *column == proof.value_var);
    let inputs: Vec<String> =
        proof.sample_inputs.iter().take(INPUTS).filter_map(|input| input.get(place?).map(argument)).collect();
    let more = if proof.contributing_count > inputs.len() as u64 { ", …" } else { "" };
    let of = if inputs.is_empty() { String::new() } else { format!(": {}{more}", inputs.join(", ")) };
    let (function, variable) = (&proof.function, &proof.value_var);
    format!("{function}<{variable}> = {} of {}{of}", argument(&proof.result), proof.contributing_count)
}

/// `text` in lines of at most this width, broken at blanks where there are any.
fn folded(text: &str, width: usize) -> Vec<String> {
    let width = width.max(READABLE / 2);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        if !line.is_empty() && line.width() + word.trim_end().width() > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
        }
        for c in word.chars() {
            if line.width() + c.width().unwrap_or(0) > width {
                lines.push(std::mem::take(&mut line));
            }
            // The blank that a line ends with begins no other.
            if c != ' ' || !line.is_empty() {
                line.push(c);
            }
        }
    }
    if !line.trim_end().is_empty() {
        lines.push(line.trim_end().to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn drawn(tree: serde_json::Value, width: Option<u16>) -> String {
        let tree: ProofTree = serde_json::from_value(tree).unwrap();
        let mut out = Vec::new();
        write(&mut out, &tree, &[], Look { ascii: false, colour: false, width }).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn chain(length: usize) -> serde_json::Value {
        let mut nodes = serde_json::Map::new();
        for place in 0..length {
            let is_last = place + 1 == length;
            nodes.insert(
                format!("n{place}"),
                json!({
                    "kind": if is_last { "fact" } else { "rule" },
                    "conclusion": {"pred": "reaches", "args": ["start", format!("node {place}")]},
                    "rule_id": if is_last { None } else { Some("reaches(X, Z) <- reaches(X, Y), edge(Y, Z)") },
                    "height": length - place,
                    "children": if is_last { vec![] } else { vec![format!("n{}", place + 1)] },
                }),
            );
        }
        json!({"version": 1, "query": "", "roots": ["n0"], "nodes": nodes})
    }

    #[test]
    fn a_tree_is_drawn_once_whoever_needs_it() {
        let tree = json!({
            "version": 1, "query": "", "roots": ["n0"],
            "nodes": {
                "n0": {"kind": "rule", "conclusion": {"pred": "p", "args": [1]}, "rule_id": "p(X) <- q(X), r(X), !s(X)",
                       "height": 3, "alternatives": 2, "children": ["n1", "n2", "n4"]},
                "n1": {"kind": "rule", "conclusion": {"pred": "q", "args": [1]}, "rule_id": "q(X) <- e(X)", "height": 1,
                       "children": ["n3"]},
                "n2": {"kind": "rule", "conclusion": {"pred": "r", "args": [1]}, "rule_id": "r(X) <- q(X)", "height": 2,
                       "children": ["n1"]},
                "n3": {"kind": "fact", "conclusion": {"pred": "e", "args": [1]}, "source": "session", "height": 0},
                "n4": {"kind": "negation", "conclusion": {"pred": "s", "args": [1]}, "negation": {"pattern": "!s(1)"}, "height": 0}
            }
        });
        assert_eq!(
            drawn(tree, None),
            "p(1)  by p(X) <- q(X), r(X), !s(X) (and 2 other ways)\n\
             ├─ q(1)  by q(X) <- e(X)\n\
             │  └─ e(1)  of this session\n\
             ├─ r(1)  by r(X) <- q(X)\n\
             │  └─ q(1)  above\n\
             └─ no s(1)\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_nothing_is_lost() {
        for width in [40, 80, 200] {
            let text = drawn(chain(60), Some(width));
            assert!(text.lines().all(|line| line.width() <= usize::from(width)), "{width}:\n{text}");
            assert!((0..60).all(|place| text.contains(&format!("node {place}\""))), "{width}:\n{text}");
        }
        assert_eq!(drawn(chain(60), None).lines().count(), 60);
    }
}
