//! A rule that ranks rows by a distance or a score, taken apart so that an index may be asked: what each search starts
//! from, the rows that it looks at, and what these have to fulfil.

use std::sync::Arc;

use foldhash::HashSet;

use crate::analysis::Measured;
use crate::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Search, Variable,
};
use crate::data::{Code, DataType, RelationId, Sample, Value, VariableId};
use crate::diagnostic::Span;
use crate::index::Measure;
use crate::plan::rule::estimate::expected_rows;
use crate::plan::rule::rule_plan::plan_rule;
use crate::plan::statistics::{Layout, Statistics};

/// A search.
#[derive(Debug, Clone)]
pub struct SearchPlan {
    /// The index, and how it is asked.
    pub search: Search,
    /// How many rows are wanted.
    pub count: usize,
    /// What makes a row better than another.
    pub by: Measure,
    /// The relation whose rows are searched.
    pub relation: RelationId,
    /// The column of its vectors or texts.
    pub column: usize,
    /// What that column is declared to hold.
    pub data_type: DataType,
    /// What a search starts from; each of their combinations is one search.
    pub inputs: Vec<VariableId>,
    /// Finds them, if there are any.
    pub from: Option<Rule>,
    /// The vector near which rows are wanted, or what is asked of texts, by the inputs.
    pub query: Expression,
    /// The first column of the relation, which the head takes.
    pub id: Argument,
    /// The distance or the score.
    pub measure: VariableId,
    /// The whole search; its inputs are the row of [`SearchPlan::given`]. Without an index it is evaluated as it stands,
    /// but for one of texts, whose scores no expression can give.
    pub exact: Rule,
    /// Finds those of the [`SearchPlan::candidates`], by their numbers, that fulfil the conditions, if there are any.
    pub conditions: Option<Rule>,
    /// A relation that holds one combination of inputs.
    pub given: RelationId,
    /// A relation of numbers and ids.
    pub candidates: RelationId,
}

/// How a search is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By the words of texts, always.
    Words,
    /// By the index, with so many candidates.
    Index(usize),
    /// Row by row, as there are few.
    Few,
    /// Row by row, as the conditions leave few.
    Selective,
    /// Row by row, as the index is not built yet.
    NotBuilt,
    /// Row by row, as the index would take longer with so many candidates.
    Hard(usize),
}

/// Candidates of an index whose vectors are not hard to find.
const USUAL_EF: usize = 50;
/// Of so many rows it was measured how many candidates a search needs.
const MEASURED_FOR: usize = 10;

impl SearchPlan {
    /// Takes a rule apart, if it is a search of rows as they are stored.
    pub fn of(rule: &Rule, program: &Program) -> Option<SearchPlan> {
        let found = Measured::of(rule, &program.relations)?;
        let Measured { ranking, rows, measure, .. } = found;
        let by = found.search.index.definition.kind.measure()?;
        let column = found.search.index.definition.column;
        let id = rows.arguments.first()?.clone();
        let own: HashSet<VariableId> = rows.variables().collect();
        // Anything but a plain scan is for the executor of rules, which knows distances.
        let is_plain = matches!(id, Argument::Variable(_))
            && rows.variables().count() == rows.arguments.len()
            && own.len() == rows.arguments.len();
        let is_by_distance = matches!(by, Measure::Distance(_));
        if is_by_distance && !is_plain {
            return None;
        }
        let ranked = &ranking.columns;
        let groups = rule.head_terms.iter().enumerate().filter(|(column, _)| !ranked.contains(column));
        let groups: HashSet<VariableId> = groups.flat_map(|(_, term)| variables(term)).collect();
        let is_found = |variable| variable == measure || own.contains(&variable);
        let known = known_before(rule, groups, is_found);
        let (mut from, mut rest, mut conditions) = (Vec::new(), Vec::new(), Vec::new());
        for literal in &rule.body {
            let named = literal.variables();
            if named.iter().all(|variable| known.contains(variable)) {
                from.push(literal.clone());
                continue;
            }
            rest.push(literal.clone());
            let is_of_rows = literal.atom().is_some_and(|atom| std::ptr::eq(atom, rows));
            // What is said of the vector itself is true of every one that has a distance.
            let is_id = |variable: &VariableId| id == Argument::Variable(*variable);
            let of_others = named.iter().any(|variable| !is_id(variable) && own.contains(variable));
            if !is_of_rows && !std::ptr::eq(literal, found.literal) && !of_others {
                conditions.push(literal.clone());
            }
        }
        let count = usize::try_from(ranking.count?).ok()?;
        let inputs = inputs(rule, &from, &rest);
        if is_by_distance && inputs.is_empty() && !from.is_empty() {
            return None;
        }
        let relations = program.relations.len();
        let (given, candidates) = (RelationId::new(relations), RelationId::new(relations + 1));
        let plain = |head: &[VariableId], body: Vec<Literal>| Rule {
            head: rule.head,
            head_terms: head.iter().map(|v| HeadTerm::Expression(Expression::Variable(*v))).collect(),
            ranking: None,
            body,
            variables: rule.variables.clone(),
            text: rule.text.clone(),
        };
        let atom = |relation, arguments| Literal::Atom(Atom { relation, arguments, span: Span::default() });
        let is_given = (!inputs.is_empty())
            .then(|| atom(given, inputs.iter().map(|variable| Argument::Variable(*variable)).collect()));
        let is_given: Vec<Literal> = is_given.into_iter().collect();
        let number = VariableId::new(rule.variables.len());
        let is_conditional = !conditions.is_empty() || !matches!(id, Argument::Variable(_));
        let conditions = is_conditional.then(|| {
            let candidate = atom(candidates, vec![Argument::Variable(number), id.clone()]);
            let asked = [vec![candidate], is_given.clone(), conditions].concat();
            let mut rule = plain(&[number], asked);
            rule.variables.push(Variable { name: "?number".to_owned(), data_type: DataType::Int });
            rule
        });
        Some(SearchPlan {
            count,
            by,
            relation: rows.relation,
            column,
            data_type: program.relations[rows.relation.index()].column_types[column],
            from: (!from.is_empty()).then(|| plain(&inputs, from)),
            query: found.query.clone(),
            id,
            measure,
            exact: Rule { body: [is_given, rest].concat(), ..rule.clone() },
            conditions,
            given,
            candidates,
            inputs,
            search: found.search.clone(),
        })
    }

    /// How the search is to be done, where an index takes as long for a candidate as it takes to look at so many rows.
    pub fn way(&self, statistics: &dyn Statistics, candidate_rows: usize) -> Way {
        if matches!(self.by, Measure::Score(_)) {
            return Way::Words;
        }
        let few = USUAL_EF * candidate_rows;
        if statistics.rows(self.relation) < few {
            return Way::Few;
        }
        let statistics = &self.beside(statistics);
        let rows = expected_rows(&plan_rule(&self.exact, statistics), statistics);
        if rows < few {
            return Way::Selective;
        }
        let built = self.search.index.hnsw().map(|hnsw| hnsw.state()).filter(|state| state.vectors > 0);
        let Some(usual) = built.and_then(|state| state.ef_search) else { return Way::NotBuilt };
        let ef = self.search.ef.unwrap_or(usual);
        let by_index = self.candidates(ef).saturating_mul(candidate_rows);
        if rows < by_index { Way::Hard(ef) } else { Way::Index(ef) }
    }

    /// So many candidates an index has to look at for each row that is wanted, where it measured `ef` of them.
    pub fn margin(&self, ef: usize) -> usize {
        (ef / MEASURED_FOR).max(1)
    }

    /// So many candidates it is asked for first.
    pub fn candidates(&self, ef: usize) -> usize {
        ef.max(self.margin(ef).saturating_mul(self.count))
    }

    pub(super) fn beside<'s>(&'s self, known: &'s dyn Statistics) -> Beside<'s> {
        Beside { search: self, known }
    }
}

/// What is known of relations, and of those that only a search knows.
pub(super) struct Beside<'s> {
    search: &'s SearchPlan,
    known: &'s dyn Statistics,
}

impl Statistics for Beside<'_> {
    fn rows(&self, relation: RelationId) -> usize {
        match relation {
            relation if relation == self.search.given => 1,
            relation if relation == self.search.candidates => self.search.count,
            relation => self.known.rows(relation),
        }
    }

    fn distinct(&self, relation: RelationId, column: usize) -> usize {
        match relation {
            relation if relation == self.search.given => 1,
            relation if relation == self.search.candidates => self.search.count,
            relation => self.known.distinct(relation, column),
        }
    }

    fn layout(&self, relation: RelationId) -> Option<Layout<'_>> {
        self.known.layout(relation)
    }

    fn sample(&self, relation: RelationId, columns: &[usize]) -> Option<Arc<Sample>> {
        self.known.sample(relation, columns)
    }

    fn code(&self, value: &Value) -> Option<Code> {
        self.known.code(value)
    }
}

/// The variables that a search is for, and what follows from them; others are those of conditions.
fn known_before(
    rule: &Rule,
    mut known: HashSet<VariableId>,
    is_found: impl Fn(VariableId) -> bool,
) -> HashSet<VariableId> {
    loop {
        let more = rule.body.iter().find_map(|literal| match literal {
            Literal::Assign { variable, expression } if !known.contains(variable) => {
                let mut is_known = !is_found(*variable);
                expression.for_each_variable(&mut |variable| is_known &= known.contains(&variable));
                is_known.then_some(*variable)
            }
            Literal::Assign { .. } | Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } => None,
        });
        match more {
            Some(variable) => known.insert(variable),
            None => return known,
        };
    }
}

fn variables(term: &HeadTerm) -> Vec<VariableId> {
    let mut variables = Vec::new();
    if let HeadTerm::Expression(expression) = term {
        expression.for_each_variable(&mut |variable| variables.push(variable));
    }
    variables
}

/// The variables that a search starts from: those of the literals before it that the rest reads.
fn inputs(rule: &Rule, from: &[Literal], rest: &[Literal]) -> Vec<VariableId> {
    let mut needed: HashSet<VariableId> = rest.iter().flat_map(Literal::variables).collect();
    for term in &rule.head_terms {
        if let HeadTerm::Expression(expression) = term {
            expression.for_each_variable(&mut |variable| _ = needed.insert(variable));
        }
    }
    let known: HashSet<VariableId> = from.iter().flat_map(Literal::variables).collect();
    let mut inputs: Vec<VariableId> = known.intersection(&needed).copied().collect();
    inputs.sort_unstable();
    inputs
}
