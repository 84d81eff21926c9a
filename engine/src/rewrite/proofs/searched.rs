//! Closures along edges that are at hand: the smallest proof of a row is a shortest way between its ends, and that is searched
//! for from both of them. Nothing is evaluated.

use std::collections::HashSet;

use super::heights::{self, Heights};
use super::whole::Whole;
use super::{Explained, Origins, apart_from_stored, paths};
use crate::analysis::program::{Argument, Atom, HeadTerm, Literal, Program, Rule, Stratum};
use crate::data::{RelationId, Value, VariableId};
use crate::rewrite::guarded::head_argument;
use crate::rewrite::magic_sets::closures::{ends, is_double};

/// What explains rows of a closure.
#[derive(Debug)]
pub(crate) struct Searched {
    /// What explains a row, where it is known from which row and step it follows.
    pub(crate) explained: Explained,
    pub(crate) closure: RelationId,
    /// The two ends of a row of the goal.
    pub(crate) ends: [End; 2],
    pub(crate) form: Form,
    /// Edges, kind by kind, those that are preferred first.
    pub(crate) kinds: Vec<Vec<Edge>>,
    /// What its rules make of edges, rule by rule; the one of halves makes nothing of any.
    pub(crate) steps: Vec<Step>,
    /// The height of a row that is one step.
    pub(crate) step_height: u32,
}

/// How the rules of a closure make longer ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// By a step at the end of a shorter one,
    LastStep,
    /// by one before its start,
    FirstStep,
    /// or of two halves.
    Halves,
}

impl Form {
    /// The end that the rows of a way have in common and the other one, in the order of their columns; and the reverse.
    pub(crate) fn in_order<T>(self, [one, other]: [T; 2]) -> [T; 2] {
        if self == Form::FirstStep { [other, one] } else { [one, other] }
    }
}

/// An end of a row.
#[derive(Debug)]
pub(crate) enum End {
    /// The value of the goal's column,
    Column(usize),
    /// or this one.
    Constant(Value),
}

/// Rows that are edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) relation: RelationId,
    /// The column in which an edge begins,
    pub(crate) from: usize,
    /// and the one in which it ends.
    pub(crate) to: usize,
}

/// What a rule makes of an edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) edge: Edge,
    /// The kind of the edge.
    pub(crate) kind: usize,
    /// Whether it makes a way of its own, or a longer one of a shorter one.
    pub(crate) is_alone: bool,
}

/// How rows of a goal are explained that are rows of a closure, if they can be searched for: where all rows of the relations are at
/// hand in which edges are, and what these rest on.
pub(crate) fn searched(program: &Program, at_hand: &HashSet<RelationId>) -> Option<Searched> {
    let (closure, ends) = closure_asked_for(program)?;
    let stratum = program.strata.iter().find(|stratum| stratum.relations == [closure])?;
    let (form, steps) = form_of(closure, stratum, program)?;
    let kinds = match form {
        Form::Halves => vec![steps.iter().map(|step| step.edge).collect()],
        Form::LastStep | Form::FirstStep => {
            steps.iter().filter(|step| !step.is_alone).map(|step| vec![step.edge]).collect()
        }
    };
    let mut program = program.clone();
    apart_from_stored(&mut program);
    let (composed, levels) = paths::apart(&mut program);
    let origins = Origins(composed);
    let mut with_heights = heights::of(&program, &origins, &levels);
    with_heights.read_as_stored(&program, at_hand.clone(), Vec::new());
    let Heights { relations, derived, .. } = with_heights;
    let edges = || steps.iter().map(|step| step.edge);
    if !edges().all(|edge| relations[edge.relation.index()].stored) {
        return None;
    }
    let step_height = match form {
        Form::Halves => origins.step_height(closure)?,
        Form::LastStep | Form::FirstStep => {
            let first = levels.of(edges().next()?.relation)?;
            edges().all(|edge| levels.of(edge.relation) == Some(first)).then_some(first + 1)?
        }
    };
    let explained = Explained::at_hand(program.goal, relations, derived, origins);
    Some(Searched { explained, closure, ends, form, kinds, steps, step_height })
}

/// What has to be derived before rows of a goal can be searched for, as steps are not at hand; nothing if that does not help.
pub(crate) fn steps_below(program: &Program, at_hand: &HashSet<RelationId>) -> Option<Whole> {
    let (closure, _) = closure_asked_for(program)?;
    let stratum = program.strata.iter().find(|stratum| stratum.relations == [closure])?;
    let (_, steps) = form_of(closure, stratum, program)?;
    let below = Whole::of(program, at_hand, steps.iter().map(|step| step.edge.relation))?;
    let is_soon_derived = below.program.strata.iter().all(|stratum| !stratum.recursive);
    let is_of_use = is_soon_derived && !below.relations.is_empty();
    is_of_use.then(|| searched(program, &at_hand.union(&below.relations).copied().collect()))??;
    Some(below)
}

/// The relation whose rows a goal asks for, if these are all that it asks for, and have two columns.
fn closure_asked_for(program: &Program) -> Option<(RelationId, [End; 2])> {
    let mut rules =
        program.strata.iter().flat_map(|stratum| &stratum.rules).filter(|rule| rule.head == program.goal);
    let (rule, None) = (rules.next()?, rules.next()) else { return None };
    let (atoms, others): (Vec<&Literal>, Vec<&Literal>) =
        rule.body.iter().partition(|literal| literal.atom().is_some());
    let [atom] = atoms.as_slice() else { return None };
    let atom = atom.atom()?;
    let [first, second] = atom.arguments.as_slice() else { return None };
    let is_handed_on = |term: &HeadTerm| head_argument(term).is_some();
    let is_plain =
        rule.head_terms.iter().all(is_handed_on) && others.iter().all(|literal| literal.is_constant());
    let end = |argument: &Argument| match argument {
        Argument::Constant(value) => Some(End::Constant(value.clone())),
        Argument::Variable(_) => {
            let is_it = |term: &HeadTerm| head_argument(term).as_ref() == Some(argument);
            rule.head_terms.iter().position(is_it).map(End::Column)
        }
        Argument::Any => None,
    };
    Some((atom.relation, [end(first)?, end(second)?])).filter(|_| is_plain)
}

/// The form of a closure whose steps are edges, and what its rules make.
fn form_of(closure: RelationId, stratum: &Stratum, program: &Program) -> Option<(Form, Vec<Step>)> {
    let known = &program.relations[closure.index()];
    if known.stored || known.best.is_some() || known.name.starts_with('?') {
        return None;
    }
    let (longer, alone): (Vec<&Rule>, Vec<&Rule>) =
        stratum.rules.iter().partition(|rule| rule.reads().any(|read| read == closure));
    let edge_of = |rule: &Rule| match rule.body.as_slice() {
        [Literal::Atom(atom)] => edge(atom, ends(rule)?),
        _ => None,
    };
    let alone: Vec<Edge> = alone.into_iter().map(edge_of).collect::<Option<_>>()?;
    if let [longer] = longer.as_slice()
        && is_double(longer, closure)
    {
        let step = |edge: &Edge| Step { edge: *edge, kind: 0, is_alone: true };
        return Some((Form::Halves, alone.iter().map(step).collect()));
    }
    [Form::LastStep, Form::FirstStep].into_iter().find_map(|form| {
        let taken: Vec<Edge> =
            longer.iter().map(|rule| step_taken(rule, closure, form)).collect::<Option<_>>()?;
        if !alone.iter().all(|edge| taken.contains(edge)) {
            return None;
        }
        let (mut kinds, mut edges) = (0.., alone.iter());
        let step = |rule: &Rule| match rule.reads().any(|read| read == closure) {
            true => kinds.next().map(|kind| Step { edge: taken[kind], kind, is_alone: false }),
            false => {
                let edge = *edges.next()?;
                let kind = taken.iter().position(|other| *other == edge)?;
                Some(Step { edge, kind, is_alone: true })
            }
        };
        let steps: Vec<Step> = stratum.rules.iter().map(step).collect::<Option<_>>()?;
        taken.iter().all(|edge| alone.contains(edge)).then_some((form, steps))
    })
}

/// The step that a rule takes beside a shorter way.
fn step_taken(rule: &Rule, closure: RelationId, form: Form) -> Option<Edge> {
    let (from, to) = ends(rule)?;
    let [Literal::Atom(a), Literal::Atom(b)] = rule.body.as_slice() else { return None };
    let (shorter, step) = if a.relation == closure { (a, b) } else { (b, a) };
    let [Argument::Variable(first), Argument::Variable(last)] = shorter.arguments.as_slice() else {
        return None;
    };
    let (carried, middle) = if form == Form::LastStep { (*first, *last) } else { (*last, *first) };
    let (kept, step_ends) = if form == Form::LastStep { (from, (middle, to)) } else { (to, (from, middle)) };
    let is_step = carried == kept && ![from, to].contains(&middle) && step.relation != closure;
    edge(step, step_ends).filter(|_| is_step)
}

/// An atom as an edge between two variables, if it says nothing else.
fn edge(atom: &Atom, (from, to): (VariableId, VariableId)) -> Option<Edge> {
    let place = |end| atom.arguments.iter().position(|argument| *argument == Argument::Variable(end));
    let (from, to) = (place(from)?, place(to)?);
    let is_free =
        |(column, argument): (usize, &Argument)| [from, to].contains(&column) || *argument == Argument::Any;
    let is_edge = atom.arguments.iter().enumerate().all(is_free);
    is_edge.then_some(Edge { relation: atom.relation, from, to })
}
