//! Which recursions are products of matrices, or have some.
//!
//! A binary relation is a matrix of bits, and a rule whose body is a *chain* of binary atoms, from one variable of the
//! head to the other, is a product of theirs: `h(X, Z) <- a(X, Y), b(Y, Z)` (Yannakakis, Graph-Theoretic Methods in
//! Database Theory, PODS 1990). Longer chains are cut into products of two, whose results are kept once each and
//! shared by all rules that have the same part.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use crate::analysis::program::{Argument, Atom, Expression, HeadTerm, Literal, Program, Rule, Stratum, Test};
use crate::data::{RelationId, VariableId};
use crate::plan::strategy::edges::{Columns, EdgeSource, derive, variable, variables_of};

/// A recursion of which every step is a product of two matrices.
#[derive(Debug, Clone)]
pub struct Matrices {
    /// The matrices; those of the stratum's relations come first, in its order.
    pub matrices: Vec<Matrix>,
    /// What is added to what, until nothing changes.
    pub products: Vec<Product>,
}

/// What a matrix holds. Rows are values of the first column, columns values of the second one.
#[derive(Debug, Clone)]
pub enum Matrix {
    /// A relation of the stratum.
    Own(RelationId),
    /// Those of its rows that are not composed of others.
    Generators(RelationId),
    /// A part of chains.
    Part,
    /// What is complete before the stratum begins.
    Complete(EdgeSource),
}

/// `head += left * right`, or `head += left`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    /// The position of a matrix.
    pub head: usize,
    /// What its rows have in common with it.
    pub left: Factor,
    /// What its columns have in common with it.
    pub right: Option<Factor>,
    /// Whether the diagonal is left out: `X != Y`.
    pub off_diagonal: bool,
}

impl Product {
    /// The positions of its matrices.
    fn matrices(&self) -> impl Iterator<Item = usize> {
        [self.head, self.left.matrix].into_iter().chain(self.right.map(|right| right.matrix))
    }
}

/// A matrix in a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Factor {
    /// The position of the matrix.
    pub matrix: usize,
    /// Whether rows and columns change places.
    pub transposed: bool,
}

impl Factor {
    /// Rows for columns.
    pub fn transpose(self) -> Factor {
        Factor { transposed: !self.transposed, ..self }
    }
}

/// A recursion of which some rules are products of matrices; the others go on as tuples.
#[derive(Debug, Clone)]
pub struct Mixed {
    /// The products.
    pub matrices: Matrices,
    /// The rules whose work they do.
    pub rules: Vec<Rule>,
}

/// The products that a stratum consists of, if it does.
pub(super) fn matrices(stratum: &Stratum, program: &Program) -> Option<Matrices> {
    if !stratum.recursive || !stratum.relations.iter().all(|relation| is_matrix(*relation, program)) {
        return None;
    }
    let mut found = Builder::new(stratum.relations.clone());
    for rule in &stratum.rules {
        if reads_any(rule, &stratum.relations) {
            let chain = found.chain(rule)?;
            found.add(rule.head, chain);
        }
    }
    Some(found.finish())
}

/// The products that some rules of a stratum are, if one of them multiplies.
pub(super) fn mixed(stratum: &Stratum, program: &Program) -> Option<Mixed> {
    let own: Vec<RelationId> =
        stratum.relations.iter().copied().filter(|relation| is_matrix(*relation, program)).collect();
    let others: Vec<RelationId> =
        stratum.relations.iter().copied().filter(|relation| !own.contains(relation)).collect();
    let mut found = Builder::new(own.clone());
    let mut rules = Vec::new();
    let of_pairs = stratum.rules.iter().filter(|rule| own.contains(&rule.head) && !reads_any(rule, &others));
    for rule in of_pairs.filter(|rule| reads_any(rule, &own)) {
        if let Some(chain) = found.chain(rule) {
            found.add(rule.head, chain);
            rules.push(rule.clone());
        }
    }
    let multiplies = found.products.iter().any(|product| product.right.is_some());
    if !stratum.recursive || !multiplies {
        return None;
    }
    let used: HashSet<usize> = found.products.iter().flat_map(Product::matrices).collect();
    found.own.retain(|_, matrix| used.contains(matrix));
    Some(Mixed { matrices: found.finish_beside_tuples(), rules })
}

/// Whether a rule reads one of these relations.
fn reads_any(rule: &Rule, relations: &[RelationId]) -> bool {
    rule.reads().any(|relation| relations.contains(&relation))
}

/// Whether the rows of a relation are pairs, each of which counts.
fn is_matrix(relation: RelationId, program: &Program) -> bool {
    let relation = &program.relations[relation.index()];
    relation.arity == 2 && relation.best.is_none()
}

/// A rule's body from one end to the other.
struct Chain {
    factors: Vec<Factor>,
    off_diagonal: bool,
}

/// An atom between two variables.
struct Link {
    factor: Factor,
    ends: [VariableId; 2],
}

struct Builder {
    own: HashMap<RelationId, usize>,
    matrices: Vec<Matrix>,
    products: Vec<Product>,
    /// The matrix of each part.
    parts: HashMap<[Factor; 2], usize>,
}

impl Builder {
    /// No products of these relations yet.
    fn new(own: Vec<RelationId>) -> Builder {
        Builder {
            own: own.iter().enumerate().map(|(i, relation)| (*relation, i)).collect(),
            matrices: own.into_iter().map(Matrix::Own).collect(),
            products: Vec::new(),
            parts: HashMap::new(),
        }
    }

    fn finish(mut self) -> Matrices {
        self.unite_parts();
        Matrices { matrices: self.matrices, products: self.products }
    }

    /// The same where rows come from elsewhere, too, and so the generators of a relation that is composed with itself are few
    /// beside its rows. (Where all of them come from products, that is one round more for each, and takes a twentieth longer.)
    fn finish_beside_tuples(mut self) -> Matrices {
        self.unite_parts();
        let mut relations: Vec<(RelationId, usize)> = self.own.iter().map(|own| (*own.0, *own.1)).collect();
        relations.sort_unstable();
        relations.into_iter().for_each(|(relation, matrix)| self.compose_generators(relation, matrix));
        Matrices { matrices: self.matrices, products: self.products }
    }

    /// `t += t * t` becomes `t += g * t`, where `g` has what else is added to `t`: rows are composed of a generator and any other
    /// row, as in [`composition`](crate::plan::rule::composition).
    fn compose_generators(&mut self, relation: RelationId, matrix: usize) {
        let itself = Factor { matrix, transposed: false };
        let composes = |product: &Product| {
            product.head == matrix && product.left == itself && product.right == Some(itself)
        };
        if !self.products.iter().any(composes) {
            return;
        }
        let generators = self.matrices.len();
        self.matrices.push(Matrix::Generators(relation));
        let left = Factor { matrix: generators, transposed: false };
        for product in &mut self.products {
            if composes(product) {
                product.left = left;
            } else if product.head == matrix {
                product.head = generators;
            }
        }
        self.products.push(Product { head: matrix, left, right: None, off_diagonal: false });
    }

    fn chain(&mut self, rule: &Rule) -> Option<Chain> {
        if rule.ranking.is_some() {
            return None;
        }
        let ends: [VariableId; 2] = match rule.head_terms.as_slice() {
            [HeadTerm::Expression(first), HeadTerm::Expression(second)] => {
                [variable(first)?, variable(second)?]
            }
            _ => return None,
        };
        if ends[0] == ends[1] {
            return None;
        }
        // Which variables atoms meet in. What only one atom has, and conditions on it, stays with that atom.
        let mut uses: HashMap<VariableId, usize> = ends.iter().map(|end| (*end, 1)).collect();
        for atom in rule.atoms() {
            for variable in atom.variables().collect::<HashSet<_>>() {
                *uses.entry(variable).or_default() += 1;
            }
        }
        let meets = |variable: &VariableId| uses[variable] > 1;

        let mut links = Vec::new();
        let mut complete = Vec::new();
        let mut conditions: Vec<&Literal> =
            rule.body.iter().filter(|literal| literal.atom().is_none()).collect();
        for atom in rule.atoms() {
            if let Some(matrix) = self.own.get(&atom.relation) {
                let [Argument::Variable(first), Argument::Variable(second)] = atom.arguments.as_slice()
                else {
                    return None;
                };
                if first == second || !meets(first) || !meets(second) {
                    return None;
                }
                links.push(Link {
                    factor: Factor { matrix: *matrix, transposed: false },
                    ends: [*first, *second],
                });
            } else {
                complete.push(atom);
            }
        }
        let mut off_diagonal = false;
        conditions.retain(|condition| match condition {
            Literal::Filter { operator: Test::Different, left, right } => {
                let compared = [variable(left), variable(right)];
                let is_of_ends = compared == ends.map(Some) || compared == [Some(ends[1]), Some(ends[0])];
                off_diagonal |= is_of_ends;
                !is_of_ends
            }
            Literal::Atom(_) | Literal::Negated(_) | Literal::Filter { .. } | Literal::Assign { .. } => true,
        });
        links.extend(self.complete_links(rule, &complete, &conditions, meets)?);
        Some(Chain { factors: in_line(links, ends)?, off_diagonal })
    }

    /// A link for each complete atom between two variables; atoms with one of them and conditions go with the first
    /// that has what they read.
    fn complete_links(
        &mut self,
        rule: &Rule,
        atoms: &[&Atom],
        conditions: &[&Literal],
        meets: impl Fn(&VariableId) -> bool,
    ) -> Option<Vec<Link>> {
        let ends = |atom: &Atom| {
            let mut ends: Vec<VariableId> = atom.variables().filter(&meets).collect();
            ends.sort_unstable();
            ends.dedup();
            ends
        };
        let mut bodies: Vec<(Vec<VariableId>, HashSet<VariableId>, Vec<Literal>)> = Vec::new();
        let (pairs, others): (Vec<&Atom>, Vec<&Atom>) = atoms.iter().partition(|atom| ends(atom).len() == 2);
        for atom in pairs {
            bodies.push((ends(atom), atom.variables().collect(), vec![Literal::Atom(atom.clone())]));
        }
        for atom in others {
            let [end] = ends(atom).try_into().ok()?;
            let literal = Literal::Atom(atom.clone());
            match bodies.iter_mut().find(|(_, bound, _)| bound.contains(&end)) {
                Some((_, bound, body)) => {
                    bound.extend(atom.variables());
                    body.push(literal);
                }
                // A condition on a value that other links meet in: a link from it to itself.
                None => bodies.push((vec![end, end], atom.variables().collect(), vec![literal])),
            }
        }
        for condition in conditions {
            let read = variables_of(condition)?;
            let (_, _, body) = bodies.iter_mut().find(|(_, bound, _)| read.is_subset(bound))?;
            body.push((*condition).clone());
        }
        let links = bodies.into_iter().map(|(ends, _, body)| {
            let ends: [VariableId; 2] = ends.try_into().ok()?;
            let [from, to] = ends.map(Expression::Variable);
            let source = EdgeSource::between(&body, &from, &to)
                .unwrap_or_else(|| EdgeSource::Rule(derive(rule, vec![from, to], body)));
            Some(Link { factor: self.complete(source), ends })
        });
        links.collect()
    }

    /// The matrix of what is complete.
    fn complete(&mut self, mut source: EdgeSource) -> Factor {
        let mut transposed = false;
        if let EdgeSource::Relation(Columns { from, to, .. }) = &mut source
            && from > to
        {
            std::mem::swap(from, to);
            transposed = true;
        }
        let same = |matrix: &Matrix| matches!(matrix, Matrix::Complete(other) if *other == source);
        let matrix = self.matrices.iter().position(same).unwrap_or_else(|| {
            self.matrices.push(Matrix::Complete(source.clone()));
            self.matrices.len() - 1
        });
        Factor { matrix, transposed }
    }

    /// Cuts a chain into products.
    fn add(&mut self, head: RelationId, Chain { mut factors, off_diagonal }: Chain) {
        while factors.len() > 2 {
            let pair = |position: usize| [factors[position], factors[position + 1]];
            let is_complete = |factor: Factor| matches!(self.matrices[factor.matrix], Matrix::Complete(_));
            // What there is already; else what grows with one of its factors only, so that it stays small.
            let cost = |position: &usize| {
                let [left, right] = pair(*position);
                (self.part_of([left, right]).is_none(), !is_complete(left) && !is_complete(right))
            };
            let Some(cut) = (0..factors.len() - 1).min_by_key(cost) else { return };
            let part = self.part(pair(cut));
            factors.splice(cut..cut + 2, [part]);
        }
        let (left, right) = (factors[0], factors.get(1).copied());
        let product = Product { head: self.own[&head], left, right, off_diagonal };
        if !self.products.contains(&product) {
            self.products.push(product);
        }
    }

    fn part_of(&self, [left, right]: [Factor; 2]) -> Option<Factor> {
        let plain = self.parts.get(&[left, right]).map(|matrix| (*matrix, false));
        let turned = || self.parts.get(&[right.transpose(), left.transpose()]).map(|matrix| (*matrix, true));
        let (matrix, transposed) = plain.or_else(turned)?;
        Some(Factor { matrix, transposed })
    }

    fn part(&mut self, pair: [Factor; 2]) -> Factor {
        self.part_of(pair).unwrap_or_else(|| {
            let matrix = self.matrices.len();
            self.matrices.push(Matrix::Part);
            self.parts.insert(pair, matrix);
            let [left, right] = pair;
            self.products.push(Product { head: matrix, left, right: Some(right), off_diagonal: false });
            Factor { matrix, transposed: false }
        })
    }

    /// Parts that do the same work become one: `h += p * r` and `h += q * r` are `h += (p + q) * r`.
    fn unite_parts(&mut self) {
        let reads = |product: &Product, matrix: usize| {
            product.left.matrix == matrix || product.right.is_some_and(|right| right.matrix == matrix)
        };
        let mut position = 0;
        while position < self.products.len() {
            let product = self.products[position].clone();
            let twin = self.products[..position].iter().find_map(|other| {
                let (mine, its) = different_factor(&product, other)?;
                let is_free = |matrix: usize| {
                    matches!(self.matrices[matrix], Matrix::Part)
                        && self.products.iter().filter(|product| reads(product, matrix)).count() == 1
                };
                (mine.transposed == its.transposed && is_free(mine.matrix) && is_free(its.matrix))
                    .then_some((mine.matrix, its.matrix))
            });
            let Some((mine, its)) = twin else {
                position += 1;
                continue;
            };
            self.products.remove(position);
            for product in self.products.iter_mut().filter(|product| product.head == mine) {
                product.head = its;
            }
        }
        self.drop_unused();
    }

    /// Takes out the matrices that no product has any more.
    fn drop_unused(&mut self) {
        let mut used: HashSet<usize> = self.own.values().copied().collect();
        used.extend(self.products.iter().flat_map(Product::matrices));
        let mut places = vec![0; self.matrices.len()];
        let mut kept = Vec::new();
        for (old, matrix) in std::mem::take(&mut self.matrices).into_iter().enumerate() {
            places[old] = kept.len();
            if used.contains(&old) {
                kept.push(matrix);
            }
        }
        self.matrices = kept;
        self.own.values_mut().for_each(|matrix| *matrix = places[*matrix]);
        for product in &mut self.products {
            product.head = places[product.head];
            product.left.matrix = places[product.left.matrix];
            if let Some(right) = &mut product.right {
                right.matrix = places[right.matrix];
            }
        }
    }
}

/// The factors in which two products differ, if it is one and all else is the same.
fn different_factor(a: &Product, b: &Product) -> Option<(Factor, Factor)> {
    if a.head != b.head || a.off_diagonal != b.off_diagonal {
        return None;
    }
    match (a.right?, b.right?) {
        (mine, its) if mine == its && a.left != b.left => Some((a.left, b.left)),
        (mine, its) if a.left == b.left && mine != its => Some((mine, its)),
        _ => None,
    }
}

/// The links in the order in which they lead from one end to the other, if each is passed exactly once.
fn in_line(mut links: Vec<Link>, ends: [VariableId; 2]) -> Option<Vec<Factor>> {
    let mut factors = Vec::with_capacity(links.len());
    let mut at = ends[0];
    let mut passed = HashSet::new();
    while !links.is_empty() {
        // Conditions on a value come before the way goes on.
        let next = links
            .iter()
            .position(|link| link.ends == [at, at])
            .or_else(|| links.iter().position(|link| link.ends.contains(&at)))?;
        let Link { factor, ends: [from, to] } = links.swap_remove(next);
        if from != to && !passed.insert(at) {
            return None;
        }
        let forward = from == at;
        factors.push(if forward { factor } else { factor.transpose() });
        at = if forward { to } else { from };
    }
    (at == ends[1] && !passed.contains(&at)).then_some(factors)
}
