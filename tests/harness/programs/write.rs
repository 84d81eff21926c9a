//! Random conditional deletes and updates.

use std::collections::BTreeSet;

use super::body::{Names, Readable, atom_of, build_body};
use super::draft::{AtomDraft, BodyDraft, Draft, WriteDraft};
use super::expression::Choices;
use super::values::constant;
use super::{BASES, DERIVED, base, derived};
use crate::functions::Kind;
use crate::model::{Expression, Target, Write};

/// A conditional delete, or an update.
pub(super) fn build(write: &WriteDraft, draft: &Draft, used: &BTreeSet<usize>) -> Write {
    let readable = Readable::new(draft, used, DERIVED, DERIVED);
    if write.updates {
        return update(write, &readable);
    }
    // What is stored beside rules can be deleted too.
    let stored = used.iter().filter(|i| !draft.seeds[**i].is_empty());
    let stored = stored.map(|i| (derived(*i), draft.derived_arities[*i]));
    let targets: Vec<(String, usize)> =
        (0..BASES).map(|i| (base(i), draft.base_arities[i])).chain(stored).collect();
    let (relation, arity) = &targets[usize::from(write.targets[0].relation) % targets.len()];
    let mut names = Names::default();
    let target = atom_of(relation, *arity, &write.targets[0], draft, |_, fresh, n| names.draw(fresh, n));
    let body = BodyDraft { atoms: write.body.atoms[..1].to_vec(), ..write.body.clone() };
    Write::Delete { target, body: build_body(&body, &readable, names, false).literals }
}

fn update(write: &WriteDraft, readable: &Readable<'_>) -> Write {
    let draft = readable.draft;
    let body = build_body(&write.body, readable, Names::default(), false);
    let expressions = body.expressions(draft);
    let variables = body.variables();
    let target = |atom: &AtomDraft, computes: bool| {
        let i = usize::from(atom.relation) % BASES;
        let terms = atom.terms[..draft.base_arities[i]].iter().map(|(kind, n)| match kind {
            0..14 => match variables.get(usize::from(*n) % variables.len().max(1)) {
                Some(name) => Expression::Variable(name.clone()),
                None => Expression::Constant(constant(*n, draft.domain)),
            },
            14..18 if computes => {
                expressions.of(Kind::Number, &mut Choices([n / 16, *n, n / 3, n / 5].iter()), 1)
            }
            _ => Expression::Constant(constant(*n, draft.domain)),
        });
        Target { relation: base(i), terms: terms.collect() }
    };
    let (first, inserts) = write.targets.split_at(1);
    let deletes = first.iter().map(|atom| target(atom, false)).collect();
    let inserts = inserts.iter().map(|atom| target(atom, true)).collect();
    Write::Update { deletes, inserts, body: body.literals }
}
