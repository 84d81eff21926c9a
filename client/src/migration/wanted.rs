//! What a folder of programs says that there should be: declarations, rules and indexes, and nothing else.

use super::present::Column;
use crate::commands::programs::programs;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use stratalog_engine::diagnostic::Diagnose;
use stratalog_engine::syntax::ast::{Declare, Scope, Statement, StatementKind, TypeKind};
use stratalog_engine::syntax::{SyntaxFault, parse};
use stratalog_engine::{Limits, SourceMap, Span};

/// What there should be, with the texts that make it.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    /// The columns of each relation, and its declaration.
    pub(super) relations: BTreeMap<String, (Vec<Column>, String)>,
    /// The clauses of each head, without their `+`.
    pub(super) rules: BTreeMap<String, Vec<String>>,
    /// The command that creates each index.
    pub(super) indexes: BTreeMap<String, String>,
    /// Where each of these texts stands: file, line and column.
    pub(super) places: BTreeMap<String, String>,
    /// Names of types, in the order of the files.
    pub(super) types: Vec<(String, String)>,
}

impl Wanted {
    /// Reads all `.dl` files of a folder and of those inside, in the order of their paths; or a single file.
    pub(crate) fn read(folder: &Path) -> Result<Wanted, String> {
        let files = programs(&[folder])?;
        let mut wanted = Wanted::default();
        let mut problems = Vec::new();
        for file in &files {
            let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
            wanted.add(file, &text, &mut problems);
        }
        if problems.is_empty() { Ok(wanted) } else { Err(problems.join("\n")) }
    }

    fn add(&mut self, file: &Path, text: &str, problems: &mut Vec<String>) {
        let map = SourceMap::new(text);
        let mut report = |span: Option<Span>, problem: &str| {
            let place = span.map(|span| map.place(span));
            let place = place.map_or(String::new(), |place| format!(":{}:{}", place.line, place.column));
            problems.push(format!("{}{place}: {problem}", file.display()));
        };
        let (statements, errors) = parse(text, &Limits::default());
        for error in errors {
            // There is nothing wrong with a file in which there is nothing.
            if error.fault == SyntaxFault::Empty {
                continue;
            }
            let found = error.diagnose();
            let help = found.help.as_ref().map_or(String::new(), |help| format!(" ({help})"));
            report(found.span, &format!("{}{help}", found.message));
        }
        for statement in statements {
            match self.take(&statement) {
                Ok(()) => {
                    let place = map.place(statement.span);
                    let place = format!("{}:{}:{}", file.display(), place.line, place.column);
                    self.places.entry(text_of(&statement)).or_insert(place);
                }
                Err(problem) => report(Some(statement.span), &problem),
            }
        }
    }

    fn take(&mut self, statement: &Statement) -> Result<(), String> {
        match &statement.kind {
            StatementKind::Declare(declare) if declare.scope == Scope::Persistent => self.declare(declare),
            StatementKind::DeclareType(declare) => {
                let name = declare.name.text.clone();
                let definition = self.type_text(&declare.definition.kind, &declare.definition.to_string());
                if self.types.iter().any(|(known, of)| *known == name && *of != definition) {
                    return Err(format!("the type {name} is declared twice"));
                }
                self.types.push((name, definition));
                Ok(())
            }
            StatementKind::Rule(rule) if rule.scope == Scope::Persistent => {
                let clauses = self.rules.entry(rule.rule.head.relation.text.clone()).or_default();
                let clause = rule.rule.to_string();
                if !clauses.contains(&clause) {
                    clauses.push(clause);
                }
                Ok(())
            }
            StatementKind::Command(command)
                if matches!(command.words.as_slice(), [index, create, _, ..]
                    if ["index", "idx"].contains(&index.text.as_str()) && create.text == "create") =>
            {
                let name = command.words[2].text.clone();
                match self.indexes.insert(name.clone(), format!(".{}", command.text)) {
                    None => Ok(()),
                    Some(_) => Err(format!("the index {name} is created twice")),
                }
            }
            StatementKind::Rule(_) | StatementKind::Declare(_) => {
                Err("what belongs to a session alone cannot be part of a migration: put `+` in front"
                    .to_owned())
            }
            _ => Err("a migration is made of declarations, rules and `.index create`; facts are imported"
                .to_owned()),
        }
    }

    fn declare(&mut self, declare: &Declare) -> Result<(), String> {
        let name = declare.relation.text.clone();
        let columns: Vec<Column> = declare
            .columns
            .iter()
            .map(|column| {
                let written = column.column_type.to_string();
                (column.name.text.clone(), self.type_text(&column.column_type.kind, &written))
            })
            .collect();
        match self.relations.get(&name) {
            Some((known, _)) if *known != columns => {
                Err(format!("{name} is declared twice, with other columns"))
            }
            _ => {
                self.relations.insert(name, (columns, declare.to_string()));
                Ok(())
            }
        }
    }

    /// A type as the server describes it: a name stands for what it is declared as.
    fn type_text(&self, kind: &TypeKind, written: &str) -> String {
        let named =
            |name: &String| self.types.iter().find(|(known, _)| known == name).map(|(_, of)| of.clone());
        match kind {
            TypeKind::Named(name) => named(name).unwrap_or_else(|| written.to_owned()),
            _ => written.to_owned(),
        }
    }
}

/// The line of a plan that a statement becomes.
fn text_of(statement: &Statement) -> String {
    match &statement.kind {
        StatementKind::Rule(rule) => format!("+{}", rule.rule),
        StatementKind::Declare(declare) => declare.to_string(),
        StatementKind::Command(command) => format!(".{}", command.text),
        _ => statement.to_string(),
    }
}
