//! Programs that explain rows: which of all rows their proofs may need, how high the smallest proof of each of them is, and
//! by which solutions of which rules it stands.
//!
//! The rules are those that were written: no recursion is turned round, no closure is derived from its other end. Each relation
//! is derived with the *height* of the smallest proof of each row (`heights.rs`), and of that only what the rows in question
//! depend on is evaluated, as for an answer (magic sets, with all columns bound). A row of height `n` has a solution whose rows
//! are lower, so proofs that are taken in that order go in no circle. `solutions.rs` asks for these solutions.

mod heights;
mod levels;
mod paths;
mod replaced;
mod rounds;
mod searched;
mod solutions;
mod top_down;
mod whole;

use std::collections::{BTreeMap, HashSet};

pub(crate) use heights::least_below;
pub(crate) use paths::path_and_step;
pub(crate) use replaced::lacking;
pub(crate) use rounds::derived_in_rounds;
pub(crate) use searched::{Edge, End, Form, Searched, Step, searched, steps_below};
pub(crate) use solutions::{Ask, Read, ask};
pub(crate) use top_down::{TopDown, top_down};
pub(crate) use whole::Whole;

use self::heights::Heights;
use super::guarded::guarded;
use super::magic_sets::{self, ASKED, Bindings, Demanded, demanded};
use crate::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum, Variable,
};
use crate::data::{RelationId, VariableId};
use crate::diagnostic::Span;

/// What explains the rows of a goal.
#[derive(Debug)]
pub(crate) struct Explained {
    /// Evaluates everything that proofs may need. It reads the rows that are to be explained as `$asked`, by the columns of
    /// [`Explained::asked`], and its goal is theirs with heights.
    pub(crate) program: Program,
    /// The columns of the goal by which its rows are asked for, each once. If there are none, nothing is asked for.
    pub(crate) asked: Vec<usize>,
    /// The goal that is explained.
    pub(crate) goal: RelationId,
    /// Relations with rules, and how they derive their rows.
    pub(crate) derived: BTreeMap<RelationId, Derived>,
    /// The relations of which adorned ones have some rows.
    rows_of: BTreeMap<RelationId, RelationId>,
    /// By what they are asked for.
    bindings: Vec<Bindings>,
    /// Derived relations whose rows may rest on best values that were replaced, and thus have no heights.
    unsure: Vec<RelationId>,
    /// What is read of rows to find those by which others stand: where all rows are at hand, no heights are.
    pub(crate) read: Read,
    /// Relations whose heights are at hand: they are read by the names of their relations with heights.
    pub(crate) known: Vec<InRounds>,
    origins: Origins,
}

/// Closures that are composed of themselves, by the relations of their steps.
#[derive(Debug)]
struct Origins(BTreeMap<RelationId, Composed>);

#[derive(Debug)]
struct Composed {
    closure: RelationId,
    /// The height at which all its steps stand.
    step_height: u32,
}

impl Origins {
    fn of(&self, relation: RelationId) -> RelationId {
        self.0.get(&relation).map_or(relation, |of| of.closure)
    }

    /// Of a relation whose rows are paths, which are followed by their lengths: the height of a step.
    fn step_height(&self, relation: RelationId) -> Option<u32> {
        self.0.values().find(|of| of.closure == relation).map(|of| of.step_height)
    }
}

impl Explained {
    /// The relation of which one that was evaluated has some rows, or all.
    pub(crate) fn whole(&self, relation: RelationId) -> RelationId {
        self.rows_of.get(&relation).copied().unwrap_or(relation)
    }

    /// What explains rows where all are at hand.
    fn at_hand(
        goal: RelationId,
        relations: Vec<Relation>,
        derived: BTreeMap<RelationId, Derived>,
        origins: Origins,
    ) -> Explained {
        Explained {
            program: Program { relations, strata: Vec::new(), goal, warnings: Vec::new() },
            asked: Vec::new(),
            goal,
            derived,
            rows_of: BTreeMap::new(),
            bindings: Vec::new(),
            unsure: Vec::new(),
            read: Read::Rows,
            known: Vec::new(),
            origins,
        }
    }

    /// Whether the heights of all rows of recursions are at hand.
    pub(crate) fn knows_recursions(&self, program: &Program) -> bool {
        let is_known = |relation: &RelationId| self.known.iter().any(|known| known.relation == *relation);
        let needs_none = |relation: &RelationId| {
            self.derived.get(relation).is_none_or(|derived| derived.height.relation().is_none())
        };
        let mut strata = program.strata.iter().filter(|stratum| stratum.recursive);
        strata.all(|stratum| stratum.relations.iter().all(|of| needs_none(of) || is_known(of)))
    }

    /// The relation of the program that is explained whose rows a relation has.
    pub(crate) fn origin(&self, relation: RelationId) -> RelationId {
        self.origins.of(relation)
    }

    /// Of a relation whose rows are paths, which are followed by their lengths: the height at which all steps stand.
    pub(crate) fn step_height(&self, relation: RelationId) -> Option<u32> {
        self.origins.step_height(relation)
    }
}

/// A relation with rules.
#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) height: Height,
    /// Of paths: its rows with the length of each in one more column.
    pub(crate) with_lengths: Option<RelationId>,
    /// So high its rows stand at least.
    pub(crate) least: u32,
    /// How much higher a row of it is than what a solution rests on.
    pub(crate) step: u32,
    /// Its rules.
    pub(crate) ways: Vec<Way>,
}

/// How high the smallest proofs of a relation's rows are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Height {
    /// All of them so high.
    Level(u32),
    /// As this relation says, which has the rows with the height of each in one more column.
    In(RelationId),
}

impl Height {
    pub(crate) fn relation(self) -> Option<RelationId> {
        match self {
            Height::Level(_) => None,
            Height::In(relation) => Some(relation),
        }
    }
}

/// Relations whose heights are known, or could be.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InRounds {
    pub(crate) relation: RelationId,
    /// How high what the first round finds stands.
    pub(crate) lowest: u32,
}

/// A rule, without the conditions by which it is asked.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) rule: Rule,
    pub(crate) kind: Kind,
}

/// What it takes to make a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Stored rows count as derived.
    Stored,
    /// One solution.
    Solution,
    /// One solution, which is the best or one of the best of its group. The relation has those rows.
    Chosen(RelationId),
    /// All solutions of its group. The relation has those rows.
    Group(RelationId),
    /// A shorter path, and a step.
    Path,
}

/// A rule that hands on stored rows has this text.
const STORED: &str = "as stored";

/// Best values that were replaced by better ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// They are nothing that a proof may rest on,
    Gone,
    /// or what it may go through, where it has to.
    Kept,
}

/// Whether rows of a program may rest on best values that were replaced.
pub(crate) fn may_rest_on_replaced(program: &Program) -> bool {
    replaced::has_any(program)
}

/// The program that explains rows of a goal. Nothing if that cannot be done by these rules. Of the relations `at_hand`, which only
/// rules derive, all rows are: they are read by their names, as far as that is of use. Of those `with_heights`, so are the heights of
/// all rows, if these are found in rounds.
pub(crate) fn explained(
    program: &Program,
    at_hand: &HashSet<RelationId>,
    with_heights: &HashSet<RelationId>,
    replaced: Replaced,
) -> Option<Explained> {
    let mut program = program.clone();
    apart_from_stored(&mut program);
    let unsure = match replaced {
        Replaced::Gone => replaced::unsure(&program),
        Replaced::Kept => {
            replaced::keep(&mut program);
            Vec::new()
        }
    };
    let (closures, levels) = paths::apart(&mut program);
    let origins = Origins(closures);
    let asked = guard_goal(&mut program);
    let mut heights = heights::of(&program, &origins, &levels);
    let mut in_rounds: Vec<InRounds> = rounds::all(&program, &levels, &origins).collect();
    in_rounds.retain(|of| with_heights.contains(&of.relation));
    let known = heights.read_as_stored(&program, at_hand.clone(), in_rounds);
    let Heights { relations, rules, derived, .. } = heights;
    let goal = program.goal;
    let with_heights = derived.values().flat_map(|of| [of.height.relation(), of.with_lengths]);
    let with_heights = with_heights.flatten().filter(|of| !relations[of.index()].stored).collect();
    // Which rules are of which stratum is found out when it is known which of them are needed.
    let all = Stratum::of(Vec::new(), rules, true);
    let goal_with_heights = derived.get(&goal)?.height.relation()?;
    let all = Program { relations, strata: vec![all], goal: goal_with_heights, warnings: Vec::new() };
    let Demanded { relations, strata, rows_of, bindings } =
        demanded(&all, magic_sets::Form::Written(&with_heights)).ok()?;
    let program = Program { relations, strata, ..all };
    let read = Read::Heights;
    Some(Explained { program, asked, goal, derived, rows_of, bindings, unsure, read, known, origins })
}

/// Makes rows that are stored under the name of a derived relation a relation of their own.
fn apart_from_stored(program: &mut Program) {
    let count = program.relations.len();
    for stratum in &mut program.strata {
        apart_in(stratum, &mut program.relations, count);
    }
}

fn apart_in(stratum: &mut Stratum, relations: &mut Vec<Relation>, count: usize) {
    for &head in &stratum.relations {
        if head.index() >= count || !relations[head.index()].stored {
            continue;
        }
        relations[head.index()].stored = false;
        let known = relations[head.index()].clone();
        relations.push(Relation { stored: true, best: None, ..known.clone() });
        let stored = RelationId::new(relations.len() - 1);
        let columns = || (0..known.arity).map(VariableId::new);
        let variables = columns().zip(&known.column_types).map(|(column, data_type)| Variable {
            name: format!("?{}", column.index()),
            data_type: *data_type,
        });
        stratum.rules.push(Rule {
            head,
            head_terms: columns().map(|v| HeadTerm::Expression(Expression::Variable(v))).collect(),
            ranking: None,
            body: vec![Literal::Atom(Atom {
                relation: stored,
                arguments: columns().map(Argument::Variable).collect(),
                span: Span::default(),
            })],
            variables: variables.collect(),
            text: STORED.to_owned(),
        });
    }
}

/// Asks only for certain rows of the goal. Answers by which columns: those that are the same for all solutions of a row.
fn guard_goal(program: &mut Program) -> Vec<usize> {
    let goal = program.goal;
    let described = &program.relations[goal.index()];
    let types = described.column_types.clone();
    let rules = || program.strata.iter().flat_map(|stratum| &stratum.rules).filter(|rule| rule.head == goal);
    let asked: Vec<usize> =
        (0..described.arity).filter(|column| rules().all(|rule| rule.is_group(*column))).collect();
    if asked.is_empty() {
        return asked;
    }
    let column_types = asked.iter().map(|column| types[*column]).collect::<Vec<_>>();
    program.relations.push(Relation {
        name: ASKED.to_owned(),
        arity: asked.len(),
        column_types,
        stored: true,
        best: None,
    });
    let relation = RelationId::new(program.relations.len() - 1);
    for rule in program.strata.iter_mut().flat_map(|stratum| &mut stratum.rules) {
        if rule.head == goal {
            *rule = guarded(rule.clone(), relation, &asked, &types);
        }
    }
    asked
}
