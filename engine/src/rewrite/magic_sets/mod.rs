//! Magic sets: a question with a constant evaluates only what its answer can depend on.
//!
//! Beeri and Ramakrishnan, On the power of magic (1991). For each derived relation and each set of its columns that
//! the question binds (its *adornment*, `b` or `f` a column) there is an adorned copy, whose rules are guarded by a
//! *magic* relation: the bindings that are asked for. Bindings are passed sideways, from literal to literal, in an
//! order that begins with what is bound.
//!
//! A recursion that hands on what is free, and moves what is bound, would be asked for everything it passes by. It is
//! turned round (`turned.rs`); a closure is derived from the end that is bound (`closures.rs`). One that is asked for by both of
//! its ends is asked from the one from which less is to be seen (`either_end.rs`).
//!
//! What many ask for at once (`?reach($1, Y), $asked($1)`) stands in a relation, and binds as a constant does.
//!
//! A relation under negation is bound too, and one that aggregates in its group columns. That can make a program
//! depend on its own negation or aggregation; the relations that do are then evaluated in full, as they would be without.

pub(super) mod closures;
mod either_end;
mod turned;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use foldhash::HashSet;

use self::either_end::Ends;
use super::guarded::{compare_assigned, guard, head_argument};
use crate::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum, Variable,
};
use crate::analysis::{Cycle, Measured, stratify, stratify_made};
use crate::data::{DataType, RelationId, VariableId};
use crate::diagnostic::Span;
use crate::index::IndexKind;

/// Which columns are bound.
type Adornment = Vec<bool>;

/// The relation of what many ask for at once. No program can name it.
pub(crate) const ASKED: &str = "$asked";

pub(super) fn run(program: Program) -> Program {
    match demanded(&program, Form::Best) {
        // A program that asks for nothing by a binding stays as it is.
        Ok(Demanded { relations, strata, rows_of, .. }) if !rows_of.is_empty() => {
            Program { relations, strata, ..program }
        }
        Ok(_) | Err(_) => program,
    }
}

/// In which form recursions are asked.
#[derive(Clone, Copy)]
pub(super) enum Form<'p> {
    /// In the one that is evaluated best.
    Best,
    /// As they are written. The best values of these relations are those of rules that make nothing worse of a better one.
    Written(&'p BTreeSet<RelationId>),
}

/// What a program becomes: what its goal needs.
pub(super) struct Demanded {
    /// Its relations, and those that were made.
    pub(super) relations: Vec<Relation>,
    pub(super) strata: Vec<Stratum>,
    /// The relation of the program whose rows an adorned one has.
    pub(super) rows_of: BTreeMap<RelationId, RelationId>,
    /// By what they are asked for.
    pub(super) bindings: Vec<Bindings>,
}

/// Values of some columns by which rows of a relation are asked for.
#[derive(Debug, Clone)]
pub(super) struct Bindings {
    /// The relation of the program.
    pub(super) of: RelationId,
    /// Its columns.
    pub(super) columns: Vec<usize>,
    /// The relation of these values.
    pub(super) values: RelationId,
}

/// Evaluates only what the goal of a program can depend on. A cycle is one of the program itself: what bindings add to it falls
/// apart when enough is evaluated in full.
pub(super) fn demanded(program: &Program, form: Form<'_>) -> Result<Demanded, Cycle> {
    let mut whole = scored(program);
    loop {
        let mut magic = Magic::new(program, form, &whole);
        magic.read(program.goal);
        magic.make_rules();
        // What is evaluated in full anyway need not be evaluated in part.
        let mut more: Vec<RelationId> =
            magic.adorned.keys().map(|(relation, _)| *relation).filter(|r| magic.read.contains(r)).collect();
        if more.is_empty() {
            match magic.strata() {
                Ok(strata) => {
                    let Magic { relations, adorned, .. } = magic;
                    let rows_of = adorned.iter().map(|((relation, _), adorned)| (adorned.rows, *relation));
                    let rows_of = rows_of.collect();
                    let bindings = adorned.into_iter().map(|((of, adornment), adorned)| Bindings {
                        of,
                        columns: (0..adornment.len()).filter(|column| adornment[*column]).collect(),
                        values: adorned.magic,
                    });
                    return Ok(Demanded { relations, strata, rows_of, bindings: bindings.collect() });
                }
                Err(cycle) if magic.adorned.is_empty() => return Err(cycle),
                Err(cycle) => more = magic.culprits(&cycle),
            }
        }
        whole.extend(more);
    }
}

/// The relations whose texts are searched: a score depends on all of their rows.
fn scored(program: &Program) -> BTreeSet<RelationId> {
    let rules = program.strata.iter().flat_map(|stratum| &stratum.rules);
    let searches = rules.filter_map(|rule| Measured::of(rule, &program.relations));
    let of_texts = searches.filter(|found| matches!(found.search.index.definition.kind, IndexKind::Text(_)));
    of_texts.map(|found| found.rows.relation).collect()
}

struct Magic<'p> {
    program: &'p Program,
    form: Form<'p>,
    rules: BTreeMap<RelationId, Vec<&'p Rule>>,
    /// Relations that stand under a negation somewhere.
    negated: BTreeSet<RelationId>,
    /// Relations that are not to be adorned.
    whole: &'p BTreeSet<RelationId>,
    relations: Vec<Relation>,
    adorned: BTreeMap<(RelationId, Adornment), Adorned>,
    /// Relations of bindings: the magic ones, and those of turned recursions.
    guards: BTreeSet<RelationId>,
    /// Relations of the program that are read as they are.
    read: BTreeSet<RelationId>,
    queue: VecDeque<Task>,
    made: Vec<Rule>,
    /// Of which two relations of bindings one is enough.
    ends: Vec<Ends>,
}

/// The two relations of an adornment.
#[derive(Clone, Copy)]
struct Adorned {
    rows: RelationId,
    magic: RelationId,
}

/// Rules that are yet to be made.
enum Task {
    Adorned(RelationId, Adornment),
    Whole(RelationId),
}

impl<'p> Magic<'p> {
    fn new(program: &'p Program, form: Form<'p>, whole: &'p BTreeSet<RelationId>) -> Magic<'p> {
        let mut rules: BTreeMap<RelationId, Vec<&Rule>> = BTreeMap::new();
        let mut negated = BTreeSet::new();
        for rule in program.strata.iter().flat_map(|stratum| &stratum.rules) {
            rules.entry(rule.head).or_default().push(rule);
            negated.extend(rule.body.iter().filter_map(|literal| match literal {
                Literal::Negated(atom) => Some(atom.relation),
                Literal::Atom(_) | Literal::Filter { .. } | Literal::Assign { .. } => None,
            }));
        }
        Magic {
            program,
            form,
            rules,
            negated,
            whole,
            relations: program.relations.clone(),
            adorned: BTreeMap::new(),
            guards: BTreeSet::new(),
            read: BTreeSet::new(),
            queue: VecDeque::new(),
            made: Vec::new(),
            ends: Vec::new(),
        }
    }

    fn make_rules(&mut self) {
        while let Some(task) = self.queue.pop_front() {
            match task {
                Task::Adorned(relation, adornment) => self.adorn_rules(relation, &adornment),
                Task::Whole(relation) => {
                    for rule in self.rules.get(&relation).cloned().unwrap_or_default() {
                        let rule = self.pass_bindings(rule, None);
                        self.made.push(rule);
                    }
                }
            }
        }
    }

    fn strata(&mut self) -> Result<Vec<Stratum>, Cycle> {
        let rules = std::mem::take(&mut self.made);
        let mut strata = match self.form {
            Form::Best => stratify(&self.relations, rules)?,
            Form::Written(sound) => {
                let of_sound = self.adorned.iter().filter(|((relation, _), _)| sound.contains(relation));
                let sound = sound.iter().copied().chain(of_sound.map(|(_, adorned)| adorned.rows)).collect();
                stratify_made(&self.relations, rules, &sound)?
            }
        };
        self.ends.iter().for_each(|ends| ends.pair(&mut strata));
        if matches!(self.form, Form::Best) {
            let magic: BTreeSet<RelationId> = self.adorned.values().map(|adorned| adorned.magic).collect();
            for stratum in &mut strata {
                let asking = stratum.relations.iter().filter(|relation| magic.contains(relation));
                stratum.asking = asking.copied().collect();
            }
        }
        Ok(strata)
    }

    /// The relations to evaluate in full so that a cycle falls apart: those of it that aggregate or are negated, or
    /// else all of it.
    fn culprits(&self, cycle: &Cycle) -> Vec<RelationId> {
        let in_cycle = |adorned: &Adorned| {
            cycle.relations.contains(&adorned.rows) || cycle.relations.contains(&adorned.magic)
        };
        let all: Vec<RelationId> = self
            .adorned
            .iter()
            .filter(|(_, adorned)| in_cycle(adorned))
            .map(|((relation, _), _)| *relation)
            .collect();
        let sensitive = |relation: &RelationId| {
            self.negated.contains(relation) || self.rules[relation].iter().any(|rule| rule.aggregates())
        };
        let some: Vec<RelationId> = all.iter().copied().filter(sensitive).collect();
        match (some.is_empty(), all.is_empty()) {
            (false, _) => some,
            (true, false) => all,
            (true, true) => self.adorned.keys().map(|(relation, _)| *relation).collect(),
        }
    }

    /// Reads a relation as it is: if it is one of the program's own, its rules are needed.
    fn read(&mut self, relation: RelationId) {
        if relation.index() < self.program.relations.len() && self.read.insert(relation) {
            self.queue.push_back(Task::Whole(relation));
        }
    }

    fn read_body(&mut self, body: &[Literal]) {
        for literal in body {
            if let Literal::Atom(atom) | Literal::Negated(atom) = literal {
                self.read(atom.relation);
            }
        }
    }

    /// The guarded rules of an adorned relation.
    fn adorn_rules(&mut self, relation: RelationId, adornment: &Adornment) {
        let Some(adorned) = self.adorned.get(&(relation, adornment.clone())).copied() else { return };
        let rules = self.rules_for(relation, adornment);
        if matches!(self.form, Form::Best) && self.is_turned(relation, adornment, &rules) {
            self.turn(relation, adornment, adorned, &rules);
            return;
        }
        if let Some(handed) = self.handed_on(relation, adornment, &rules) {
            self.ask_from_either_end(relation, adornment, adorned, handed, &rules);
            return;
        }
        for rule in rules {
            let guard = guard(adorned.magic, bound(adornment, &rule.head_terms).filter_map(head_argument));
            let rule = self.pass_bindings(&rule, Some(guard));
            self.made.push(Rule { head: adorned.rows, ..rule });
        }
    }

    /// The rules of a relation, in the form that suits an adornment, and one for its stored rows.
    fn rules_for(&mut self, relation: RelationId, adornment: &Adornment) -> Vec<Rule> {
        let rules = self.rules.get(&relation).cloned().unwrap_or_default();
        let described = &self.program.relations[relation.index()];
        // Asked with one end, a closure carries that one along; composed of itself, it is best asked with its front in any case.
        let carried = match adornment.as_slice() {
            [first, second] if first != second => Some(usize::from(*second)),
            [true, true] if rules.iter().any(|rule| closures::is_double(rule, relation)) => Some(0),
            _ => None,
        };
        if matches!(self.form, Form::Best)
            && let Some(column) = carried
            && let Some(rules) = closures::carrying(column, relation, &rules, self.program)
        {
            return rules;
        }
        let mut rules: Vec<Rule> = rules.into_iter().cloned().collect();
        if described.stored {
            rules.push(self.stored_rows(relation));
        }
        rules
    }

    /// Stored rows count beside what rules derive: `p(X, Y) <- p(X, Y) as stored`.
    fn stored_rows(&mut self, relation: RelationId) -> Rule {
        let known = &self.program.relations[relation.index()];
        let stored = self.add(known.name.clone(), known.column_types.clone(), true);
        let columns: Vec<VariableId> = (0..known.arity).map(VariableId::new).collect();
        let arguments = columns.iter().map(|variable| Argument::Variable(*variable)).collect();
        Rule {
            head: relation,
            head_terms: columns.iter().map(|v| HeadTerm::Expression(Expression::Variable(*v))).collect(),
            ranking: None,
            body: vec![Literal::Atom(Atom { relation: stored, arguments, span: Span::default() })],
            variables: columns
                .iter()
                .zip(&known.column_types)
                .map(|(variable, data_type)| Variable {
                    name: format!("?{}", variable.index()),
                    data_type: *data_type,
                })
                .collect(),
            text: format!("{} as stored", known.name),
        }
    }

    /// A rule whose derived atoms are adorned with the bindings that reach them. For each of them a magic rule says
    /// which bindings those are.
    fn pass_bindings(&mut self, rule: &Rule, guard: Option<Atom>) -> Rule {
        let mut known: HashSet<VariableId> = guard.iter().flat_map(Atom::variables).collect();
        let mut passed: Vec<Literal> = guard.clone().map(Literal::Atom).into_iter().collect();
        let mut rule = rule.clone();
        compare_assigned(&mut rule, &known);
        let mut body = rule.body.clone();
        let mut open: Vec<usize> = (0..body.len()).collect();
        // What a search starts from stands first, and depends on nothing that it finds.
        let is_search = rule.ranking.as_ref().is_some_and(|ranking| ranking.search.is_some());
        let mut start = (is_search && guard.is_some()).then_some(0);
        while let Some(next) = start.take().or_else(|| self.next_bound(&body, &open, &known)) {
            open.retain(|literal| *literal != next);
            let mut literal = body[next].clone();
            if let Literal::Atom(atom) | Literal::Negated(atom) = &mut literal {
                if let Some((magic, adorned)) = self.adorn_atom(atom, &known) {
                    self.add_magic_rule(&rule, &magic, &passed);
                    atom.relation = adorned.rows;
                }
                known.extend(atom.variables());
            }
            body[next] = literal.clone();
            if let Literal::Assign { variable, .. } = &literal {
                known.insert(*variable);
            }
            passed.push(literal);
        }
        // A negated condition that nothing binds as a whole is asked for by what is known of it.
        for place in open {
            if let Literal::Negated(atom) = &mut body[place]
                && let Some((magic, adorned)) = self.adorn_atom(atom, &known)
            {
                self.add_magic_rule(&rule, &magic, &passed);
                atom.relation = adorned.rows;
            }
        }
        self.read_body(&body);
        let body = guard.into_iter().map(Literal::Atom).chain(body).collect();
        Rule { body, ..rule }
    }

    /// The next literal that a binding reaches: filters and computations at once, then what is asked for, then stored relations
    /// before derived ones, the most bound first.
    fn next_bound(&self, body: &[Literal], open: &[usize], known: &HashSet<VariableId>) -> Option<usize> {
        let all_known = |expression: &Expression| {
            let mut all = true;
            expression.for_each_variable(&mut |variable| all &= known.contains(&variable));
            all
        };
        let ready = open.iter().copied().find(|literal| match &body[*literal] {
            Literal::Filter { left, right, .. } => all_known(left) && all_known(right),
            Literal::Assign { expression, .. } => all_known(expression),
            Literal::Negated(atom) => atom.variables().all(|variable| known.contains(&variable)),
            Literal::Atom(_) => false,
        });
        if ready.is_some() {
            return ready;
        }
        open.iter()
            .copied()
            .filter_map(|literal| {
                let atom = body[literal].atom()?;
                let bound = atom.arguments.iter().filter(|argument| is_bound(argument, known)).count();
                let derived = self.rules.contains_key(&atom.relation);
                let is_asked = self.relations[atom.relation.index()].name == ASKED;
                (bound > 0 || is_asked).then_some((literal, (is_asked, !derived, bound)))
            })
            .max_by_key(|(literal, rank)| (*rank, std::cmp::Reverse(*literal)))
            .map(|(literal, _)| literal)
    }

    /// The adornment under which an atom is read, unless it is read whole, and the atom that asks for it.
    fn adorn_atom(&mut self, atom: &Atom, known: &HashSet<VariableId>) -> Option<(Atom, Adorned)> {
        let rules = self.rules.get(&atom.relation)?;
        if self.whole.contains(&atom.relation) {
            return None;
        }
        let adornment: Adornment = atom
            .arguments
            .iter()
            .enumerate()
            .map(|(column, argument)| {
                is_bound(argument, known)
                    && rules.iter().all(|rule| {
                        rule.is_group(column) && head_argument(&rule.head_terms[column]).is_some()
                    })
            })
            .collect();
        if !adornment.contains(&true) {
            return None;
        }
        let adorned = self.adorned(atom.relation, &adornment);
        let arguments = bound(&adornment, &atom.arguments).cloned().collect();
        Some((Atom { relation: adorned.magic, arguments, span: atom.span }, adorned))
    }

    fn adorned(&mut self, relation: RelationId, adornment: &Adornment) -> Adorned {
        if let Some(adorned) = self.adorned.get(&(relation, adornment.clone())) {
            return *adorned;
        }
        let known = &self.program.relations[relation.index()];
        let name = named(known, adornment);
        let types = known.column_types.clone();
        let asked = bound(adornment, &types).copied().collect();
        let rows = self.add(format!("?{name}"), types, false);
        self.relations[rows.index()].best = known.best;
        let magic = self.add_guard(format!("?magic_{name}"), asked);
        let adorned = Adorned { rows, magic };
        self.adorned.insert((relation, adornment.clone()), adorned);
        self.queue.push_back(Task::Adorned(relation, adornment.clone()));
        adorned
    }

    fn add(&mut self, name: String, column_types: Vec<DataType>, stored: bool) -> RelationId {
        self.relations.push(Relation { name, arity: column_types.len(), column_types, stored, best: None });
        RelationId::new(self.relations.len() - 1)
    }

    fn add_guard(&mut self, name: String, column_types: Vec<DataType>) -> RelationId {
        let relation = self.add(name, column_types, false);
        self.guards.insert(relation);
        relation
    }

    /// `magic(bindings) <- passed`, with only those literals that the bindings depend on.
    fn add_magic_rule(&mut self, rule: &Rule, magic: &Atom, passed: &[Literal]) {
        let mut needed: HashSet<VariableId> = magic.variables().collect();
        let mut body: Vec<Literal> = Vec::new();
        for literal in passed.iter().rev() {
            let mine = literal.variables();
            let is_guard = matches!(literal, Literal::Atom(atom) if self.guards.contains(&atom.relation));
            let binds = matches!(literal, Literal::Atom(_) | Literal::Assign { .. });
            if is_guard || (binds && mine.iter().any(|variable| needed.contains(variable))) {
                needed.extend(mine);
                body.push(literal.clone());
            }
        }
        // What filters the bindings does so here as well.
        for literal in
            passed.iter().filter(|literal| matches!(literal, Literal::Filter { .. } | Literal::Negated(_)))
        {
            let mine = literal.variables();
            if !mine.is_empty() && mine.iter().all(|variable| needed.contains(variable)) {
                body.push(literal.clone());
            }
        }
        body.reverse();
        let same = matches!(body.as_slice(), [Literal::Atom(only)] if only.relation == magic.relation && only.arguments == magic.arguments);
        if same {
            return;
        }
        self.read_body(&body);
        self.made.push(Rule {
            head: magic.relation,
            head_terms: magic
                .arguments
                .iter()
                .filter_map(|argument| match argument {
                    Argument::Variable(variable) => {
                        Some(HeadTerm::Expression(Expression::Variable(*variable)))
                    }
                    Argument::Constant(value) => {
                        Some(HeadTerm::Expression(Expression::Constant(value.clone())))
                    }
                    Argument::Any => None,
                })
                .collect(),
            ranking: None,
            body,
            variables: rule.variables.clone(),
            text: format!("{} for {}", self.relations[magic.relation.index()].name, rule.text),
        });
    }
}

/// `path_bf`
fn named(relation: &Relation, adornment: &Adornment) -> String {
    let letters: String = adornment.iter().map(|bound| if *bound { 'b' } else { 'f' }).collect();
    format!("{}_{letters}", relation.name)
}

fn bound<'t, T>(adornment: &'t [bool], columns: &'t [T]) -> impl Iterator<Item = &'t T> {
    adornment.iter().zip(columns).filter(|(bound, _)| **bound).map(|(_, column)| column)
}

fn is_bound(argument: &Argument, known: &HashSet<VariableId>) -> bool {
    match argument {
        Argument::Variable(variable) => known.contains(variable),
        Argument::Constant(_) => true,
        Argument::Any => false,
    }
}
