//! Rows of closures along edges that are at hand: the shortest way between two ends is searched for, and proofs are made along it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::time::Duration;

use super::paths::Closure;
use super::proof::{Cut, Proof, Reason};
use super::prover::{self, Prover, broken, rows_of};
use super::question::Question;
use super::solutions::{Evaluated, Solution};
use super::told::MOST_DEPTH;
use crate::analysis::program::{Argument, Rule};
use crate::budget::Budget;
use crate::data::{Code, RelationId};
use crate::error::Error;
use crate::exec::{EdgeRuns, ShortestWays, Way};
use crate::rewrite::proofs::{Ask, Edge, End, Form, Searched, Step, Whole, searched, steps_below};

/// Steps that are not at hand are derived from so many rows at most,
const FEW_ROWS_BELOW: usize = 1 << 15;
/// in this time, before anything else is tried.
const BRIEF: Duration = Duration::from_millis(2);

impl Question<'_> {
    /// Explains rows that are ends of ways, where their steps are at hand or soon derived; nothing if they are not.
    pub(super) fn search_ways(&self, budget: &Budget) -> Result<Option<Vec<Proof>>, Error> {
        if let Some(found) = self.search_among(budget)? {
            return Ok(Some(found));
        }
        let steps = steps_below(self.program, self.at_hand).filter(|steps| self.rests_on_few(steps));
        let Some(steps) = steps else { return Ok(None) };
        match budget.within(BRIEF, |brief| self.derived(&steps, brief)) {
            Some(Ok(steps)) => self.beside(&steps, |question| question.search_among(budget)),
            Some(Err(_)) | None => Ok(None),
        }
    }

    fn rests_on_few(&self, Whole { program, .. }: &Whole) -> bool {
        let read: BTreeSet<RelationId> =
            program.strata.iter().flat_map(|stratum| &stratum.rules).flat_map(Rule::reads).collect();
        let read = read.into_iter().map(|relation| &program.relations[relation.index()]);
        let runs = read.filter(|read| read.stored).flat_map(|read| self.relations.runs(&read.name));
        runs.map(|run| run.len()).sum::<usize>() <= FEW_ROWS_BELOW
    }

    /// The same along steps that are derived first.
    pub(super) fn search_along(&self, steps: &Whole, budget: &Budget) -> Result<Option<Vec<Proof>>, Error> {
        self.beside(&self.derived(steps, budget)?, |question| question.search_among(budget))
    }

    /// The same among what is at hand.
    fn search_among(&self, budget: &Budget) -> Result<Option<Vec<Proof>>, Error> {
        let Some(searched) = searched(self.program, self.at_hand) else { return Ok(None) };
        let runs_of = |edge: &Edge| {
            let name = &searched.explained.program.relations[edge.relation.index()].name;
            EdgeRuns { runs: self.relations.runs(name), from: edge.from, to: edge.to }
        };
        let kinds: Vec<Vec<EdgeRuns>> =
            searched.kinds.iter().map(|kind| kind.iter().map(runs_of).collect()).collect();
        let graph = ShortestWays::along(&kinds, searched.form == Form::FirstStep, self.codec, budget)?;
        let Some(ways) = self.shortest_ways(&searched, &graph)? else { return Ok(None) };
        let evaluated =
            Evaluated::at_hand(&searched.explained, self.relations, self.codec, budget, self.thresholds);
        let mut prover = Prover::new(&evaluated, self.detail, self.view);
        let roots = match searched.form {
            Form::Halves => prover.in_halves(&searched, &ways)?,
            Form::FirstStep | Form::LastStep => prover.step_by_step(&searched, &graph, &ways)?,
        };
        prover.explain_all()?;
        prover.told_all(&roots).map(Some)
    }

    /// A shortest way for each row, from the end that its rules keep.
    fn shortest_ways(
        &self,
        searched: &Searched,
        graph: &ShortestWays<'_>,
    ) -> Result<Option<Vec<Way>>, Error> {
        let code = |end: &End, row: &[Code]| match end {
            End::Column(column) => Some(row[*column]),
            End::Constant(value) => self.codec.encode(value.as_ref()).ok(),
        };
        let mut found = Vec::with_capacity(self.count);
        for row in rows_of(self.rows).take(self.count) {
            let [first, last] = &searched.ends;
            let Some((first, last)) = code(first, &row).zip(code(last, &row)) else { return Ok(None) };
            let [kept, other] = searched.form.in_order([first, last]);
            let Some(way) = graph.way(kept, other)? else { return Ok(None) };
            found.push(way);
        }
        Ok(Some(found))
    }
}

/// A row, as the last of the edges of a way.
struct LastEdge {
    fact: usize,
    /// The end that all rows of the way have,
    kept: Code,
    /// and the one that only this one has.
    end: Code,
    /// Where the edge begins,
    middle: Code,
    /// and of which kind it is.
    kind: usize,
    /// Whether it is the first edge, with no way before it.
    is_alone: bool,
}

impl LastEdge {
    /// The first rule that takes it.
    fn rule(&self, searched: &Searched, graph: &ShortestWays<'_>) -> Option<usize> {
        let takes = |step: &Step| match (step.is_alone, self.is_alone) {
            (true, true) => graph.has_edge(step.kind, self.kept, self.end),
            (false, false) => step.kind == self.kind,
            _ => false,
        };
        searched.steps.iter().position(takes)
    }
}

impl Prover<'_> {
    /// Puts ways together in halves; answers the facts of whole ones.
    fn in_halves(&mut self, searched: &Searched, ways: &[Way]) -> Result<Vec<usize>, Error> {
        let closure = Closure::of(searched.closure, searched.step_height, self.explained)?;
        Ok(ways.iter().map(|way| self.put_together(&closure, &way.nodes)).collect())
    }

    /// Explains ways by shorter ones, as far as it is told; answers the facts of whole ones.
    fn step_by_step(
        &mut self,
        searched: &Searched,
        graph: &ShortestWays<'_>,
        ways: &[Way],
    ) -> Result<Vec<usize>, Error> {
        let mut edges: BTreeMap<usize, LastEdge> = BTreeMap::new();
        let (mut roots, mut below) = (Vec::with_capacity(ways.len()), Vec::new());
        for way in ways {
            let (kept, steps) = (way.nodes[0], way.kinds.len());
            let first_told = steps.saturating_sub(MOST_DEPTH + 1);
            for place in first_told.saturating_sub(1)..steps {
                let [middle, end] = [way.nodes[place], way.nodes[place + 1]];
                let row = searched.form.in_order([kept, end]).to_vec();
                let fact = self.fact(searched.closure, row, searched.step_height + place as u32);
                let (kind, is_alone) = (way.kinds[place], place == 0);
                if place < first_told {
                    below.push(fact);
                } else {
                    edges.insert(fact, LastEdge { fact, kept, end, middle, kind, is_alone });
                }
                if place + 1 == steps {
                    roots.push(fact);
                }
            }
        }
        let edges: Vec<LastEdge> = edges.into_values().collect();
        let rules = edges.iter().map(|edge| edge.rule(searched, graph));
        let rules: Vec<usize> = rules.collect::<Option<_>>().ok_or_else(|| broken("a way has no rule"))?;
        let rows = self.rows_of_edges(searched, &edges, &rules)?;
        let alternatives = alternatives(searched, graph, &edges)?;
        for (((edge, rule), row), alternatives) in edges.iter().zip(rules).zip(rows).zip(alternatives) {
            self.take_edge(searched, edge, rule, &row)?;
            self.facts[edge.fact].alternatives = alternatives;
        }
        for fact in below {
            let known = &mut self.facts[fact];
            if known.ways.is_empty() {
                let reason = Reason::Truncated { limit: Cut::Depth, value: MOST_DEPTH as u64 };
                let (children, height) = (Vec::new(), known.height);
                known.ways = vec![prover::Way { reason, children, is_same: false, height }];
            }
        }
        Ok(roots)
    }

    /// Explains a row by a rule, the row that is its last edge, and the way before it.
    fn take_edge(
        &mut self,
        searched: &Searched,
        edge: &LastEdge,
        rule: usize,
        row: &[Code],
    ) -> Result<(), Error> {
        let step = searched.steps[rule].edge;
        let shorter = searched.form.in_order([edge.kept, edge.middle]);
        let ask = self.evaluated.ask(searched.closure, rule);
        let solution = solution(&ask, &[(searched.closure, &shorter), (step.relation, row)])
            .ok_or_else(|| broken("a rule of a way has other variables"))?;
        let rule = &self.explained.derived[&searched.closure].ways[rule].rule;
        let height = self.facts[edge.fact].height;
        let made = self.by_solution(rule, &ask, &solution);
        self.facts[edge.fact].ways = vec![prover::Way { height, ..made }];
        Ok(())
    }

    /// The rows that are the edges which rules take: of several, which differ in what nobody asks for, the one with the smallest values.
    fn rows_of_edges(
        &self,
        searched: &Searched,
        edges: &[LastEdge],
        rules: &[usize],
    ) -> Result<Vec<Vec<Code>>, Error> {
        let mut rows: Vec<Vec<Code>> = vec![Vec::new(); edges.len()];
        let ends: Vec<[Code; 2]> =
            edges.iter().map(|edge| searched.form.in_order([edge.middle, edge.end])).collect();
        for (alone, Step { edge, .. }) in searched.steps.iter().enumerate().filter(|(_, step)| step.is_alone)
        {
            let is_open =
                |place: &usize| searched.steps[rules[*place]].edge == *edge && rows[*place].is_empty();
            let open: Vec<usize> = (0..edges.len()).filter(is_open).collect();
            if self.explained.program.relations[edge.relation.index()].arity == 2 {
                for place in open {
                    let [from, to] = ends[place];
                    rows[place] = if edge.from == 0 { vec![from, to] } else { vec![to, from] };
                }
                continue;
            }
            if open.is_empty() {
                continue;
            }
            // What is one step stands by the rows that are this edge.
            let ask = self.evaluated.ask(searched.closure, alone);
            let asked: Vec<&[Code]> = open.iter().map(|place| ends[*place].as_slice()).collect();
            let found = self.evaluated.solutions(&ask, 0, &asked)?;
            for (place, solutions) in open.into_iter().zip(found) {
                let first = solutions.iter().min_by(|a, b| self.by_values(&a.codes, &b.codes));
                let row = first.zip(ask.rule.atoms().next());
                let row = row.and_then(|(first, atom)| self.row_of(atom, &ask, first));
                rows[place] = row.ok_or_else(|| broken("an edge has no row"))?;
            }
        }
        Ok(rows)
    }
}

/// In how many other ways each row follows from rows that hold.
fn alternatives(
    searched: &Searched,
    graph: &ShortestWays<'_>,
    edges: &[LastEdge],
) -> Result<Vec<u64>, Error> {
    let mut found = vec![0; edges.len()];
    let mut kept: Vec<Code> = edges.iter().map(|edge| edge.kept).collect();
    kept.sort_unstable();
    kept.dedup();
    for kept in kept {
        let own: Vec<usize> = (0..edges.len()).filter(|edge| edges[*edge].kept == kept).collect();
        let steps = own.iter().map(|edge| graph.last_steps(edges[*edge].end));
        let steps: Vec<Vec<(usize, Code)>> = steps.collect::<Result<_, _>>()?;
        let ends: HashSet<Code> = own.iter().map(|edge| edges[*edge].end).collect();
        let middles = steps.iter().flatten().map(|(_, middle)| *middle);
        let reached = graph.reached(kept, middles.filter(|middle| !ends.contains(middle)).collect())?;
        let leads_to = |middle: &Code| ends.contains(middle) || reached.has(*middle);
        for (edge, mut steps) in own.into_iter().zip(steps) {
            steps.retain(|(_, middle)| *middle == kept || leads_to(middle));
            steps.sort_unstable();
            steps.dedup();
            let rules = steps.iter().map(|(kind, middle)| {
                let is_way = |step: &&Step| if step.is_alone { *middle == kept } else { leads_to(middle) };
                searched.steps.iter().filter(|step| step.kind == *kind).filter(is_way).count()
            });
            found[edge] = rules.sum::<usize>().saturating_sub(1) as u64;
        }
    }
    Ok(found)
}

/// The solution of a rule by which these rows are read.
fn solution(ask: &Ask, rows: &[(RelationId, &[Code])]) -> Option<Solution> {
    let value = |variable| {
        ask.rule.atoms().find_map(|atom| {
            let column =
                atom.arguments.iter().position(|argument| *argument == Argument::Variable(variable))?;
            rows.iter().find(|(relation, _)| *relation == atom.relation).map(|(_, row)| row[column])
        })
    };
    let codes = ask.variables.iter().map(|variable| value(*variable)).collect::<Option<_>>()?;
    Some(Solution { codes, heights: Vec::new(), height: 0 })
}
