//! Golden files: programs and their answers, side by side.
//!
//! ```text
//! # A remark: kept, not sent.
//! +edge[(1, 2), (2, 3)]
//! ---
//! : ...2...edge...
//!
//! ?edge(X, 3)
//! ---
//! X | 3
//! 2 | 3
//! ```
//!
//! A block is a program, `---`, its answer, a blank line; blocks run one after the other in one session. An answer is
//! messages (`: text`), errors (`! code at line:column length n: text`), or the column names and then the rows, sorted
//! unless the program asks for an order. In a session with facts or rules of its own, `@ persistent` or `@ ephemeral`
//! follows each row, and the line `@ a b` names the relations with facts of the session. `(2 of 9 rows)` follows rows that a limit cut, and warnings
//! (`~ code at line:column ...`) follow everything. In the lines with a mark `...` stands for any text, and text at the
//! end may be left out; a cell `...` of a row is any value. `$name = value` in front of a program (JSON) is a parameter of it.
//!
//! Beside its answer, every refusal has to say where and what to do.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use stratalog_engine::{
    Answer, Budget, Code, Content, Diagnostic, Error, Parameters, Rows, RunOptions, Session, SourceMap, Value,
};

use crate::answers::rows_of;
use crate::modes::{Mode, modes};
use crate::value::Row;

/// One golden file.
#[derive(Debug)]
pub struct Golden {
    /// `topic::behaviour`.
    pub name: String,
    path: PathBuf,
    blocks: Vec<Block>,
}

/// A program and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Block {
    line: usize,
    remarks: Vec<String>,
    parameters: Vec<String>,
    program: String,
    answer: Vec<String>,
}

/// All golden files below a folder, by name.
pub fn files(folder: &Path) -> Vec<Golden> {
    let mut files = Vec::new();
    for topic in entries(folder) {
        for path in entries(&topic).into_iter().filter(|path| path.extension().is_some_and(|e| e == "dl")) {
            let text = fs::read_to_string(&path).expect("a golden file can be read");
            files.push(Golden {
                name: format!("{}::{}", stem(&topic), stem(&path)),
                blocks: parse(&text),
                path,
            });
        }
    }
    files
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of golden files can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    paths
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn parse(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let owned =
        |from: usize, to: usize| lines[from.min(to)..to].iter().map(|line| (*line).to_owned()).collect();
    let find = |from: usize, stop: fn(&str) -> bool| {
        lines.iter().skip(from).position(|line| stop(line)).map_or(lines.len(), |n| from + n)
    };
    let mut blocks = Vec::new();
    let mut end = 0;
    loop {
        let start = find(end, |line| !line.trim().is_empty());
        if start == lines.len() {
            return blocks;
        }
        let parameters = find(start, |line| !line.starts_with('#'));
        let program = find(parameters, |line| !line.starts_with('$'));
        let answer = find(program, |line| line == "---");
        end = find(answer, str::is_empty);
        blocks.push(Block {
            line: start + 1,
            remarks: owned(start, parameters),
            parameters: owned(parameters, program),
            program: lines[program..answer].join("\n"),
            answer: owned(answer + 1, end),
        });
    }
}

impl Golden {
    /// The programs of the file, in order.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|block| block.program.as_str())
    }

    /// The same with their parameters, each as `$name = JSON`.
    pub fn questions(&self) -> impl Iterator<Item = (&str, Vec<(&str, &str)>)> {
        let split = |line: &'_ String| -> (usize, usize) {
            let name = line.find(['=', ' ']).unwrap_or(line.len());
            (name, line.find('=').map_or(line.len(), |at| at + 1))
        };
        self.blocks.iter().map(move |block| {
            let parameters = block.parameters.iter().map(|line| {
                let (name, value) = split(line);
                (line[1..name].trim(), line[value..].trim())
            });
            (block.program.as_str(), parameters.collect())
        })
    }

    /// Runs the file in every mode; answers what differs.
    pub fn check(&self) -> Vec<String> {
        let mut differences = Vec::new();
        for (mode, in_pieces) in modes().into_iter().map(|mode| (mode, false)).chain([(modes()[0], true)]) {
            let mut session = open(mode);
            for block in &self.blocks {
                let found = match explode(block).filter(|_| in_pieces) {
                    Some(statements) => refusals(&mut session, &statements),
                    None => answer(&mut session, &block.program, &block.parameters),
                };
                let expected =
                    if in_pieces && explode(block).is_some() { &[][..] } else { &block.answer[..] };
                if !agree(expected, &found) {
                    let facts = if in_pieces { ", facts in pieces" } else { "" };
                    differences.push(format!(
                        "{}:{}, {mode}{facts}\n{}\n--- expected\n{}\n--- found\n{}\n",
                        self.path.display(),
                        block.line,
                        block.program,
                        expected.join("\n"),
                        found.join("\n")
                    ));
                }
            }
            if !differences.is_empty() {
                break;
            }
        }
        differences
    }

    /// Writes the answers that the first mode gives into the file.
    pub fn update(&mut self) {
        let mut session = open(modes()[0]);
        let mut text = String::new();
        for block in &mut self.blocks {
            block.answer = answer(&mut session, &block.program, &block.parameters);
            let before = block.remarks.iter().chain(&block.parameters).map(String::as_str);
            let lines = before.chain([block.program.as_str(), "---"]);
            for line in lines.chain(block.answer.iter().map(String::as_str)).chain([""]) {
                text.push_str(line);
                text.push('\n');
            }
        }
        fs::write(&self.path, text.trim_end().to_owned() + "\n").expect("a golden file can be written");
    }
}

fn open(mode: Mode) -> Session {
    mode.engine().open_session("default").expect("the graph `default` exists")
}

/// Runs a program and prints its answer.
fn answer(session: &mut Session, program: &str, parameters: &[String]) -> Vec<String> {
    let ordered = asks_for_order(program);
    match run(session, program, parameters) {
        Ok(answer) => {
            let mut lines = match &answer.content {
                Content::Messages(messages) => {
                    messages.iter().map(|message| format!(": {message}")).collect()
                }
                Content::Rows(rows) => print_rows(rows, ordered),
            };
            if let Some(ephemeral) = &answer.ephemeral {
                lines.push(format!("@ {}", ephemeral.sources.join(" ")).trim_end().to_owned());
            }
            lines.extend(answer.warnings.iter().map(|warning| print_diagnostic('~', warning, program)));
            lines
        }
        Err(Error::Internal { stage, detail }) => panic!("an internal error in stage `{stage}`: {detail}"),
        Err(error) => error.diagnostics().iter().flat_map(|found| refusal(found, program)).collect(),
    }
}

fn run(session: &mut Session, program: &str, parameters: &[String]) -> Result<Answer, Error> {
    let prepared = session.prepare(program, &read_parameters(parameters))?;
    session.run(prepared, &RunOptions::default(), &Budget::unlimited())
}

fn read_parameters(lines: &[String]) -> Parameters {
    let mut parameters = Parameters::new();
    for line in lines {
        let (name, json) =
            line.trim_start_matches('$').split_once('=').expect("a parameter reads `$name = value`");
        let json = serde_json::from_str(json).expect("the value of a parameter is JSON");
        parameters.insert(name.trim().to_owned(), value(&json));
    }
    parameters
}

fn value(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(number) => match number.as_i64() {
            Some(n) => Value::Int(n),
            None => Value::Float(number.as_f64().expect("a number is an integer or a float")),
        },
        Json::String(text) => Value::text(text.as_str()),
        Json::Array(elements) => Value::List(elements.iter().map(value).collect()),
        Json::Object(_) => panic!("no value is an object"),
    }
}

/// Whether an order mark stands anywhere but inside a ranking aggregate.
fn asks_for_order(program: &str) -> bool {
    let mut parts = program.split('<');
    let mut before = parts.next().unwrap_or_default();
    let mut text = before.to_owned();
    for part in parts {
        let ranks = ["top_k", "top_k_threshold", "within_radius"].iter().any(|name| before.ends_with(name));
        text.push_str(if ranks { part.split_once('>').map_or("", |(_, after)| after) } else { part });
        before = part;
    }
    text.contains(":asc") || text.contains(":desc")
}

fn print_rows(rows: &Rows, ordered: bool) -> Vec<String> {
    let names: Vec<String> = rows.columns().iter().map(|column| column.name.replace('\n', "\\n")).collect();
    let mut values = if names.is_empty() {
        vec![Row::new(); rows.row_count()]
    } else {
        rows_of(&rows.batch(0, rows.row_count()))
    };
    let mut origins = rows.provenance().map(<[_]>::to_vec);
    if !ordered {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].cmp(&values[*b]));
        origins = origins.map(|origins| order.iter().map(|row| origins[*row]).collect());
        values.sort();
    }
    let mut lines = vec![print_row(&names)];
    lines.extend(values.iter().enumerate().map(|(row, values)| match &origins {
        Some(origins) => format!("{} @ {}", print_row(values), origins[row].as_str()),
        None => print_row(values),
    }));
    if rows.truncated() {
        lines.push(format!("({} of {} rows)", rows.row_count(), rows.total_count()));
    }
    lines
}

fn print_row<T: ToString>(row: &[T]) -> String {
    if row.is_empty() {
        "()".to_owned()
    } else {
        row.iter().map(T::to_string).collect::<Vec<_>>().join(" | ")
    }
}

/// A refusal, and what it leaves open. A parameter without a `$name` has no place in the program.
fn refusal(found: &Diagnostic, program: &str) -> Vec<String> {
    let mut lines = vec![print_diagnostic('!', found, program)];
    let nowhere = found.span.is_none() && found.code != Code::InvalidParameter;
    let silent = [(nowhere, "where"), (found.help.is_none(), "what to do")];
    lines.extend(
        silent.iter().filter(|(silent, _)| *silent).map(|(_, what)| format!("it does not say {what}")),
    );
    lines
}

fn print_diagnostic(mark: char, diagnostic: &Diagnostic, program: &str) -> String {
    let mut line = format!("{mark} {}", diagnostic.code.as_str());
    if let Some(span) = diagnostic.span {
        let place = SourceMap::new(program).place(span);
        // Writing to a `String` cannot fail.
        let _ = write!(line, " at {}:{} length {}", place.line, place.column, place.length);
    }
    line = line + ": " + &diagnostic.message.replace('\n', " ");
    match &diagnostic.help {
        Some(help) => line + " (help: " + &help.replace('\n', " ") + ")",
        None => line,
    }
}

fn agree(expected: &[String], found: &[String]) -> bool {
    expected.len() == found.len() && expected.iter().zip(found).all(|(expected, found)| fits(expected, found))
}

/// Whether a line is what was expected; lines with a mark may leave text out, others whole cells.
fn fits(expected: &str, found: &str) -> bool {
    if expected == found {
        return true;
    }
    if !expected.starts_with([':', '!', '~']) {
        let (expected, found) = (expected.split(" | "), found.split(" | "));
        return expected.clone().count() == found.clone().count()
            && expected.zip(found).all(|(expected, found)| expected == found || expected == "...");
    }
    ["", " ...", ": ..."].iter().any(|rest| matches(&(expected.to_owned() + rest), found))
}

/// Whether the pieces of a pattern between `...` follow each other in the text.
fn matches(pattern: &str, text: &str) -> bool {
    let pieces: Vec<&str> = pattern.split("...").collect();
    let [first, .., last] = pieces[..] else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first).and_then(|rest| rest.strip_suffix(last)) else {
        return false;
    };
    for piece in &pieces[1..pieces.len() - 1] {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    true
}

/// The facts of a block as one statement each, where it holds nothing but bulk inserts that succeed.
fn explode(block: &Block) -> Option<Vec<String>> {
    if !block.answer.iter().all(|line| line.starts_with(':')) {
        return None;
    }
    let mut statements = Vec::new();
    for line in block.program.lines() {
        let (relation, tuples) = line.strip_prefix('+')?.split_once('[')?;
        let tuples = tuples.strip_suffix(']')?;
        if !relation.chars().all(|c| c.is_alphanumeric() || c == '_') {
            return None;
        }
        for tuple in split(tuples) {
            let tuple = tuple.trim();
            let open = if tuple.starts_with('(') { tuple.to_owned() } else { format!("({tuple})") };
            statements.push(format!("+{relation}{open}"));
        }
    }
    Some(statements)
}

/// Splits at the commas that stand outside of brackets and strings.
fn split(tuples: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut escaped, mut start) = (0_i32, false, false, 0);
    let mut parts = Vec::new();
    for (at, c) in tuples.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tuples[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tuples[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

/// What the engine complains about; messages do not count.
fn refusals(session: &mut Session, statements: &[String]) -> Vec<String> {
    statements
        .iter()
        .flat_map(|statement| answer(session, statement, &[]))
        .filter(|line| !line.starts_with(':'))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Block, explode, fits, parse};

    #[test]
    fn blocks_are_a_program_and_its_answer() {
        let text = "\n# remark\n+e(1)\n\n+f(2)\n---\n: a\n\n\n?e(X)\n---\nX\n1\n";
        let block = |line, remarks: &[&str], program: &str, answer: &[&str]| Block {
            line,
            remarks: remarks.iter().map(|&r| r.to_owned()).collect(),
            parameters: Vec::new(),
            program: program.to_owned(),
            answer: answer.iter().map(|&a| a.to_owned()).collect(),
        };
        assert_eq!(
            parse(text),
            [block(2, &["# remark"], "+e(1)\n\n+f(2)", &[": a"]), block(10, &[], "?e(X)", &["X", "1"])]
        );
    }

    #[test]
    fn marked_lines_may_leave_text_out() {
        assert!(fits(": ...2...edge...", ": 2 facts into `edge`"));
        assert!(fits("! parse_error at 1:3", "! parse_error at 1:3 length 2: what"));
        assert!(!fits("! parse_error at 1:3", "! parse_error at 1:34 length 2: what"));
        assert!(!fits("1 ...", "1 | 2"));
        assert!(fits("1 | ... | 3", "1 | \"two\" | 3"));
        assert!(!fits("1 | ...", "2 | 2"));
        assert!(!fits("1 | ...", "1 | 2 | 3"));
        assert!(fits(":", ": anything"));
    }

    #[test]
    fn bulk_inserts_come_apart() {
        let block = |program: &str| Block {
            line: 1,
            remarks: Vec::new(),
            parameters: Vec::new(),
            program: program.to_owned(),
            answer: vec![": done".to_owned()],
        };
        let statements = explode(&block("+e[(1, \"a),(\"), ([1, 2], 3),]")).unwrap();
        assert_eq!(statements, ["+e(1, \"a),(\")", "+e([1, 2], 3)"]);
        assert_eq!(explode(&block("+e[1, 2]")).unwrap(), ["+e(1)", "+e(2)"]);
        assert_eq!(explode(&block("+e(1)")), None);
    }
}
