//! For tests: catalogs from text, and programs as text.

use std::sync::Arc;

use super::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule};
use super::{Analysed, AnalysisError, analyse_query, check_rule};
use crate::catalog::{Catalog, RelationDefinition};
use crate::data::{DataType, Schema, SchemaColumn, VariableId};
use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::syntax::ast::{self, StatementKind, TermKind, TypeKind};
use crate::syntax::parse;

fn statements(text: &str) -> Vec<StatementKind> {
    let (statements, errors) = parse(text, &Limits { literals: usize::MAX, ..Limits::default() });
    assert_eq!(errors, [], "{text}");
    statements.into_iter().map(|statement| statement.kind).collect()
}

/// The catalog after these declarations, inserts and rules.
pub(super) fn catalog(text: &str) -> Catalog {
    let mut catalog = Catalog::default();
    if text.is_empty() {
        return catalog;
    }
    for statement in statements(text) {
        match statement {
            StatementKind::Insert(insert) => catalog.set_relation(found(&insert)),
            StatementKind::Declare(declare) => catalog.set_relation(declared(&declare)),
            StatementKind::Rule(rule) => catalog.add_rule(Arc::new(rule.rule)),
            other => panic!("{other}"),
        };
    }
    catalog
}

fn found(insert: &ast::Insert) -> RelationDefinition {
    let arity = insert.tuples[0].terms.len();
    let mut column_types = vec![DataType::Unknown; arity];
    for tuple in &insert.tuples {
        for (column, term) in column_types.iter_mut().zip(&tuple.terms) {
            let TermKind::Constant(value) = &term.kind else { panic!("{term}") };
            *column = column.join(DataType::of(value));
        }
    }
    RelationDefinition::undeclared(insert.relation.text.clone(), column_types)
}

fn declared(declare: &ast::Declare) -> RelationDefinition {
    let columns: Vec<SchemaColumn> = declare
        .columns
        .iter()
        .map(|column| SchemaColumn {
            name: column.name.text.clone(),
            data_type: match column.column_type.kind {
                TypeKind::Int => DataType::Int,
                TypeKind::Float => DataType::Float,
                TypeKind::Text => DataType::Text,
                TypeKind::Bool => DataType::Bool,
                TypeKind::Timestamp => DataType::Timestamp,
                TypeKind::Vector(length) => DataType::Vector(length),
                ref other => panic!("{other:?}"),
            },
        })
        .collect();
    RelationDefinition {
        name: declare.relation.text.clone(),
        arity: columns.len(),
        column_types: columns.iter().map(|column| column.data_type).collect(),
        schema: Some(Schema { columns }),
        filled: false,
        attached: None,
    }
}

fn query(text: &str, catalog: &Catalog) -> Result<Analysed, Vec<AnalysisError>> {
    match &statements(text)[..] {
        [StatementKind::Query(query)] => analyse_query(query, catalog),
        other => panic!("{other:?}"),
    }
}

pub(super) fn analysed(data: &str, text: &str) -> Analysed {
    query(text, &catalog(data)).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// Why a query is refused; empty if it is not.
pub(super) fn refusal(data: &str, text: &str) -> Vec<AnalysisError> {
    query(text, &catalog(data)).err().unwrap_or_default()
}

pub(super) fn checked(data: &str, text: &str) -> Result<Vec<Diagnostic>, Vec<AnalysisError>> {
    match &statements(text)[..] {
        [StatementKind::Rule(rule)] => check_rule(&rule.rule, &[], &catalog(data), true),
        other => panic!("{other:?}"),
    }
}

pub(super) fn refused_rule(data: &str, text: &str) -> Vec<AnalysisError> {
    checked(data, text).expect_err(text)
}

/// A program as text: one line a rule, `:=` where a variable is bound.
pub(super) fn shown(program: &Program) -> String {
    let mut text = String::new();
    for stratum in &program.strata {
        for rule in &stratum.rules {
            let head: Vec<String> = rule.head_terms.iter().map(|term| head_term(term, rule)).collect();
            let body: Vec<String> = rule.body.iter().map(|l| literal(l, rule, program)).collect();
            let recursive = if stratum.recursive { "recursive " } else { "" };
            let name = &program.relations[rule.head.index()].name;
            text.push_str(&format!("{recursive}{name}({}) <- {}\n", head.join(", "), body.join(", ")));
        }
    }
    text
}

fn name(variable: VariableId, rule: &Rule) -> String {
    rule.variables[variable.index()].name.clone()
}

fn head_term(term: &HeadTerm, rule: &Rule) -> String {
    match term {
        HeadTerm::Expression(e) => expression(e, rule),
        HeadTerm::Aggregate { function, argument, .. } => {
            format!("{}<{}>", function.name(), name(*argument, rule))
        }
    }
}

fn literal(literal: &Literal, rule: &Rule, program: &Program) -> String {
    match literal {
        Literal::Atom(a) => atom(a, rule, program),
        Literal::Negated(a) => format!("!{}", atom(a, rule, program)),
        Literal::Filter { operator, left, right } => {
            operator.text(&expression(left, rule), &expression(right, rule))
        }
        Literal::Assign { variable, expression: e } => {
            format!("{} := {}", name(*variable, rule), expression(e, rule))
        }
    }
}

fn atom(atom: &Atom, rule: &Rule, program: &Program) -> String {
    let arguments: Vec<String> = atom
        .arguments
        .iter()
        .map(|argument| match argument {
            Argument::Variable(variable) => name(*variable, rule),
            Argument::Constant(value) => value.to_string(),
            Argument::Any => "_".into(),
        })
        .collect();
    format!("{}({})", program.relations[atom.relation.index()].name, arguments.join(", "))
}

fn expression(expression_: &Expression, rule: &Rule) -> String {
    match expression_ {
        Expression::Variable(variable) => name(*variable, rule),
        Expression::Constant(value) => value.to_string(),
        Expression::Arithmetic { operator, left, right } => {
            format!("{}{operator}{}", expression(left, rule), expression(right, rule))
        }
        Expression::Call { function, arguments } => {
            let arguments: Vec<String> =
                arguments.iter().map(|argument| expression(argument, rule)).collect();
            format!("{}({})", function.name, arguments.join(", "))
        }
    }
}
