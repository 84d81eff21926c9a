//! The numbers behind a program.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof};
use proptest::{option, sample};

use super::values::Domain;
use super::{BASES, DERIVED};

/// Rows of small numbers; a row is cut to the arity.
type Rows = Vec<Vec<u8>>;

/// The numbers behind a program.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) domain: Domain,
    pub(super) base_arities: Vec<usize>,
    /// With that of the session's own relation.
    pub(super) derived_arities: Vec<usize>,
    pub(super) bases: Vec<Rows>,
    /// Rows that are stored under the name of a derived relation.
    pub(super) seeds: Vec<Rows>,
    pub(super) passing: Vec<Rows>,
    /// How the best values are found, if they are.
    pub(super) best: Option<Vec<u8>>,
    /// How each derived relation ranks, where a rule does: all rules of a head rank alike.
    pub(super) rankings: Vec<Vec<u8>>,
    pub(super) rules: Vec<RuleDraft>,
    pub(super) writes: Vec<WriteDraft>,
    pub(super) session_facts: Vec<Rows>,
    pub(super) session_rules: Vec<RuleDraft>,
    pub(super) goal: GoalDraft,
}

/// A rule.
#[derive(Debug, Clone)]
pub(super) struct RuleDraft {
    pub(super) head: u8,
    pub(super) body: BodyDraft,
    pub(super) terms: Vec<u8>,
    pub(super) aggregation: Aggregation,
}

/// What a head aggregates.
#[derive(Debug, Clone)]
pub(super) enum Aggregation {
    /// Nothing.
    None,
    /// Values of groups.
    Simple(Vec<(u8, u8)>),
    /// The best solutions.
    Ranking,
}

/// A body.
#[derive(Debug, Clone)]
pub(super) struct BodyDraft {
    pub(super) atoms: Vec<AtomDraft>,
    pub(super) negated: Option<AtomDraft>,
    pub(super) comparison: Option<Vec<u8>>,
    pub(super) assignment: Option<Vec<u8>>,
    /// Which arguments of atoms are computed, and how.
    pub(super) computed: Option<Vec<u8>>,
    /// Equalities of a variable, and another order of the conditions.
    pub(super) equalities: Option<Vec<u8>>,
    /// Two atoms of alternatives, or of a conjunction that is negated, and what is made of them.
    pub(super) nested: Option<(AtomDraft, AtomDraft, Vec<u8>)>,
}

/// An atom.
#[derive(Debug, Clone)]
pub(super) struct AtomDraft {
    pub(super) relation: u8,
    /// What stands in each column, and which one of it.
    pub(super) terms: Vec<(u8, u8)>,
}

/// A conditional delete, or an update.
#[derive(Debug, Clone)]
pub(super) struct WriteDraft {
    pub(super) updates: bool,
    pub(super) targets: Vec<AtomDraft>,
    pub(super) body: BodyDraft,
}

/// A goal.
#[derive(Debug, Clone)]
pub(super) struct GoalDraft {
    pub(super) atom: AtomDraft,
    /// Not a relation is asked for, but terms of a body.
    pub(super) projection: Option<(Vec<u8>, Aggregation, Vec<u8>)>,
    pub(super) body: Option<BodyDraft>,
    pub(super) order: Option<Vec<u8>>,
    pub(super) limit: Option<(usize, usize)>,
}

/// Drafts of whole programs.
pub(super) fn drafts() -> impl Strategy<Value = Draft> {
    let domain = prop_oneof![
        3 => Just(Domain::Ints),
        2 => Just(Domain::Numbers),
        2 => Just(Domain::Floats),
        3 => Just(Domain::Texts),
        2 => Just(Domain::Mixed),
        2 => Just(Domain::Wide)
    ];
    let arity = || prop_oneof![6 => 1_usize..=2, 3 => Just(3_usize), 1 => Just(4_usize), 1 => 5_usize..=6];
    let base_arity =
        || prop_oneof![1 => Just(1_usize), 5 => Just(2_usize), 3 => 3_usize..=4, 1 => 5_usize..=6];
    let rows = |most| vec(vec(any::<u8>(), 6), 0..=most);
    let facts = (
        domain,
        vec(base_arity(), BASES),
        vec(arity(), DERIVED + 1),
        vec(rows(14), BASES),
        vec(option::weighted(0.2, rows(3)).prop_map(Option::unwrap_or_default), DERIVED),
        vec(rows(4), BASES),
    );
    let rules = (
        option::weighted(0.2, vec(any::<u8>(), 5)),
        vec(vec(any::<u8>(), 4), DERIVED + 1),
        prop_oneof![1 => vec(rule_drafts(), 0..=1), 6 => vec(rule_drafts(), 2..=6)],
        option::weighted(0.3, vec(write_drafts(), 1..=2)).prop_map(Option::unwrap_or_default),
    );
    let session = option::weighted(
        0.35,
        (
            vec(option::weighted(0.4, rows(3)).prop_map(Option::unwrap_or_default), BASES),
            vec(rule_drafts(), 0..=2),
        ),
    );
    (facts, rules, session, goal_drafts()).prop_map(|(facts, rules, session, goal)| {
        let (domain, base_arities, derived_arities, bases, seeds, passing) = facts;
        let (best, rankings, rules, writes) = rules;
        let (session_facts, session_rules) = session.unwrap_or_default();
        Draft {
            domain,
            base_arities,
            derived_arities,
            bases,
            seeds,
            passing,
            best,
            rankings,
            rules,
            writes,
            session_facts,
            session_rules,
            goal,
        }
    })
}

fn rule_drafts() -> impl Strategy<Value = RuleDraft> {
    (any::<u8>(), body_drafts(), vec(any::<u8>(), 6), aggregations())
        .prop_map(|(head, body, terms, aggregation)| RuleDraft { head, body, terms, aggregation })
}

fn aggregations() -> impl Strategy<Value = Aggregation> {
    prop_oneof![
        15 => Just(Aggregation::None),
        4 => vec((any::<u8>(), any::<u8>()), 1..=2).prop_map(Aggregation::Simple),
        2 => Just(Aggregation::Ranking)
    ]
}

fn body_drafts() -> impl Strategy<Value = BodyDraft> {
    let atoms = prop_oneof![
        3 => vec(atom_drafts(), 1..=1),
        4 => vec(atom_drafts(), 2..=2),
        1 => vec(atom_drafts(), 3..=3)
    ];
    (
        atoms,
        option::weighted(0.25, atom_drafts()),
        option::weighted(0.3, vec(any::<u8>(), 10)),
        option::weighted(0.3, vec(any::<u8>(), 12)),
        option::weighted(0.15, vec(any::<u8>(), 16)),
        option::weighted(0.15, vec(any::<u8>(), 16)),
        option::weighted(0.15, (atom_drafts(), atom_drafts(), vec(any::<u8>(), 12))),
    )
        .prop_map(|(atoms, negated, comparison, assignment, computed, equalities, nested)| BodyDraft {
            atoms,
            negated,
            comparison,
            assignment,
            computed,
            equalities,
            nested,
        })
}

fn atom_drafts() -> impl Strategy<Value = AtomDraft> {
    (any::<u8>(), vec((0_u8..20, any::<u8>()), 6)).prop_map(|(relation, terms)| AtomDraft { relation, terms })
}

fn write_drafts() -> impl Strategy<Value = WriteDraft> {
    (any::<bool>(), vec(atom_drafts(), 2..=3), body_drafts())
        .prop_map(|(updates, targets, body)| WriteDraft { updates, targets, body })
}

fn goal_drafts() -> impl Strategy<Value = GoalDraft> {
    let limits = [(1, 0), (3, 0), (2, 1), (4, 3), (0, 0), (5, 30)];
    (
        atom_drafts(),
        option::weighted(0.2, (vec(any::<u8>(), 3), aggregations(), vec(any::<u8>(), 4))),
        option::weighted(0.35, body_drafts()),
        option::weighted(0.3, vec(any::<u8>(), 6)),
        option::weighted(0.2, sample::select(limits.to_vec())),
    )
        .prop_map(|(atom, projection, body, order, limit)| GoalDraft {
            atom,
            projection,
            body,
            order,
            limit,
        })
}
