//! How many bytes a rule takes in memory. A program's text says little about that: `X=1` is a literal with two terms.

use super::ast::{Atom, Literal, LiteralKind, Rule, Term, TermKind};

impl Rule {
    /// The bytes that it takes.
    pub fn memory_bytes(&self) -> usize {
        size_of::<Rule>() + atom(&self.head) + self.body.iter().map(literal).sum::<usize>()
    }
}

/// What it takes beside itself.
fn atom(atom: &Atom) -> usize {
    atom.relation.text.len() + atom.terms.iter().map(term).sum::<usize>()
}

fn literal(of: &Literal) -> usize {
    size_of::<Literal>()
        + match &of.kind {
            LiteralKind::Positive(inner) | LiteralKind::Negative(inner) => atom(inner),
            LiteralKind::Comparison { left, right, .. } => term(left) + term(right),
            kind @ (LiteralKind::Disjunction(_) | LiteralKind::NegatedConjunction(_)) => {
                kind.nested().map(literal).sum()
            }
        }
}

fn term(of: &Term) -> usize {
    size_of::<Term>()
        + match &of.kind {
            TermKind::Variable(name) | TermKind::Parameter(name) => name.len(),
            TermKind::Placeholder => 0,
            TermKind::Constant(value) => value.as_ref().content_bytes(),
            TermKind::Arithmetic { left, right, .. } => term(left) + term(right),
            TermKind::Call { function, arguments } => {
                function.text.len() + arguments.iter().map(term).sum::<usize>()
            }
            TermKind::Aggregate { function, arguments } => {
                function.text.len() + arguments.iter().map(|argument| term(&argument.term)).sum::<usize>()
            }
        }
}

#[cfg(test)]
mod tests {
    use crate::limits::Limits;
    use crate::syntax::ast::StatementKind;
    use crate::syntax::parse;

    fn bytes(rule: &str) -> usize {
        let (statements, errors) = parse(rule, &Limits::default());
        assert_eq!(errors, []);
        let StatementKind::Rule(rule) = &statements[0].kind else { panic!("{rule} is no rule") };
        rule.rule.memory_bytes()
    }

    #[test]
    fn texts_and_small_literals_count() {
        let short = bytes("a(X) <- b(X)");
        assert_eq!(bytes(&format!("a(X) <- b(X), X != \"{}\"", "x".repeat(10_000))) / 10_000, 1);
        let many = format!("a(X) <- b(X){}", ", X!=1".repeat(500));
        assert!(bytes(&many) > short + 500 * 100, "{} bytes", bytes(&many));
    }
}
