//! Random programs and data for proptest.
//!
//! A strategy draws small numbers (a [`Draft`]); `build` reads them as a program that is safe, stratified and ends by
//! construction. Shrinking the numbers shrinks the program: fewer rules, fewer atoms, first choices everywhere.
//!
//! Relations `b0..` hold facts. Relations `d0, d1` form the first layer of rules, `d2, d3` the second: a rule reads
//! its own layer and those below, and negates or aggregates only what is below.

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{option, sample};

use crate::model::{
    Aggregate, Arithmetic, Atom, Comparison, Direction, Expression, Function, Goal, HeadTerm, Literal,
    Program, Rule, Term,
};
use crate::value::{Row, Value};

/// Relations of facts, and relations of rules.
const BASES: usize = 4;
const DERIVED: usize = 4;

/// Computed values that feed a recursion stay in `0..BOUND`.
const BOUND: i64 = 8;

/// A program with the order in which its facts may come and go.
#[derive(Debug, Clone)]
pub struct Case {
    /// The program.
    pub program: Program,
    /// For each base relation, rows that are inserted for a while and deleted again.
    pub passing: Vec<(String, BTreeSet<Row>)>,
}

/// Random cases.
pub fn cases() -> impl Strategy<Value = Case> {
    drafts().prop_map(|draft| build(&draft))
}

/// Which values there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Domain {
    Ints,
    Numbers,
    Mixed,
}

/// The numbers behind a program.
#[derive(Debug, Clone)]
struct Draft {
    domain: Domain,
    base_arities: Vec<usize>,
    derived_arities: Vec<usize>,
    /// Rows of the base relations; a row is cut to the arity.
    bases: Vec<Vec<Vec<u8>>>,
    /// Rows that are stored under the name of a derived relation.
    seeds: Vec<Vec<Vec<u8>>>,
    passing: Vec<Vec<Vec<u8>>>,
    rules: Vec<RuleDraft>,
    goal: GoalDraft,
}

#[derive(Debug, Clone)]
struct RuleDraft {
    head: u8,
    body: BodyDraft,
    terms: Vec<u8>,
    aggregates: Option<Vec<(u8, u8)>>,
}

#[derive(Debug, Clone)]
struct BodyDraft {
    atoms: Vec<AtomDraft>,
    negated: Option<AtomDraft>,
    comparison: Option<(u8, u8, u8)>,
    assignment: Option<(u8, u8, u8)>,
}

#[derive(Debug, Clone)]
struct AtomDraft {
    relation: u8,
    /// What stands in each column, and which one of it.
    terms: Vec<(u8, u8)>,
}

#[derive(Debug, Clone)]
struct GoalDraft {
    atom: AtomDraft,
    body: Option<BodyDraft>,
    order: Option<Vec<u8>>,
    limit: Option<(usize, usize)>,
}

fn drafts() -> impl Strategy<Value = Draft> {
    let domain = prop_oneof![3 => Just(Domain::Ints), 2 => Just(Domain::Numbers), 2 => Just(Domain::Mixed)];
    let arity = || prop_oneof![6 => 1_usize..=2, 3 => Just(3_usize), 1 => Just(4_usize), 1 => 5_usize..=6];
    let base_arity =
        || prop_oneof![1 => Just(1_usize), 5 => Just(2_usize), 3 => 3_usize..=4, 1 => 5_usize..=6];
    let rows = |most| vec(vec(any::<u8>(), 6), 0..=most);
    (
        domain,
        vec(base_arity(), BASES),
        vec(arity(), DERIVED),
        vec(rows(14), BASES),
        vec(option::weighted(0.2, rows(3)).prop_map(Option::unwrap_or_default), DERIVED),
        vec(rows(4), BASES),
        prop_oneof![1 => vec(rule_drafts(), 0..=1), 6 => vec(rule_drafts(), 2..=6)],
        goal_drafts(),
    )
        .prop_map(|(domain, base_arities, derived_arities, bases, seeds, passing, rules, goal)| Draft {
            domain,
            base_arities,
            derived_arities,
            bases,
            seeds,
            passing,
            rules,
            goal,
        })
}

fn rule_drafts() -> impl Strategy<Value = RuleDraft> {
    let aggregates = option::weighted(0.2, vec((any::<u8>(), any::<u8>()), 1..=2));
    (any::<u8>(), body_drafts(), vec(any::<u8>(), 6), aggregates)
        .prop_map(|(head, body, terms, aggregates)| RuleDraft { head, body, terms, aggregates })
}

fn body_drafts() -> impl Strategy<Value = BodyDraft> {
    let three = || (any::<u8>(), any::<u8>(), any::<u8>());
    (
        prop_oneof![3 => vec(atom_drafts(), 1..=1), 4 => vec(atom_drafts(), 2..=2), 1 => vec(atom_drafts(), 3..=3)],
        option::weighted(0.25, atom_drafts()),
        option::weighted(0.3, three()),
        option::weighted(0.25, three()),
    )
        .prop_map(|(atoms, negated, comparison, assignment)| BodyDraft { atoms, negated, comparison, assignment })
}

fn atom_drafts() -> impl Strategy<Value = AtomDraft> {
    (any::<u8>(), vec((0_u8..20, any::<u8>()), 6)).prop_map(|(relation, terms)| AtomDraft { relation, terms })
}

fn goal_drafts() -> impl Strategy<Value = GoalDraft> {
    let limits = [(1, 0), (3, 0), (2, 1), (4, 3), (0, 0), (5, 30)];
    (
        atom_drafts(),
        option::weighted(0.35, body_drafts()),
        option::weighted(0.15, vec(any::<u8>(), 6)),
        option::weighted(0.1, sample::select(limits.to_vec())),
    )
        .prop_map(|(atom, body, order, limit)| GoalDraft { atom, body, order, limit })
}

/// Reads a draft as a program.
fn build(draft: &Draft) -> Case {
    let mut program = Program::default();
    let used: BTreeSet<usize> = draft.rules.iter().map(|rule| usize::from(rule.head) % DERIVED).collect();
    for (i, rows) in draft.bases.iter().enumerate() {
        // Every base relation exists, so that every goal names a known relation.
        let mut rows = rows_of(rows, draft.base_arities[i], draft.domain);
        if rows.is_empty() {
            rows.insert(row_of(&[], draft.base_arities[i], draft.domain));
        }
        program.facts.insert(base(i), rows);
    }
    for &i in &used {
        let rows = rows_of(&draft.seeds[i], draft.derived_arities[i], draft.domain);
        if !rows.is_empty() {
            program.facts.insert(derived(i), rows);
        }
    }
    for rule in &draft.rules {
        let name = derived(usize::from(rule.head) % DERIVED);
        let first = program.rules.iter().all(|known| known.head != name);
        program.rules.push(build_rule(rule, first, draft, &used));
    }
    program.goal = build_goal(draft, &used);
    let passing = draft.passing.iter().enumerate().map(|(i, rows)| {
        let name = base(i);
        let mut rows = rows_of(rows, draft.base_arities[i], draft.domain);
        rows.retain(|row| !program.facts[&name].contains(row));
        (name, rows)
    });
    Case { passing: passing.collect(), program }
}

fn base(i: usize) -> String {
    format!("b{i}")
}

fn derived(i: usize) -> String {
    format!("d{i}")
}

fn rows_of(rows: &[Vec<u8>], arity: usize, domain: Domain) -> BTreeSet<Row> {
    rows.iter().map(|row| row_of(row, arity, domain)).collect()
}

fn row_of(row: &[u8], arity: usize, domain: Domain) -> Row {
    (0..arity).map(|i| value(row.get(i).copied().unwrap_or(0), domain)).collect()
}

fn value(n: u8, domain: Domain) -> Value {
    let n = usize::from(n);
    let int = |n: usize| Value::Int(n as i64);
    match domain {
        Domain::Ints => int(n % 6),
        Domain::Numbers => match n % 8 {
            n @ 0..=3 => int(n),
            4 => Value::Float(1.0),
            5 => Value::Float(2.5),
            6 => Value::Float(0.5),
            _ => Value::Float(3.0),
        },
        Domain::Mixed => match n % 11 {
            n @ 0..=2 => int(n),
            3 => Value::text("a"),
            4 => Value::text("b"),
            5 => Value::Null,
            6 => Value::Bool(true),
            7 => Value::Float(1.0),
            8 => Value::Float(2.5),
            9 => Value::Bool(false),
            _ => Value::text("x \"y\", z"),
        },
    }
}

/// A constant that is written in a rule: Null cannot be asked for by writing it.
fn constant(n: u8, domain: Domain) -> Value {
    match value(n, domain) {
        Value::Null => Value::Int(1),
        value => value,
    }
}

/// What a body may read.
struct Readable<'a> {
    draft: &'a Draft,
    positive: Vec<(String, usize)>,
    negative: Vec<(String, usize)>,
}

impl<'a> Readable<'a> {
    /// Facts, and derived relations by number: those before `own` in positive atoms, those before `below` in others.
    fn new(draft: &'a Draft, used: &BTreeSet<usize>, below: usize, own: usize) -> Readable<'a> {
        let bases: Vec<_> = (0..BASES).map(|i| (base(i), draft.base_arities[i])).collect();
        let up_to = |limit: usize| {
            let rules =
                used.iter().filter(move |i| **i < limit).map(|i| (derived(*i), draft.derived_arities[*i]));
            bases.iter().cloned().chain(rules).collect()
        };
        Readable { draft, positive: up_to(own), negative: up_to(below) }
    }

    /// An atom over one of these relations; `variable` names what stands in a column.
    fn atom(
        &self,
        from: &[(String, usize)],
        atom: &AtomDraft,
        mut variable: impl FnMut(usize, bool, u8) -> Term,
    ) -> Atom {
        // Derived relations stand last, and are the interesting ones.
        let choice = usize::from(atom.relation) % (from.len() + BASES);
        let (relation, arity) =
            &from[if choice < from.len() { from.len() - 1 - choice } else { BASES.min(from.len() - 1) }];
        let terms = atom.terms[..*arity].iter().enumerate().map(|(column, (kind, n))| match kind {
            0..9 => variable(column, true, *n),
            9..15 => variable(column, false, *n),
            15..19 => Term::Placeholder,
            _ => Term::Constant(constant(*n, self.draft.domain)),
        });
        Atom { relation: relation.clone(), terms: terms.collect() }
    }
}

/// The variables of a body, in the order of appearance.
#[derive(Default)]
struct Names {
    bound: Vec<String>,
}

impl Names {
    /// A new name, or one that is there.
    fn draw(&mut self, fresh: bool, n: u8) -> Term {
        let known = self.bound.len();
        let i = if fresh { known } else { usize::from(n) % (known + 1) };
        if i == known {
            self.bound.push(format!("X{known}"));
        }
        Term::Variable(self.bound[i].clone())
    }

    /// The last name, so that atoms form a chain.
    fn last(&mut self) -> Term {
        match self.bound.last() {
            Some(name) => Term::Variable(name.clone()),
            None => self.draw(true, 0),
        }
    }
}

/// A body, and the variables that it binds.
struct Body {
    literals: Vec<Literal>,
    bound: Vec<String>,
}

/// Variables are called `X0`, `X1`, ...; what an assignment binds is called `Z`.
fn build_body(body: &BodyDraft, readable: &Readable<'_>, mut names: Names, recursive: bool) -> Body {
    let mut literals = Vec::new();
    for atom in &body.atoms {
        let atom = readable.atom(&readable.positive, atom, |column, fresh, n| match (column, fresh) {
            (0, true) => names.last(),
            (_, fresh) => names.draw(fresh, n),
        });
        literals.push(Literal::Atom(atom));
    }
    let mut bound = names.bound;
    let pick = |n: u8| match bound.get(usize::from(n) % bound.len().max(1)) {
        Some(name) => Expression::Variable(name.clone()),
        None => Expression::Constant(Value::Int(i64::from(n % 4))),
    };
    if let Some(negated) = &body.negated {
        let atom = readable.atom(&readable.negative, negated, |_, _, n| match pick(n) {
            Expression::Variable(name) => Term::Variable(name),
            Expression::Constant(_) | Expression::Arithmetic(..) | Expression::Call(..) => Term::Placeholder,
        });
        literals.push(Literal::Negated(atom));
    }
    let domain = readable.draft.domain;
    if let Some((left, operator, right)) = body.comparison {
        let left = pick(left);
        let right =
            if right % 2 == 0 { Expression::Constant(constant(right / 2, domain)) } else { pick(right / 2) };
        // A comparison of two constants says nothing about the engine's joins, but may be one that it cannot type.
        if !(left.variables().is_empty() && right.variables().is_empty()) {
            // Booleans written in a program have no order.
            let operator = match right {
                Expression::Constant(Value::Bool(_)) => comparison(1 + operator % 2),
                _ => comparison(operator),
            };
            let left = match left {
                Expression::Variable(_) if bound.len() % 3 == 2 => {
                    Expression::Call(Function::Abs, vec![left])
                }
                left => left,
            };
            literals.push(Literal::Comparison(left, operator, right));
        }
    }
    if let Some((left, operator, right)) = body.assignment {
        let z = || Expression::Variable("Z".to_owned());
        let expression = match operator % if recursive { 5 } else { 14 } {
            // Neither makes values without end.
            3 if recursive => Expression::Call(Function::Abs, vec![pick(left)]),
            4 if recursive => {
                Expression::Call(Function::MinVal, vec![pick(left), Expression::Constant(Value::Int(2))])
            }
            // A string would not do for arithmetic in the head, and the engine knows when it is one.
            9.. => match call(right, pick(left), pick(right / 9)) {
                text @ Expression::Call(Function::Upper | Function::Concat, _) => {
                    Expression::Call(Function::Len, vec![text])
                }
                number => number,
            },
            _ => arithmetic(pick(left), operator, right, pick, recursive),
        };
        literals.push(Literal::Comparison(z(), Comparison::Equal, expression));
        if recursive {
            let bound = |operator, n| Literal::Comparison(z(), operator, Expression::Constant(Value::Int(n)));
            literals.push(bound(Comparison::GreaterOrEqual, 0));
            literals.push(bound(Comparison::Less, BOUND));
        }
        bound.push("Z".to_owned());
    }
    Body { literals, bound }
}

fn comparison(n: u8) -> Comparison {
    match n % 6 {
        0 => Comparison::Less,
        1 => Comparison::NotEqual,
        2 => Comparison::Equal,
        3 => Comparison::GreaterOrEqual,
        4 => Comparison::LessOrEqual,
        _ => Comparison::Greater,
    }
}

/// Division is by a power of two or by zero, so that sums of floats do not depend on their order.
fn arithmetic(
    left: Expression,
    operator: u8,
    right: u8,
    pick: impl Fn(u8) -> Expression,
    recursive: bool,
) -> Expression {
    let int = |n: u8| Expression::Constant(Value::Int(n.into()));
    let (operator, right) = match operator % if recursive { 3 } else { 8 } {
        0 => (Arithmetic::Add, int(1)),
        1 => (Arithmetic::Subtract, int(1 + right % 3)),
        2 => (Arithmetic::Add, pick(right)),
        3 => (Arithmetic::Multiply, pick(right)),
        4 => (Arithmetic::Remainder, int(right % 4)),
        5 => (Arithmetic::Divide, int([2, 4, 0][usize::from(right % 3)])),
        6 => (
            Arithmetic::Multiply,
            Expression::Arithmetic(Box::new(pick(right)), Arithmetic::Subtract, Box::new(int(2))),
        ),
        _ => (Arithmetic::Remainder, pick(right)),
    };
    Expression::Arithmetic(Box::new(left), operator, Box::new(right))
}

/// A function of one or two values.
fn call(function: u8, left: Expression, right: Expression) -> Expression {
    let arithmetic =
        |left, operator, right| Expression::Arithmetic(Box::new(left), operator, Box::new(right));
    let one = |function, argument| Expression::Call(function, vec![argument]);
    match function % 9 {
        0 => one(Function::Abs, arithmetic(left, Arithmetic::Subtract, right)),
        1 => Expression::Call(Function::MinVal, vec![left, right]),
        2 => Expression::Call(Function::MaxVal, vec![left, right]),
        3 => one(Function::Len, left),
        4 => one(Function::Upper, left),
        5 => Expression::Call(Function::Concat, vec![left, Expression::Constant(Value::text("-")), right]),
        6 => arithmetic(one(Function::ToFloat, left), Arithmetic::Add, one(Function::Abs, right)),
        7 => one(Function::ToInt, left),
        _ => one(Function::Sign, left),
    }
}

fn build_rule(rule: &RuleDraft, first: bool, draft: &Draft, used: &BTreeSet<usize>) -> Rule {
    let head = usize::from(rule.head) % DERIVED;
    let layer = head / 2 * 2;
    let aggregates = rule.aggregates.as_deref().unwrap_or_default();
    // The first rule of a relation reads only what is below, so that recursions have where to start.
    let own = if aggregates.is_empty() && !first { layer + 2 } else { layer };
    let readable = Readable::new(draft, used, layer, own);
    let recursive = rule.body.atoms.iter().any(|atom| {
        let atom = readable.atom(&readable.positive, atom, |_, _, _| Term::Placeholder);
        atom.relation == derived(layer) || atom.relation == derived(layer + 1)
    });
    let body = build_body(&rule.body, &readable, Names::default(), recursive);
    let variable = |n: u8| match body.bound.get(usize::from(n) % body.bound.len().max(1)) {
        Some(name) => Expression::Variable(name.clone()),
        None => Expression::Constant(Value::Int(i64::from(n % 4))),
    };
    let mut terms: Vec<HeadTerm> = rule.terms[..draft.derived_arities[head]]
        .iter()
        .enumerate()
        .map(|(i, n)| {
            HeadTerm::Expression(match (n % 16, body.bound.last()) {
                // What was computed should usually be seen.
                (_, Some(z)) if i == 0 && z == "Z" => Expression::Variable(z.clone()),
                (15, _) => Expression::Constant(constant(n / 16, draft.domain)),
                (14, _) if !recursive => Expression::Arithmetic(
                    Box::new(variable(n / 16)),
                    Arithmetic::Add,
                    Box::new(variable(n / 32)),
                ),
                (13, _) if !recursive => call(n / 16, variable(n / 16), variable(n / 32)),
                _ => variable(n / 4),
            })
        })
        .collect();
    let columns = terms.len();
    for (i, (function, argument)) in aggregates.iter().enumerate().take(columns) {
        // A mean is not exact, so nothing may sum it up again: it stands in the last layer only.
        let function = aggregate(*function, layer + 2 < DERIVED);
        if let Expression::Variable(name) = variable(*argument) {
            terms[columns - 1 - i] = HeadTerm::Aggregate(function, name);
        }
    }
    Rule { head: derived(head), terms, body: body.literals }
}

fn aggregate(n: u8, exact: bool) -> Aggregate {
    match n % 6 {
        0 => Aggregate::Count,
        1 => Aggregate::Sum,
        2 => Aggregate::Min,
        3 => Aggregate::Max,
        4 => Aggregate::CountDistinct,
        _ if exact => Aggregate::Sum,
        _ => Aggregate::Avg,
    }
}

fn build_goal(draft: &Draft, used: &BTreeSet<usize>) -> Goal {
    let readable = Readable::new(draft, used, DERIVED, DERIVED);
    let mut names = Names::default();
    let atom = readable.atom(&readable.positive, &draft.goal.atom, |_, fresh, n| names.draw(fresh, n));
    let mut body = Vec::new();
    if let Some(further) = &draft.goal.body {
        // One further atom is enough to join with.
        let further = BodyDraft { atoms: further.atoms[..1].to_vec(), ..further.clone() };
        body = build_body(&further, &readable, names, false).literals;
    }
    let order = draft.goal.order.as_deref().unwrap_or_default().iter().map(|n| match n % 3 {
        0 => None,
        1 => Some(Direction::Ascending),
        _ => Some(Direction::Descending),
    });
    let columns = atom.terms.len();
    // Marks on constants are ignored, and change nothing here: such a column holds equal numbers of two types at most.
    let order = order.take(columns).zip(&atom.terms).map(|(mark, term)| match term {
        Term::Variable(_) => mark,
        Term::Constant(_) | Term::Placeholder => None,
    });
    Goal { order: order.collect(), limit: draft.goal.limit, atom, body }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::strategy::{Strategy, ValueTree};
    use proptest::test_runner::TestRunner;

    use super::cases;
    use crate::model::{Expression, HeadTerm, Literal};
    use crate::oracle;

    #[test]
    fn programs_are_answered_and_show_every_feature() {
        let mut runner = TestRunner::deterministic();
        let (mut skipped, mut seen) = (0, BTreeSet::new());
        for _ in 0..500 {
            let program =
                cases().new_tree(&mut runner).expect("a strategy without filters").current().program;
            match oracle::answer(&program) {
                Err(oracle::Refusal::TooMuchWork) => skipped += 1,
                Err(refusal) => panic!("{refusal:?}:\n{program}"),
                Ok(answer) => {
                    seen.insert(if answer.rows.is_empty() { "no rows" } else { "rows" });
                }
            }
            for rule in &program.rules {
                for literal in &rule.body {
                    seen.insert(match literal {
                        Literal::Atom(atom) if atom.relation == rule.head => "recursion",
                        Literal::Atom(_) => "atom",
                        Literal::Negated(_) => "negation",
                        Literal::Comparison(_, _, Expression::Call(..)) => "function",
                        Literal::Comparison(..) => "comparison",
                    });
                }
                seen.extend(rule.terms.iter().map(|term| match term {
                    HeadTerm::Expression(_) => "expression",
                    HeadTerm::Aggregate(aggregate, _) => aggregate.name(),
                }));
            }
        }
        assert!(skipped < 25, "{skipped} of 500 programs take too long");
        assert_eq!(seen.len(), 14, "{seen:?}");
    }
}
