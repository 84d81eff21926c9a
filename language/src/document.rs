//! A program in an editor: what is known of it at one moment.

use crate::columns::Columns;
use crate::names::{Kind, Occurrence, Role, occurrences};
use std::collections::BTreeMap;
use stratalog_engine::syntax::ast::{Statement, StatementKind};
use stratalog_engine::syntax::{TokenClass, parse, tokens};
use stratalog_engine::{Checked, Diagnostic, Limits, Span, check_among};

/// A program, its names, and what a check says of it.
#[derive(Debug, Default)]
pub struct Document {
    pub(crate) text: String,
    pub(crate) statements: Vec<Statement>,
    occurrences: Vec<Occurrence>,
    checked: Checked,
    /// Whether there are only comments.
    is_empty: bool,
}

/// What an outline shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The relation or type.
    pub name: String,
    /// Its columns, if they are known.
    pub detail: Option<String>,
    /// Whether it names a relation or a type.
    pub kind: Kind,
    /// What is done here: symbols are what is declared, derived or filled, in this order of preference.
    pub role: Role,
    /// From the first to the last statement about it that follow each other.
    pub span: Span,
    /// The name at the first.
    pub name_span: Span,
}

/// What a piece of text is, for those who colour it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// A name that is understood.
    Named(Kind, Role),
    /// A word of the language or of a command.
    Word,
    /// A number.
    Number,
    /// A string.
    Text,
    /// A sign.
    Sign,
    /// A comment.
    Comment,
}

impl Document {
    /// Reads a program that stands among others.
    pub fn new<'t>(text: String, others: impl IntoIterator<Item = &'t str>) -> Document {
        let (statements, _) = parse(&text, &Limits::default());
        let checked = check_among(&text, others);
        let occurrences = occurrences(&text, &statements, &checked.catalog);
        let is_empty = tokens(&text).iter().all(|(_, class)| *class == TokenClass::Comment);
        Document { text, statements, occurrences, checked, is_empty }
    }

    /// The program.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Errors and warnings. There is nothing wrong with a program that has not been begun.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        if self.is_empty { &[] } else { &self.checked.found }
    }

    /// All names, in the order of their places.
    pub fn occurrences(&self) -> &[Occurrence] {
        &self.occurrences
    }

    /// The name at a place, or right before it.
    pub fn at(&self, offset: usize) -> Option<&Occurrence> {
        let touches =
            |each: &&Occurrence| each.span.start as usize <= offset && offset <= each.span.end as usize;
        self.occurrences.iter().rfind(touches)
    }

    /// The relations that are known here, with what is known of their columns.
    pub fn columns(&self) -> Columns<'_> {
        Columns::new(&self.checked.catalog)
    }

    /// The places that mean the same: of a variable or parameter those in its statement, of a relation or type all.
    pub fn same<'d>(&'d self, named: &'d Occurrence) -> impl Iterator<Item = &'d Occurrence> {
        let span = self.statements.get(named.statement).map(|statement| statement.span);
        self.occurrences.iter().filter(move |each| {
            let is_near =
                || span.is_some_and(|span| span.start <= each.span.start && each.span.end <= span.end);
            let is_meant = each.kind == named.kind
                // Of a program that was looked at by itself.
                || each.kind == Kind::Condition && named.kind == Kind::Relation;
            is_meant
                && each.name == named.name
                && match named.kind {
                    Kind::Variable | Kind::Column => is_near(),
                    Kind::Relation
                    | Kind::Type
                    | Kind::Function
                    | Kind::Condition
                    | Kind::Aggregate
                    | Kind::Parameter => true,
                }
        })
    }

    /// What the program defines, in the order in which it does.
    pub fn symbols(&self) -> Vec<Symbol> {
        let mut best: BTreeMap<(&str, bool), Role> = BTreeMap::new();
        let defines =
            |each: &&Occurrence| matches!(each.kind, Kind::Relation | Kind::Type) && each.role != Role::Use;
        for each in self.occurrences.iter().filter(defines) {
            let role = best.entry((&each.name, each.kind == Kind::Type)).or_insert(each.role);
            *role = each.role.min(*role);
        }
        let columns = self.columns();
        let mut found: Vec<Symbol> = Vec::new();
        for each in self.occurrences.iter().filter(defines) {
            if best.get(&(each.name.as_str(), each.kind == Kind::Type)) != Some(&each.role) {
                continue;
            }
            let span = self.statements[each.statement].span;
            match found.last_mut() {
                // Clauses and facts below each other are one symbol.
                Some(last) if last.name == each.name && last.kind == each.kind => {
                    last.span = last.span.to(span);
                }
                _ => found.push(Symbol {
                    name: each.name.clone(),
                    detail: (each.kind == Kind::Relation).then(|| columns.shown(&each.name)).flatten(),
                    kind: each.kind,
                    role: each.role,
                    span,
                    name_span: each.span,
                }),
            }
        }
        found
    }

    /// What each piece of the text is, in order.
    pub fn colours(&self) -> Vec<(Span, Colour)> {
        let mut names = self.occurrences.iter().peekable();
        let mut found = Vec::new();
        for (span, class) in tokens(&self.text) {
            while names.next_if(|each| each.span.start < span.start).is_some() {}
            let named = names.next_if(|each| each.span.start == span.start);
            let colour = match (named, class) {
                (Some(each), _) => Colour::Named(each.kind, each.role),
                (None, TokenClass::Name) => Colour::Word,
                (None, TokenClass::Variable) => Colour::Named(Kind::Variable, Role::Use),
                (None, TokenClass::Parameter) => Colour::Named(Kind::Parameter, Role::Use),
                (None, TokenClass::Number) => Colour::Number,
                (None, TokenClass::Text) => Colour::Text,
                (None, TokenClass::Sign) => Colour::Sign,
                (None, TokenClass::Comment) => Colour::Comment,
                (None, TokenClass::Wrong) => continue,
            };
            found.push((span, colour));
        }
        found
    }

    /// The statement at a place.
    pub(crate) fn statement_at(&self, offset: usize) -> Option<&StatementKind> {
        let holds = |statement: &&Statement| {
            statement.span.start as usize <= offset && offset <= statement.span.end as usize
        };
        self.statements.iter().find(holds).map(|statement| &statement.kind)
    }

    /// The comments that stand right above a statement.
    pub(crate) fn comment_above(&self, statement: usize) -> Option<String> {
        let start = self.statements.get(statement)?.span.start as usize;
        let above = self.text[..start].trim_end_matches([' ', '\t']).strip_suffix('\n')?;
        let lines = above.lines().rev().map(str::trim).map_while(|line| {
            line.strip_prefix("//").or_else(|| line.strip_prefix('%')).map(str::trim_start)
        });
        let mut lines: Vec<&str> = lines.collect();
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}
