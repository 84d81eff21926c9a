//! Closures that are composed of themselves: `t(X, Z) <- t(X, Y), t(Y, Z)` beside `t(X, Y) <- step(X, Y)`.
//!
//! A row of such a closure is a path, and where all steps stand at one height its smallest proof is that of the shortest path,
//! put together in halves: of `n` steps it is the binary logarithm of `n` higher than a step. So paths are followed step by
//! step from their front, as `t(X, Z) <- t(X, Y), step(Y, Z)` does, with their lengths; all pairs of halves are never looked
//! at.

use std::collections::BTreeMap;

use super::Composed;
use super::levels::Levels;
use crate::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum,
};
use crate::data::{RelationId, Value, VariableId};
use crate::functions::ScalarFunction;
use crate::rewrite::guarded::guard;
use crate::rewrite::magic_sets::closures::{ends, is_double};
use crate::syntax::ast::Arithmetic;

/// Makes the steps of such closures relations of their own, which have the closure's rules for steps, and lets paths be
/// longer by one of them. Answers the closure of each of these relations, and what is known of heights.
pub(super) fn apart(program: &mut Program) -> (BTreeMap<RelationId, Composed>, Levels) {
    let mut levels = Levels::default();
    let mut closures = BTreeMap::new();
    let mut strata = Vec::with_capacity(program.strata.len());
    for mut stratum in std::mem::take(&mut program.strata) {
        levels.learn(&stratum, &program.relations);
        if let Some(composed) = composed(&stratum, &program.relations, &levels) {
            let steps = steps_apart(composed.closure, &mut stratum, &mut program.relations);
            levels.set(steps.relations[0], composed.step_height);
            closures.insert(steps.relations[0], composed);
            strata.push(steps);
        }
        strata.push(stratum);
    }
    program.strata = strata;
    (closures, levels)
}

/// A stratum that is such a closure.
fn composed(stratum: &Stratum, relations: &[Relation], levels: &Levels) -> Option<Composed> {
    let [closure] = *stratum.relations.as_slice() else { return None };
    let known = &relations[closure.index()];
    let (double, steps): (Vec<&Rule>, Vec<&Rule>) =
        stratum.rules.iter().partition(|rule| is_double(rule, closure));
    let is_step = |rule: &&Rule| {
        !rule.aggregates()
            && ends(rule).is_some()
            && rule.atoms().next().is_some()
            && rule.reads().all(|read| read != closure)
    };
    let is_composed = known.arity == 2
        && !known.stored
        && known.best.is_none()
        && double.len() == 1
        && steps.iter().all(is_step);
    let step_height = levels.of_all(steps, 1).filter(|_| is_composed)?;
    Some(Composed { closure, step_height })
}

/// Takes the rules for steps out of the stratum of a closure.
fn steps_apart(closure: RelationId, stratum: &mut Stratum, relations: &mut Vec<Relation>) -> Stratum {
    let known = &relations[closure.index()];
    relations.push(Relation { name: format!("?{}_step", known.name), ..known.clone() });
    let step = RelationId::new(relations.len() - 1);
    let (double, steps): (Vec<Rule>, Vec<Rule>) =
        std::mem::take(&mut stratum.rules).into_iter().partition(|rule| is_double(rule, closure));
    for mut longer in double {
        // The half at the back is one step. Which of the two atoms that is, the head says.
        let back = ends(&longer).map(|(_, to)| Argument::Variable(to));
        for literal in &mut longer.body {
            if let Literal::Atom(atom) = literal
                && atom.arguments.get(1) == back.as_ref()
            {
                atom.relation = step;
            }
        }
        let (from, to) = (VariableId::new(0), VariableId::new(1));
        let one = Rule {
            head: closure,
            head_terms: [from, to].map(|end| HeadTerm::Expression(Expression::Variable(end))).to_vec(),
            ranking: None,
            body: vec![Literal::Atom(guard(step, [from, to].map(Argument::Variable)))],
            variables: longer.variables.iter().take(2).cloned().collect(),
            text: longer.text.clone(),
        };
        stratum.rules.extend([one, longer]);
    }
    let steps = steps.into_iter().map(|rule| Rule { head: step, ..rule });
    Stratum::of(vec![step], steps.collect(), false)
}

/// How high the smallest proof of a path of so many steps of this height is.
pub(super) fn height_of(length: VariableId, step_height: u32) -> Option<Expression> {
    /// Less than logarithms of lengths that a path can have lie above an integer, and more than they are rounded by.
    const ROUNDING: f64 = 1e-10;
    let call = |name: &str, argument: Expression| {
        Some(Expression::Call { function: ScalarFunction::named(name)?, arguments: vec![argument] })
    };
    let of = |operator: Arithmetic, left: Expression, right: Value| Expression::Arithmetic {
        operator,
        left: Box::new(left),
        right: Box::new(Expression::Constant(right)),
    };
    let natural = call("log", Expression::Variable(length))?;
    let binary = of(Arithmetic::Divide, natural, Value::Float(std::f64::consts::LN_2));
    let halvings = call("ceil", of(Arithmetic::Subtract, binary, Value::Float(ROUNDING)))?;
    Some(of(Arithmetic::Add, call("to_int", halvings)?, Value::Int(i64::from(step_height))))
}

/// The atom of a closure, and that of the step after it, in a rule for longer paths.
pub(crate) fn path_and_step(rule: &Rule, is_path: impl Fn(RelationId) -> bool) -> Option<(&Atom, &Atom)> {
    let (mut path, mut step) = (None, None);
    for atom in rule.atoms() {
        if is_path(atom.relation) { path = Some(atom) } else { step = Some(atom) }
    }
    path.zip(step)
}
