//! Recursions that fall apart: each part of the rows that they begin with is worked on to its end, by the engine, without
//! another one.
//!
//! After BigDatalog's decomposable plans (Shkapsky et al., Big Data Analytics with Datalog Queries on Spark, 2016) and the local
//! loops of Dist-μ-RA (Chlyah, Genevès and Layaïda, Distributed Evaluation of Graph Queries using Recursive Relational Algebra,
//! 2021).

use stratalog_engine::analysis::program::{
    Argument, Atom, Expression, HeadTerm, Literal, Program, Relation, Rule, Stratum, Variable,
};
use stratalog_engine::data::{RelationId, VariableId};
use stratalog_engine::diagnostic::Span;
use stratalog_engine::plan::Partitions;

use super::Lowering;
use super::flow::{Plan, columns, sorted};
use crate::inputs::Inputs;
use crate::nodes::GROUPS;

impl Lowering<'_> {
    /// The rows of a recursion, of those that it begins with: each once, and cut into parts by the column along which it falls
    /// apart. `others` are the rows of all else that it reads.
    pub(crate) fn in_parts(
        &self,
        seeds: Plan,
        stratum: &Stratum,
        program: &Program,
        partitions: Partitions,
        others: Inputs,
    ) -> Plan {
        let by = vec![partitions.column];
        let key = columns(&seeds, &by);
        let seeds = sorted(seeds, &key);
        self.of_groups(seeds, by, of_seeds(stratum, program, partitions.relation), others, None)
    }
}

/// The recursive rules, and one that begins with what groups there are.
fn of_seeds(stratum: &Stratum, program: &Program, recursive: RelationId) -> Program {
    let mut relations: Vec<Relation> = program.relations.clone();
    for (id, relation) in relations.iter_mut().enumerate() {
        relation.stored = RelationId::new(id) != recursive;
    }
    let known = &program.relations[recursive.index()];
    let groups = RelationId::new(relations.len());
    relations.push(Relation { name: GROUPS.to_owned(), stored: true, best: None, ..known.clone() });
    let variables = (0..known.arity)
        .map(|column| Variable { name: format!("?{column}"), data_type: known.column_types[column] });
    let columns = || (0..known.arity).map(VariableId::new);
    let begin = Rule {
        head: recursive,
        head_terms: columns().map(|column| HeadTerm::Expression(Expression::Variable(column))).collect(),
        ranking: None,
        body: vec![Literal::Atom(Atom {
            relation: groups,
            arguments: columns().map(Argument::Variable).collect(),
            span: Span::default(),
        })],
        variables: variables.collect(),
        text: String::new(),
    };
    let goes_on = |rule: &&Rule| rule.reads().any(|read| read == recursive);
    let rules = [begin].into_iter().chain(stratum.rules.iter().filter(goes_on).cloned()).collect();
    Program {
        relations,
        strata: vec![Stratum::of(vec![recursive], rules, true)],
        goal: recursive,
        warnings: Vec::new(),
    }
}
