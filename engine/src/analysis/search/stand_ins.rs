//! Alternatives and negated conjunctions beside searches. An atom of the same variables stands in for each of them while a
//! body is divided; then each clause that comes of it has those that belong there, and takes them apart by what it binds
//! itself. So none of them is decided by rows that a search has found without it.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use crate::analysis::nested::is_plain;
use crate::analysis::variables::{bindable, for_each_variable, in_all_alternatives, names_of, variables};
use crate::data::Value;
use crate::syntax::ast::{Arithmetic, Atom, Literal, LiteralKind, Name, Term, TermKind};

/// What atoms stand in for, by the names of their relations.
pub(super) struct StandIns(HashMap<String, StandIn>);

struct StandIn {
    group: Literal,
    /// What stands in the columns of its atom.
    terms: Vec<Term>,
}

impl StandIns {
    /// A body in which only plain literals are left. `heads` are terms that read its solutions.
    pub(super) fn of(heads: &[Term], body: &[Literal]) -> (Vec<Literal>, StandIns) {
        let mut groups = HashMap::new();
        let stand_ins = body.iter().enumerate().map(|(place, literal)| {
            if is_plain(literal) {
                return literal.clone();
            }
            let relation = format!("?group_{place}");
            let terms = match &literal.kind {
                LiteralKind::Disjunction(alternatives) => either(heads, body, place, alternatives),
                _ => none(body, place),
            };
            let name = Name { text: relation.clone(), span: literal.span };
            let atom = Atom { relation: name, terms: terms.clone(), span: literal.span };
            groups.insert(relation, StandIn { group: literal.clone(), terms });
            let kind = match &literal.kind {
                LiteralKind::Disjunction(_) => LiteralKind::Positive(atom),
                _ => LiteralKind::Negative(atom),
            };
            Literal { kind, span: literal.span }
        });
        (stand_ins.collect(), StandIns(groups))
    }

    /// What these literals stand for.
    pub(super) fn replaced(&self, literals: &[Literal]) -> Vec<Literal> {
        literals.iter().map(|literal| self.replaced_in(literal)).collect()
    }

    /// What a literal stands for: most for themselves.
    pub(super) fn replaced_in(&self, literal: &Literal) -> Literal {
        let (LiteralKind::Positive(atom) | LiteralKind::Negative(atom)) = &literal.kind else {
            return literal.clone();
        };
        let Some(StandIn { group, terms }) = self.0.get(&atom.relation.text) else { return literal.clone() };
        let mut lost = Vec::new();
        for (term, blank) in terms.iter().zip(&atom.terms) {
            if matches!(term.kind, TermKind::Arithmetic { .. }) && blank.kind == TermKind::Placeholder {
                for_each_variable(term, &mut |name| lost.push(name));
            }
        }
        match &group.kind {
            LiteralKind::Disjunction(alternatives) if !lost.is_empty() => {
                let alternatives = alternatives.iter().map(|body| without(body, &lost)).collect();
                Literal { kind: LiteralKind::Disjunction(alternatives), span: group.span }
            }
            _ => group.clone(),
        }
    }
}

/// The atoms of a conjunction, with anything where something is computed of these variables, and of the rest what does not
/// hold them: all that it says without them.
fn without(body: &[Literal], lost: &[&str]) -> Vec<Literal> {
    let holds = |term: &Term| {
        let mut found = false;
        for_each_variable(term, &mut |name| found |= lost.contains(&name));
        found
    };
    let kept = body.iter().filter_map(|literal| match &literal.kind {
        LiteralKind::Positive(atom) => {
            let mut atom = atom.clone();
            for term in &mut atom.terms {
                if !matches!(term.kind, TermKind::Variable(_)) && holds(term) {
                    term.kind = TermKind::Placeholder;
                }
            }
            Some(Literal { kind: LiteralKind::Positive(atom), span: literal.span })
        }
        _ => (!variables(literal).iter().any(|name| lost.contains(name))).then(|| literal.clone()),
    });
    kept.collect()
}

/// The variables that a body binds beside one of its literals.
fn bound_beside(body: &[Literal], place: usize) -> HashSet<&str> {
    let others: Vec<&Literal> =
        body.iter().enumerate().filter(|(other, _)| *other != place).map(|(_, literal)| literal).collect();
    bindable(&others, HashSet::new())
}

/// The variables of a negated conjunction: those that something else binds.
fn none(body: &[Literal], place: usize) -> Vec<Term> {
    let term = |name: &str| Term { kind: TermKind::Variable(name.to_owned()), span: body[place].span };
    names_of(&body[place], &bound_beside(body, place)).into_iter().map(term).collect()
}

/// The variables by which alternatives hang together with the rest. One that they do not bind themselves is none of the
/// columns of an atom, but something computed of it.
fn either(heads: &[Term], body: &[Literal], place: usize, alternatives: &[Vec<Literal>]) -> Vec<Term> {
    let span = body[place].span;
    let mut read: HashSet<&str> = in_all_alternatives(&body[place]).into_iter().collect();
    heads.iter().for_each(|term| for_each_variable(term, &mut |name| _ = read.insert(name)));
    for (other, literal) in body.iter().enumerate().filter(|(other, _)| *other != place) {
        match &literal.kind {
            LiteralKind::NegatedConjunction(_) if !is_plain(literal) => {
                read.extend(names_of(literal, &bound_beside(body, other)));
            }
            _ => read.extend(variables(literal)),
        }
    }
    let beside = bound_beside(body, place);
    let bind = |name: &&str| {
        alternatives.iter().all(|alternative| {
            bindable(&alternative.iter().collect::<Vec<_>>(), HashSet::new()).contains(*name)
        })
    };
    let term = |name: &str| {
        let variable = Term { kind: TermKind::Variable(name.to_owned()), span };
        if bind(&name) || !beside.contains(name) {
            return variable;
        }
        let zero = Term { kind: TermKind::Constant(Value::Int(0)), span };
        let (left, right) = (Box::new(variable), Box::new(zero));
        Term { kind: TermKind::Arithmetic { operator: Arithmetic::Add, left, right }, span }
    };
    names_of(&body[place], &read).into_iter().map(term).collect()
}
