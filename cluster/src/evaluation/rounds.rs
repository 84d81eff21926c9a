//! A recursion in rounds: each joins what the last one found with all that is known, and keeps what is new in files.

use foldhash::{HashMap, HashMapExt};
use stratalog_engine::analysis::program::{Argument, Literal, Stratum};
use stratalog_engine::data::RelationId;
use stratalog_engine::exec::ExecError;

use super::Evaluation;
use crate::lower::{Plan, Way, without};
use crate::table::{Layer, Table};

/// More layers of a relation are made one.
const MOST_LAYERS: usize = 8;

impl Evaluation<'_> {
    /// Evaluates a stratum semi-naively if it is recursive: each round joins what the last one found with all that is known, and
    /// keeps what is new in files. Answers how many rounds there were, too.
    pub(super) fn in_rounds(
        &self,
        stratum: &Stratum,
        way: Way,
    ) -> Result<(HashMap<RelationId, Table>, usize), ExecError> {
        let mut growing: HashMap<RelationId, Growing> = HashMap::new();
        for relation in &stratum.relations {
            let arity = self.program.relations[relation.index()].arity;
            let key = key_of(*relation, stratum, arity);
            let first = self.exits(*relation, stratum, &key, way)?.map(|plan| self.written(plan, &key));
            let first = first.transpose()?.unwrap_or_default();
            self.computation.budget().note_rows(first.rows());
            growing.insert(*relation, Growing { arity, key, layers: vec![first.clone()], delta: first });
        }
        let mut rounds = 1;
        while stratum.recursive && growing.values().any(|relation| relation.delta.rows() > 0) {
            self.round(stratum, &mut growing, way)?;
            rounds += 1;
        }
        let known = |(relation, growing): (RelationId, Growing)| (relation, growing.known());
        Ok((growing.into_iter().map(known).collect(), rounds))
    }

    /// One round: what follows from the rows that the last one found.
    fn round(
        &self,
        stratum: &Stratum,
        growing: &mut HashMap<RelationId, Growing>,
        way: Way,
    ) -> Result<(), ExecError> {
        let mut found: Vec<(RelationId, Layer)> = Vec::new();
        for relation in &stratum.relations {
            let lowering = self.lowering(way);
            let mut plans = Vec::new();
            for rule in stratum.rules.iter().filter(|rule| rule.head == *relation) {
                for (position, literal) in rule.body.iter().enumerate() {
                    let Literal::Atom(atom) = literal else { continue };
                    let Some(new) = growing.get(&atom.relation).filter(|new| new.delta.rows() > 0) else {
                        continue;
                    };
                    let read = |literal: usize, relation: RelationId| match growing.get(&relation) {
                        None => self.table(relation),
                        Some(_) if literal == position => new.new(),
                        Some(other) => other.known(),
                    };
                    let derived = lowering.derived(rule, self.program, Some(position), &read);
                    plans.push(derived.map_err(|error| self.said(&error))?);
                }
            }
            let known = &growing[relation];
            let layer = match self.distinct(plans, &known.key)? {
                None => Layer::default(),
                Some(candidates) => self.new_of(candidates, &known.known(), way)?,
            };
            found.push((*relation, layer));
        }
        self.computation.budget().note_round(found.iter().map(|(_, layer)| layer.rows()).sum());
        for (relation, layer) in found {
            let Some(known) = growing.get_mut(&relation) else { continue };
            if layer.rows() > 0 {
                known.layers.push(layer.clone());
            }
            known.delta = layer;
            if known.layers.len() > MOST_LAYERS {
                let (arity, key) = (known.arity, known.key.clone());
                known.layers = self.merged(arity, &key, std::mem::take(&mut known.layers))?;
            }
        }
        Ok(())
    }

    /// Those of the candidates that are not known.
    fn new_of(&self, candidates: Plan, known: &Table, way: Way) -> Result<Layer, ExecError> {
        if known.rows() == 0 {
            return self.written(candidates, &known.key);
        }
        // To hold rows takes about three times their bytes, and half of the pool is for the rest of the plan.
        let holds_known = known.bytes().saturating_mul(2 * 3) <= self.settings.pool_bytes;
        let new = without(candidates, self.scan(known)?, holds_known, way.sorts);
        self.written(new.map_err(|error| self.said(&error))?, &known.key)
    }

    /// The youngest layers made one, so many that each of the others has at least as many rows as all younger ones.
    fn merged(&self, arity: usize, key: &[usize], layers: Vec<Layer>) -> Result<Vec<Layer>, ExecError> {
        let (mut kept, mut young) = (layers, Vec::new());
        let mut rows = 0;
        while let Some(layer) = kept.pop_if(|layer| young.len() < MOST_LAYERS / 2 || layer.rows() < rows) {
            rows += layer.rows();
            young.push(layer);
        }
        let all = self.scan(&Table::of_layers(arity, key.to_vec(), young))?;
        kept.push(self.written(all, key)?);
        Ok(kept)
    }
}

/// A relation inside a fixpoint.
struct Growing {
    arity: usize,
    key: Vec<usize>,
    layers: Vec<Layer>,
    /// What the last round found.
    delta: Layer,
}

impl Growing {
    fn known(&self) -> Table {
        Table::of_layers(self.arity, self.key.clone(), self.layers.clone())
    }

    fn new(&self) -> Table {
        Table::of_layers(self.arity, self.key.clone(), vec![self.delta.clone()])
    }
}

/// By which columns the rows of a relation are cut: those by which rules of the stratum join it, if there are any, so that they
/// lie where they are needed next.
fn key_of(relation: RelationId, stratum: &Stratum, arity: usize) -> Vec<usize> {
    let mut joined: Vec<usize> = Vec::new();
    for rule in &stratum.rules {
        for (position, atom) in rule.atoms().enumerate().filter(|(_, atom)| atom.relation == relation) {
            let others = rule.atoms().enumerate().filter(|(other, _)| *other != position);
            let shared: Vec<_> = others.flat_map(|(_, other)| other.variables()).collect();
            let mut variables = atom.arguments.iter().enumerate();
            let column = variables.find_map(|(column, argument)| match argument {
                Argument::Variable(variable) => shared.contains(variable).then_some(column),
                _ => None,
            });
            joined.extend(column);
        }
    }
    match joined.first() {
        Some(column) if joined.iter().all(|other| other == column) => vec![*column],
        _ => (0..arity).collect(),
    }
}
