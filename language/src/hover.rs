//! What is told of a name: its columns and types, the comment above its definition, the manual of functions.

use crate::document::Document;
use crate::names::{Kind, Occurrence, Role};
use stratalog_engine::aggregates::{Aggregate, Ranking};
use stratalog_engine::functions::ScalarFunction;
use stratalog_engine::syntax::ast::{Atom, Literal, LiteralKind, QueryHead, StatementKind};
use stratalog_engine::{DataType, Span};

impl Document {
    /// What is known of the name at a place, in Markdown.
    pub fn hover(&self, offset: usize) -> Option<(Span, String)> {
        let named = self.at(offset)?;
        let told = match named.kind {
            Kind::Relation => self.of_relation(&named.name),
            Kind::Variable => self.of_variable(named),
            Kind::Function | Kind::Condition => of_function(&named.name)?,
            Kind::Aggregate => of_aggregate(&named.name)?,
            Kind::Parameter => {
                code(&format!("${}", named.name)) + "\n\nA value that is sent in `params` beside the program."
            }
            Kind::Column => return None,
            Kind::Type => {
                let declared = self.occurrences().iter().find(|each| {
                    each.kind == Kind::Type && each.name == named.name && each.role == Role::Declaration
                })?;
                code(&self.statements[declared.statement].to_string())
            }
        };
        Some((named.span, told))
    }

    fn of_relation(&self, name: &str) -> String {
        let columns = self.columns();
        let Some(shown) = columns.shown(name) else {
            return format!("{}\n\nNothing that is open defines it.", code(name));
        };
        let mut told = code(&format!("{name}({shown})"));
        if columns.is_derived(name) {
            let clauses = self.count(name, Role::Rule);
            told += &match clauses {
                0 => "\n\nDerived.".to_owned(),
                1 => "\n\nDerived by one rule here.".to_owned(),
                more => format!("\n\nDerived by {more} rules here."),
            };
        }
        let defined = self
            .occurrences()
            .iter()
            .filter(|each| each.kind == Kind::Relation && each.name == name && each.role != Role::Use)
            .min_by_key(|each| (each.role, each.span.start));
        if let Some(comment) = defined.and_then(|each| self.comment_above(each.statement)) {
            told = told + "\n\n" + &comment;
        }
        told
    }

    fn count(&self, name: &str, role: Role) -> usize {
        let same = |each: &&Occurrence| each.kind == Kind::Relation && each.name == name && each.role == role;
        self.occurrences().iter().filter(same).count()
    }

    fn of_variable(&self, named: &Occurrence) -> String {
        let body: Vec<Literal> = match self.statement_at(named.span.start as usize) {
            Some(StatementKind::Rule(rule)) => rule.rule.body.clone(),
            Some(StatementKind::Query(query)) => match &query.head {
                QueryHead::Goal { atom, .. } => {
                    std::iter::once(literal(atom)).chain(query.body.clone()).collect()
                }
                QueryHead::Projection(_) => query.body.clone(),
            },
            Some(StatementKind::DeleteWhere(delete)) => {
                std::iter::once(literal(&delete.target)).chain(delete.body.clone()).collect()
            }
            Some(StatementKind::Update(update)) => update.body.clone(),
            _ => Vec::new(),
        };
        match self.columns().of_variable(&named.name, &body) {
            None | Some(DataType::Unknown) => code(&named.name),
            Some(data_type) => code(&format!("{}: {data_type}", named.name)),
        }
    }
}

fn literal(atom: &Atom) -> Literal {
    Literal { kind: LiteralKind::Positive(atom.clone()), span: atom.span }
}

fn code(text: &str) -> String {
    format!("```stratalog\n{text}\n```")
}

fn of_function(name: &str) -> Option<String> {
    let function = ScalarFunction::named(name)?;
    let (example, value) = function.example;
    Some(format!("{}\n\n{}\n\n`{example}` is `{value}`.", code(&function.signature()), function.doc))
}

fn of_aggregate(name: &str) -> Option<String> {
    if let Some(ranking) = Ranking::named(name) {
        return Some(format!("{}\n\n{}", code(ranking.usage()), ranking.doc()));
    }
    let aggregate = Aggregate::named(name)?;
    Some(format!("{}\n\n{}", code(&aggregate.usage().replace("` or `", "\n")), aggregate.doc()))
}
