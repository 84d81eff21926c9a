//! What a relation's rows follow from, in short.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use crate::analysis::program::{Literal, Program, Rule, Stratum};
use crate::data::{Relation, RelationId, Run};
use crate::graph::{SessionView, Snapshot};

/// Equal ones mean equal things: nobody can find two that collide, as the keys of the hash differ in every process.
pub(super) type Fingerprint = [u64; 2];

/// What the rows of a relation follow from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Origin {
    /// The rules, those of all relations below included, and the names of the stored relations below.
    pub(super) meaning: Fingerprint,
    /// The same with the stored rows, by the numbers of their runs.
    pub(super) state: Fingerprint,
    /// Whether a session's own facts are among those.
    pub(super) is_own: bool,
}

/// The relations of a program: what they follow from.
#[derive(Debug, Default)]
pub(super) struct Origins {
    /// One entry a relation; none of those that depend on more than graph and rules.
    pub(super) of: Vec<Option<Origin>>,
    /// What the stratum of each derived relation reads.
    pub(super) below: HashMap<RelationId, BTreeSet<RelationId>>,
}

impl Origins {
    /// Whether these relations are all of a recursion as it is written: nothing is derived for less than all rows, and nothing of it is
    /// read as it is kept.
    pub(super) fn are_whole(&self, recursion: &[RelationId]) -> bool {
        let Some(first) = recursion.first() else { return true };
        let needs_first = |relation: &RelationId| self.all_below(*relation).contains(first);
        let mut needed = self.all_below(*first).into_iter().filter(needs_first);
        recursion.iter().all(|relation| self.below.contains_key(relation))
            && needed.all(|relation| recursion.contains(&relation))
    }

    /// A relation with everything that it follows from.
    pub(super) fn all_below(&self, relation: RelationId) -> BTreeSet<RelationId> {
        let mut all = BTreeSet::from([relation]);
        let mut open = vec![relation];
        while let Some(relation) = open.pop() {
            for below in self.below.get(&relation).into_iter().flatten() {
                if all.insert(*below) {
                    open.push(*below);
                }
            }
        }
        all
    }
}

/// The keys of this process.
#[derive(Debug)]
pub(super) struct Keys([RandomState; 2]);

impl Keys {
    pub(super) fn new() -> Keys {
        Keys([RandomState::new(), RandomState::new()])
    }

    /// What the relations of a program follow from.
    pub(super) fn origins(&self, program: &Program, view: &SessionView) -> Origins {
        let mut origins = Origins { of: vec![None; program.relations.len()], ..Origins::default() };
        // The graph's, and the meaning of its codes.
        let dictionary = view.snapshot().dictionary().number();
        for (index, relation) in program.relations.iter().enumerate() {
            if relation.stored && !view.has_own_rules(&relation.name) {
                origins.of[index] = Some(self.stored(&relation.name, dictionary, view));
            }
        }
        for stratum in program.strata.iter().filter(|stratum| !stratum.relations.contains(&program.goal)) {
            let below: BTreeSet<RelationId> = stratum.rules.iter().flat_map(Rule::reads).collect();
            let of_stratum = self.of_stratum(stratum, &below, &origins, program, view);
            for relation in &stratum.relations {
                let name = &program.relations[relation.index()].name;
                origins.of[relation.index()] = of_stratum.map(|Origin { meaning, state, is_own }| Origin {
                    meaning: self.fingerprint((meaning, name)),
                    state: self.fingerprint((state, name)),
                    is_own,
                });
                origins.below.insert(*relation, below.clone());
            }
        }
        origins
    }

    fn stored(&self, name: &str, dictionary: u64, view: &SessionView) -> Origin {
        let meaning = self.fingerprint((dictionary, name));
        let (stored, own) = (numbers(view.snapshot(), name), view.own_facts(name));
        let own: Vec<u64> = own.into_iter().flat_map(Relation::runs).map(Run::number).collect();
        Origin { meaning, state: self.fingerprint((meaning, stored, &own)), is_own: !own.is_empty() }
    }

    fn of_stratum(
        &self,
        stratum: &Stratum,
        below: &BTreeSet<RelationId>,
        origins: &Origins,
        program: &Program,
        view: &SessionView,
    ) -> Option<Origin> {
        let described = |relation: &RelationId| &program.relations[relation.index()];
        let is_own = |relation: &RelationId| view.is_own(&described(relation).name);
        if stratum.relations.iter().any(is_own) || stratum.rules.iter().any(Rule::reads_circumstances) {
            return None;
        }
        let outside = below.iter().filter(|relation| !stratum.relations.contains(relation));
        let read: Option<BTreeMap<&str, Origin>> = outside
            .map(|relation| Some((described(relation).name.as_str(), origins.of[relation.index()]?)))
            .collect();
        let read = read?;
        let heads: BTreeMap<&str, String> = stratum
            .relations
            .iter()
            .map(|relation| {
                let known = described(relation);
                (known.name.as_str(), format!("{:?} {}", known.column_types, known.stored))
            })
            .collect();
        // In which order rules come depends on what is asked for.
        let mut rules: Vec<Fingerprint> =
            stratum.rules.iter().map(|rule| self.fingerprint(Meaning { rule, program })).collect();
        rules.sort_unstable();
        let below: Vec<_> = read.iter().map(|(name, origin)| (name, origin.meaning)).collect();
        let meaning = self.fingerprint((view.snapshot().dictionary().number(), rules, &heads, below));
        let stored: Vec<Vec<u64>> = heads.keys().map(|name| numbers(view.snapshot(), name)).collect();
        let below: Vec<Fingerprint> = read.values().map(|origin| origin.state).collect();
        let is_own = read.values().any(|origin| origin.is_own);
        Some(Origin { meaning, state: self.fingerprint((meaning, stored, below)), is_own })
    }

    fn fingerprint(&self, what: impl Hash) -> Fingerprint {
        self.0.each_ref().map(|key| key.hash_one(&what))
    }
}

/// What a rule says, whatever numbers its program gives to relations. Its text does not say all: parts of a rule that
/// were taken out of it have its text, too.
struct Meaning<'p> {
    rule: &'p Rule,
    program: &'p Program,
}

impl Hash for Meaning<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let name = |relation: RelationId| &self.program.relations[relation.index()].name;
        let types = self.rule.variables.iter().map(|variable| variable.data_type);
        name(self.rule.head).hash(state);
        (&self.rule.head_terms, &self.rule.ranking, types.collect::<Vec<_>>()).hash(state);
        self.rule.body.len().hash(state);
        for literal in &self.rule.body {
            match literal {
                Literal::Atom(atom) => (0, name(atom.relation), &atom.arguments).hash(state),
                Literal::Negated(atom) => (1, name(atom.relation), &atom.arguments).hash(state),
                Literal::Filter { operator, left, right } => (2, operator, left, right).hash(state),
                Literal::Assign { variable, expression } => (3, variable, expression).hash(state),
            }
        }
    }
}

/// The numbers of a stored relation's runs.
pub(super) fn numbers(snapshot: &Snapshot, relation: &str) -> Vec<u64> {
    snapshot
        .relation(relation)
        .map_or_else(Vec::new, |stored| stored.runs().iter().map(Run::number).collect())
}
