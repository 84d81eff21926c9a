//! Programs that name no values but small integers, as messages: executors know no others.

use prost::{Message, Oneof};
use stratalog_engine::analysis::program::{
    self, Argument, Expression, HeadTerm, Literal, Program, Stratum, Variable,
};
use stratalog_engine::data::{DataType, INLINE_END, RelationId, Value, VariableId};
use stratalog_engine::diagnostic::Span;

/// A program of one stratum.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Told {
    #[prost(message, repeated, tag = "1")]
    relations: Vec<Relation>,
    #[prost(uint32, repeated, tag = "2")]
    derived: Vec<u32>,
    #[prost(message, repeated, tag = "3")]
    rules: Vec<Rule>,
    #[prost(bool, tag = "4")]
    recursive: bool,
    #[prost(uint32, tag = "5")]
    goal: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Relation {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(uint32, tag = "2")]
    arity: u32,
    #[prost(bool, tag = "3")]
    stored: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Rule {
    #[prost(uint32, tag = "1")]
    head: u32,
    /// The variables of the head.
    #[prost(uint32, repeated, tag = "2")]
    terms: Vec<u32>,
    #[prost(message, repeated, tag = "3")]
    body: Vec<Atom>,
    #[prost(uint32, tag = "4")]
    variables: u32,
}

#[derive(Clone, PartialEq, Message)]
struct Atom {
    #[prost(bool, tag = "1")]
    negated: bool,
    #[prost(uint32, tag = "2")]
    relation: u32,
    #[prost(message, repeated, tag = "3")]
    arguments: Vec<Place>,
}

/// Nothing stands for any value.
#[derive(Clone, PartialEq, Message)]
struct Place {
    #[prost(oneof = "Is", tags = "1, 2")]
    is: Option<Is>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Is {
    #[prost(uint32, tag = "1")]
    Variable(u32),
    #[prost(uint32, tag = "2")]
    Int(u32),
}

impl Told {
    /// The message of a program, if it can be told.
    pub(super) fn of(program: &Program) -> Option<Told> {
        let [stratum] = &program.strata[..] else { return None };
        let relation = |relation: &program::Relation| {
            let program::Relation { name, arity, stored, best, .. } = relation;
            let of_rows_alone = best.is_none();
            of_rows_alone.then(|| Relation { name: name.clone(), arity: *arity as u32, stored: *stored })
        };
        Some(Told {
            relations: program.relations.iter().map(relation).collect::<Option<_>>()?,
            derived: stratum.relations.iter().map(|relation| relation.index() as u32).collect(),
            rules: stratum.rules.iter().map(Rule::of).collect::<Option<_>>()?,
            recursive: stratum.recursive,
            goal: program.goal.index() as u32,
        })
    }

    /// The program; none if the message is not of one.
    pub(super) fn program(&self) -> Option<Program> {
        let id = |number: &u32| {
            let number = *number as usize;
            (number < self.relations.len()).then(|| RelationId::new(number))
        };
        let relations = self.relations.iter().map(|relation| program::Relation {
            name: relation.name.clone(),
            arity: relation.arity as usize,
            column_types: vec![DataType::Any; relation.arity as usize],
            stored: relation.stored,
            best: None,
        });
        let derived = self.derived.iter().map(id).collect::<Option<_>>()?;
        let rules = self.rules.iter().map(|rule| rule.rule(&self.relations)).collect::<Option<_>>()?;
        Some(Program {
            relations: relations.collect(),
            strata: vec![Stratum::of(derived, rules, self.recursive)],
            goal: id(&self.goal)?,
            warnings: Vec::new(),
        })
    }
}

impl Rule {
    fn of(rule: &program::Rule) -> Option<Rule> {
        let term = |term: &HeadTerm| match term {
            HeadTerm::Expression(Expression::Variable(variable)) => Some(variable.index() as u32),
            _ => None,
        };
        if rule.ranking.is_some() {
            return None;
        }
        Some(Rule {
            head: rule.head.index() as u32,
            terms: rule.head_terms.iter().map(term).collect::<Option<_>>()?,
            body: rule.body.iter().map(Atom::of).collect::<Option<_>>()?,
            variables: rule.variables.len() as u32,
        })
    }

    fn rule(&self, relations: &[Relation]) -> Option<program::Rule> {
        let count = self.variables as usize;
        let variable = |number: &u32| {
            let number = *number as usize;
            (number < count).then(|| VariableId::new(number))
        };
        let head = relations.get(self.head as usize)?;
        let term = |number: &u32| Some(HeadTerm::Expression(Expression::Variable(variable(number)?)));
        let terms: Vec<HeadTerm> = self.terms.iter().map(term).collect::<Option<_>>()?;
        let body = self.body.iter().map(|atom| {
            let arguments = atom.arguments.iter().map(|place| {
                Some(match &place.is {
                    None => Argument::Any,
                    Some(Is::Variable(number)) => Argument::Variable(variable(number)?),
                    Some(Is::Int(number)) => Argument::Constant(Value::Int(i64::from(*number))),
                })
            });
            let arguments: Vec<Argument> = arguments.collect::<Option<_>>()?;
            let relation = relations.get(atom.relation as usize)?;
            let atom = program::Atom {
                relation: RelationId::new(atom.relation as usize),
                span: Span::default(),
                arguments,
            };
            let fits = atom.arguments.len() == relation.arity as usize;
            fits.then_some((atom, relation))
        });
        let body: Vec<(program::Atom, &Relation)> = body.collect::<Option<_>>()?;
        let literals = body.into_iter().zip(&self.body).map(|((atom, _), told)| match told.negated {
            true => Literal::Negated(atom),
            false => Literal::Atom(atom),
        });
        let named =
            (0..count).map(|number| Variable { name: format!("?{number}"), data_type: DataType::Any });
        (terms.len() == head.arity as usize).then(|| program::Rule {
            head: RelationId::new(self.head as usize),
            head_terms: terms,
            ranking: None,
            body: literals.collect(),
            variables: named.collect(),
            text: String::new(),
        })
    }
}

impl Atom {
    fn of(literal: &Literal) -> Option<Atom> {
        let (negated, atom) = match literal {
            Literal::Atom(atom) => (false, atom),
            Literal::Negated(atom) => (true, atom),
            Literal::Filter { .. } | Literal::Assign { .. } => return None,
        };
        let place = |argument: &Argument| {
            let is = match argument {
                Argument::Any => None,
                Argument::Variable(variable) => Some(Is::Variable(variable.index() as u32)),
                // These are their own codes.
                Argument::Constant(Value::Int(number)) => {
                    let number = u32::try_from(*number).ok().filter(|number| *number < INLINE_END)?;
                    Some(Is::Int(number))
                }
                Argument::Constant(_) => return None,
            };
            Some(Place { is })
        };
        let arguments = atom.arguments.iter().map(place).collect::<Option<_>>()?;
        Some(Atom { negated, relation: atom.relation.index() as u32, arguments })
    }
}

#[cfg(test)]
mod tests {
    use stratalog_engine::analysis::program::Test;
    use stratalog_engine::syntax::ast::Comparison;

    use super::*;

    fn atom(relation: usize, arguments: Vec<Argument>) -> program::Atom {
        program::Atom { relation: RelationId::new(relation), arguments, span: Span::default() }
    }

    fn path() -> Program {
        let variable = VariableId::new;
        let relation = |name: &str, stored| program::Relation {
            name: name.to_owned(),
            arity: 2,
            column_types: vec![DataType::Any; 2],
            stored,
            best: None,
        };
        let rule = program::Rule {
            head: RelationId::new(0),
            head_terms: [0, 2].map(|at| HeadTerm::Expression(Expression::Variable(variable(at)))).into(),
            ranking: None,
            body: vec![
                Literal::Atom(atom(
                    0,
                    vec![Argument::Variable(variable(0)), Argument::Variable(variable(1))],
                )),
                Literal::Atom(atom(
                    1,
                    vec![Argument::Variable(variable(1)), Argument::Variable(variable(2))],
                )),
                Literal::Negated(atom(1, vec![Argument::Any, Argument::Constant(Value::Int(7))])),
            ],
            variables: (0..3)
                .map(|at| Variable { name: format!("?{at}"), data_type: DataType::Any })
                .collect(),
            text: String::new(),
        };
        Program {
            relations: vec![relation("path", false), relation("edge", true)],
            strata: vec![Stratum::of(vec![RelationId::new(0)], vec![rule], true)],
            goal: RelationId::new(0),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_program_comes_back_as_it_was_told() {
        let program = path();
        let told = Told::of(&program).expect("it can be told");
        let again = Told::decode(&*told.encode_to_vec()).expect("a message");
        assert!(again.program().expect("a program").is_same(&program));
    }

    #[test]
    fn what_names_values_is_not_told() {
        let mut named = path();
        named.strata[0].rules[0].body[2] =
            Literal::Atom(atom(1, vec![Argument::Any, Argument::Constant(Value::text("x"))]));
        assert_eq!(Told::of(&named), None);
        let mut compares = path();
        let side = |at| Expression::Variable(VariableId::new(at));
        let operator = Test::ByValue(Comparison::Less);
        compares.strata[0].rules[0].body[2] = Literal::Filter { operator, left: side(0), right: side(1) };
        assert_eq!(Told::of(&compares), None);
    }

    #[test]
    fn a_message_of_no_program_is_none() {
        let told = Told::of(&path()).expect("it can be told");
        let wrong: [fn(&mut Told); 5] = [
            |told| told.goal = 2,
            |told| told.rules[0].head = 9,
            |told| told.rules[0].terms[0] = 3,
            |told| told.rules[0].body[0].relation = 2,
            |told| _ = told.rules[0].body[0].arguments.pop(),
        ];
        for wrong in wrong {
            let mut told = told.clone();
            wrong(&mut told);
            assert!(told.program().is_none(), "{told:?}");
        }
    }
}
