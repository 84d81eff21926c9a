//! Statements: what the prefix says, and what follows it. After an error, parsing goes on with the next statement.

use super::ast::{
    Atom, Declare, Delete, DeleteWhere, Insert, Name, Query, Rule, RuleStatement, Scope, Statement,
    StatementKind, Term, TermKind, Tuple, Update, plain_literals,
};
use super::error::{SyntaxError, SyntaxFault};
use super::foreign;
use super::parser::{Parsed, Parser};
use super::token::TokenKind;
use crate::diagnostic::Span;
use crate::limits::Limits;

/// So many errors of one program are reported.
pub(crate) const MAX_ERRORS: usize = 100;

/// Reads a program: its statements as far as they are well formed, and everything that is not.
pub fn parse(text: &str, limits: &Limits) -> (Vec<Statement>, Vec<SyntaxError>) {
    let largest = limits.program_bytes.min(u32::MAX as usize);
    if text.len() > largest {
        let fault =
            SyntaxFault::Limit { what: "the bytes of a program", name: "max_program_bytes", limit: largest };
        return (Vec::new(), vec![SyntaxError::new(fault, Span::default())]);
    }
    let mut parser = Parser::new(text, limits);
    let mut statements = Vec::new();
    let mut errors = Vec::new();
    let mut index = 0;
    while !parser.at_end_of_program() && errors.len() < MAX_ERRORS {
        let start = parser.start_statement();
        if index == limits.statements {
            errors.push(parser.limit("the number of statements", "max_statements", limits.statements));
            break;
        }
        match parser.statement() {
            Ok(kind) => {
                let span = parser.since(start);
                statements.push(Statement { kind, span });
                let further = std::mem::take(&mut parser.further_heads);
                index += further.len();
                statements.extend(further.into_iter().map(|kind| Statement { kind, span }));
            }
            Err(mut error) => {
                // Not by its first word alone: relations may be called so.
                let foreign = foreign::recognised(&text[start.start as usize..]);
                let whole = foreign.is_some();
                if let Some(fault) = parser.comment_meant(error.span) {
                    error.fault = fault;
                }
                if let Some(foreign) = foreign {
                    error = SyntaxError::new(SyntaxFault::Foreign(Box::new(foreign)), start);
                }
                error.statement = Some(index);
                parser.recover(start);
                if let SyntaxFault::ForeignOperator { found, help } = &mut error.fault
                    && found == ":-"
                    && let Some(here) = foreign::rule(parser.slice(parser.since(start)), error.span, start)
                {
                    *help = here;
                }
                errors.push(error);
                while whole && parser.at_word() {
                    let line = parser.start_statement();
                    parser.recover(line);
                }
            }
        }
        index += 1;
    }
    if statements.is_empty() && errors.is_empty() {
        errors.push(SyntaxError::new(SyntaxFault::Empty, Span::default()));
    }
    (statements, errors)
}

/// Reads the one query that stands in this part of a program, with or without its `?`.
pub(crate) fn parse_query(program: &str, part: Span, limits: &Limits) -> Result<Query, SyntaxError> {
    let text = program.get(..part.end as usize).unwrap_or(program);
    let mut parser = Parser::starting_at(text, part.start as usize, limits);
    if parser.at(TokenKind::Question) {
        parser.bump();
    }
    let query = parser.query()?;
    if parser.at_end_of_program() {
        return Ok(query);
    }
    parser.start_statement();
    Err(parser.unexpected("the end of the query"))
}

impl Parser<'_> {
    fn statement(&mut self) -> Parsed<StatementKind> {
        let kind = match self.kind() {
            TokenKind::Dot => self.command().map(StatementKind::Command)?,
            TokenKind::Question => {
                self.bump();
                StatementKind::Query(self.query()?)
            }
            TokenKind::Plus => {
                self.bump();
                self.insertion(Scope::Persistent)?
            }
            TokenKind::Minus => {
                self.bump();
                self.deletion()?
            }
            TokenKind::Word if self.token_text() == "type" && self.second_is_name() => {
                StatementKind::DeclareType(self.type_declaration()?)
            }
            TokenKind::Word | TokenKind::Variable => self.insertion(Scope::Session)?,
            _ => return Err(self.unexpected("a statement: `+`, `-`, `?`, `.` or a relation")),
        };
        // A body may end with a comma after which the next statement starts at once.
        if !self.at(TokenKind::End) && !self.at_new_statement() {
            return Err(self.unexpected_end(&kind));
        }
        Ok(kind)
    }

    /// Something follows a statement that could have ended.
    fn unexpected_end(&self, kind: &StatementKind) -> SyntaxError {
        let is_fact = matches!(kind, StatementKind::Insert(insert) if insert.tuples.len() == 1);
        if is_fact
            && matches!(self.kind(), TokenKind::Equal | TokenKind::LessOrEqual | TokenKind::DoubleEqual)
        {
            let help = "write `<-` between head and body: `+p(X) <- q(X)`".into();
            let fault = SyntaxFault::ForeignOperator { found: self.token_text().into(), help };
            return SyntaxError::new(fault, self.span());
        }
        self.unexpected("the end of the statement")
    }

    fn second_is_name(&self) -> bool {
        matches!(self.second(), TokenKind::Word | TokenKind::Variable)
    }

    /// Facts, a declaration, a rule, or an update whose first target is a `+`.
    pub(super) fn insertion(&mut self, scope: Scope) -> Parsed<StatementKind> {
        let relation = self.name("a relation")?;
        if self.at(TokenKind::LeftBracket) {
            let tuples = self.tuples()?;
            return match tuples.iter().find(|tuple| scope == Scope::Session && tuple.terms.is_empty()) {
                Some(empty) => Err(without_columns(empty.span)),
                None => Ok(StatementKind::Insert(Insert { scope, relation, tuples })),
            };
        }
        let open = self.span();
        if !self.at(TokenKind::LeftParen) {
            return Err(self.no_arguments(&relation));
        }
        if self.at_columns() {
            let columns = self.columns()?;
            not_reserved(&relation, "_invalid_", "a declared relation")?;
            return Ok(StatementKind::Declare(Declare { scope, relation, columns }));
        }
        let terms = self.head_arguments(4)?;
        let tuple_span = self.since(open);
        let atom = |relation: Name, terms| Atom { span: relation.span.to(tuple_span), relation, terms };
        match self.kind() {
            TokenKind::Arrow => {
                self.bump();
                if scope == Scope::Session {
                    not_reserved(&relation, "__", "a rule of a session")?;
                }
                let head = atom(relation, terms);
                let body = self.body()?;
                let span = self.since(head.span);
                let rule = Rule { head, body, span };
                Ok(StatementKind::Rule(RuleStatement { scope, rule, beside: Vec::new() }))
            }
            TokenKind::Comma if scope == Scope::Persistent || self.at_further_head(false) => {
                self.several(scope, atom(relation, terms))
            }
            _ if scope == Scope::Session && terms.is_empty() => Err(without_columns(tuple_span)),
            _ => {
                let tuples = vec![Tuple::new(terms, tuple_span)];
                Ok(StatementKind::Insert(Insert { scope, relation, tuples }))
            }
        }
    }

    /// Facts to delete, a condition, an update, or the name of a rule.
    pub(super) fn deletion(&mut self) -> Parsed<StatementKind> {
        let relation = self.name("a relation")?;
        match self.kind() {
            // Another change, or a query, may stand after it.
            TokenKind::End | TokenKind::Question | TokenKind::Plus | TokenKind::Minus => {
                return Ok(StatementKind::DropRule(relation));
            }
            TokenKind::LeftBracket => {
                let tuples = self.tuples()?;
                return Ok(StatementKind::Delete(Delete { relation, tuples }));
            }
            TokenKind::LeftParen => {}
            _ => return Err(self.no_arguments(&relation)),
        }
        let open = self.span();
        let terms = self.head_arguments(4)?;
        let tuple_span = self.since(open);
        let atom = |relation: Name, terms| Atom { span: relation.span.to(tuple_span), relation, terms };
        match self.kind() {
            TokenKind::Arrow => {
                self.bump();
                let target = atom(relation, terms);
                Ok(StatementKind::DeleteWhere(DeleteWhere { target, body: self.body()? }))
            }
            TokenKind::Comma => self.update(vec![atom(relation, terms)], Vec::new()),
            _ => Ok(StatementKind::Delete(Delete { relation, tuples: vec![Tuple::new(terms, tuple_span)] })),
        }
    }

    /// What follows the comma after a target: an update, or further heads of a rule.
    fn several(&mut self, scope: Scope, first: Atom) -> Parsed<StatementKind> {
        let mut heads = vec![first];
        while self.at(TokenKind::Comma) {
            if !self.at_further_head(scope == Scope::Persistent) {
                break;
            }
            self.bump();
            self.eat(TokenKind::Plus);
            let relation = self.name("a relation")?;
            let terms = self.head_arguments(4)?;
            let span = self.since(relation.span);
            heads.push(Atom { relation, terms, span });
        }
        if self.at(TokenKind::Comma) && scope == Scope::Persistent {
            return self.update(Vec::new(), heads);
        }
        if self.at(TokenKind::End) && heads.iter().all(is_fact) {
            return Err(self.several_facts());
        }
        let arrow = self.expect(TokenKind::Arrow, "`,` or `<-`")?;
        let body = self.body()?;
        if heads.len().saturating_mul(plain_literals(&body).len()) > self.limits.literals {
            let what = "the number of conditions of all heads together";
            let limit = self.limits.literals;
            return Err(SyntaxError::new(SyntaxFault::Limit { what, name: "max_literals", limit }, arrow));
        }
        let mut rules = Vec::with_capacity(heads.len());
        let beside: Vec<Term> = heads.iter().flat_map(|head| head.terms.iter().cloned()).collect();
        for head in heads {
            if scope == Scope::Session {
                not_reserved(&head.relation, "__", "a rule of a session")?;
            }
            let span = self.since(head.span);
            let rule = Rule { head, body: body.clone(), span };
            rules.push(StatementKind::Rule(RuleStatement { scope, rule, beside: beside.clone() }));
        }
        let first = rules.remove(0);
        self.further_heads = rules;
        Ok(first)
    }

    fn several_facts(&self) -> SyntaxError {
        let mut error = self.unexpected("`,` or `<-`");
        if let SyntaxFault::Unexpected { help, .. } = &mut error.fault {
            *help = Some(
                "begin each fact on a line of its own: `+a(5)`, `+b(5, 6)`; several of one relation stand in brackets: `+edge[(1, 2), (2, 3)]`"
                    .into(),
            );
        }
        error
    }

    fn no_arguments(&self, relation: &Name) -> SyntaxError {
        let name = &relation.text;
        let mut error = self.unexpected("`(` or `[`");
        if name == "not" {
            let fault = SyntaxFault::ForeignOperator { found: name.clone(), help: "write `!p(X)`".into() };
            return SyntaxError::new(fault, relation.span);
        }
        if let SyntaxFault::Unexpected { help, .. } = &mut error.fault {
            help.get_or_insert(format!("write `{name}(1, 2)` for a fact, `?{name}(X, Y)` to ask"));
        }
        error
    }

    /// The targets after the first, and the body.
    fn update(&mut self, mut deletes: Vec<Atom>, mut inserts: Vec<Atom>) -> Parsed<StatementKind> {
        while self.eat(TokenKind::Comma) && !self.at(TokenKind::Arrow) {
            let targets = match self.kind() {
                TokenKind::Minus => &mut deletes,
                TokenKind::Plus => &mut inserts,
                _ => return Err(self.no_target()),
            };
            self.bump();
            let relation = self.name("a relation")?;
            let terms = self.head_arguments(4)?;
            let span = self.since(relation.span);
            targets.push(Atom { relation, terms, span });
        }
        let arrow = self.expect(TokenKind::Arrow, "`,` or `<-`")?;
        if deletes.is_empty() || inserts.is_empty() {
            return Err(SyntaxError::new(SyntaxFault::OneSidedUpdate, arrow));
        }
        Ok(StatementKind::Update(Update { deletes, inserts, body: self.body()? }))
    }

    fn no_target(&self) -> SyntaxError {
        let mut error = self.unexpected("a further target with `+` or `-`");
        if let SyntaxFault::Unexpected { help, .. } = &mut error.fault {
            help.get_or_insert(
                "several facts of one relation stand in brackets: `+edge[(1, 2), (2, 3)]`".into(),
            );
        }
        error
    }

    /// `[(value, ..), ..]` or `[value, ..]`
    fn tuples(&mut self) -> Parsed<Vec<Tuple>> {
        self.bump();
        let mut tuples = Vec::new();
        let mut arity = 0;
        while !self.at(TokenKind::RightBracket) {
            if tuples.len() == self.limits.insert_tuples {
                let limit = self.limits.insert_tuples;
                return Err(self.limit("the number of tuples in one statement", "max_insert_tuples", limit));
            }
            let start = self.span();
            let terms = if self.at(TokenKind::LeftParen) {
                self.head_arguments(arity)?
            } else {
                vec![self.head_term()?]
            };
            arity = terms.len();
            tuples.push(Tuple::new(terms, self.since(start)));
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect(TokenKind::RightBracket, "`,` or `]`")?;
        Ok(tuples)
    }
}

/// Whether nothing but constants stands in it.
fn is_fact(atom: &Atom) -> bool {
    atom.terms.iter().all(|term| matches!(term.kind, TermKind::Constant(_)))
}

fn not_reserved(relation: &Name, prefix: &'static str, holder: &'static str) -> Parsed<()> {
    if !relation.text.starts_with(prefix) {
        return Ok(());
    }
    let fault = SyntaxFault::ReservedName { name: relation.text.clone(), prefix, holder };
    Err(SyntaxError::new(fault, relation.span))
}

/// A fact `p()` of a session.
fn without_columns(span: Span) -> SyntaxError {
    let fault = SyntaxFault::Unexpected {
        expected: "a value".into(),
        found: "`)`".into(),
        help: Some("a fact of a session has at least one column".into()),
    };
    SyntaxError::new(fault, span)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(text: &str) -> (Vec<String>, Vec<SyntaxFault>) {
        let (statements, errors) = parse(text, &Limits::default());
        (statements.iter().map(ToString::to_string).collect(), errors.into_iter().map(|e| e.fault).collect())
    }

    fn printed(text: &str) -> Vec<String> {
        let (statements, errors) = program(text);
        assert_eq!(errors, [], "{text}");
        statements
    }

    fn fault(text: &str) -> SyntaxFault {
        let (statements, mut errors) = program(text);
        assert_eq!((statements.len(), errors.len()), (0, 1), "{text}: {errors:?}");
        errors.remove(0)
    }

    fn help(text: &str) -> String {
        use crate::diagnostic::Diagnose;
        let (_, errors) = parse(text, &Limits::default());
        errors[0].diagnose().help.unwrap_or_default()
    }

    #[test]
    fn every_kind_of_statement_prints_canonically() {
        for text in [
            "+edge(1, 2)",
            "+edge[(1, 2), (2, 3)]",
            "edge(1, \"a\\nb\")",
            "edge[(1, 2), (2, 3)]",
            "+a()",
            "+c[]",
            "-edge(1, 2)",
            "-edge[(1, 2), (2, 3)]",
            "-edge(X, _) <- edge(X, X)",
            "-edge",
            "-a(X, Y), +b(X, Y*2) <- a(X, Y), Y > 3",
            "+path(X, Z) <- path(X, Y), edge(Y, Z), !blocked(Z, _), X != Z",
            "path(X, Y) <- edge(X, Y)",
            "has_data() <- edge(_, _)",
            "+total(R, sum<A>, top_k<2, I, A:desc>) <- sale(R, I, A)",
            "+person(name: string, age: int, v: vector(3), q: vector_int8[8], x: any, n: Name)",
            "person(at: timestamp)",
            "type Name: string",
            "?edge(1, X:desc), X > 3.0, limit(2, 1)",
            "?has_data()",
            "?Name, Salary:desc <- employee(_, Name, _, Salary, _), limit(3)",
            "?Dept, count<Id> <- employee(Id, _, Dept, _, _)",
            "?p(X), abs(X) > 2, Y = $low, f(X, Y), -5 < X, V = [1.0, -2.5]",
            ".kg use default",
            ".why ?path(1, X)",
            "+r(X) <- a(X), (b(X), X > 1 or c(X, _) or !d(X)), e(X)",
            "?a(X), !(b(X, Y), (c(Y) or Y = 3))",
        ] {
            assert_eq!(printed(text), [text]);
        }
    }

    #[test]
    fn other_writings_mean_the_same() {
        assert_eq!(printed("+r [ 1 , \"x\" , ] "), ["+r[(1), (\"x\")]"]);
        assert_eq!(printed("+r((1 + 2), [1,2])"), ["+r(1+2, [1.0, 2.0])"]);
        assert_eq!(
            printed("+r(a: INT(range(0, 10)), b: list[{ f: Embedding }], c: Vec(3),)"),
            ["+r(a: int, b: any, c: vector(3))"]
        );
        assert_eq!(printed("+b(X) , -a(X) <- a(X)"), ["-a(X), +b(X) <- a(X)"]);
        assert_eq!(printed("?p(X),limit(1),limit(3,2),X>1"), ["?p(X), X > 1, limit(3, 2)"]);
        assert_eq!(printed("r(X) <- a(X) OR b(X),"), ["r(X) <- (a(X) or b(X))"]);
        assert_eq!(
            printed("r(X) <- ((a(X))), ((X + 1) * 2 > 3), (X) > 0"),
            ["r(X) <- a(X), (X+1)*2 > 3, X > 0"]
        );
        assert_eq!(
            printed("?X <- (a(X), or(X)), limit(2) or b(X)"),
            ["?X <- (a(X), or(X) or b(X)), limit(2)"]
        );
        assert_eq!(
            printed("+a(X), b(X, 1), +c() <- d(X), e(X)"),
            ["+a(X) <- d(X), e(X)", "+b(X, 1) <- d(X), e(X)", "+c() <- d(X), e(X)"]
        );
        assert_eq!(printed("a(X), b(X) <- c(X)"), ["a(X) <- c(X)", "b(X) <- c(X)"]);
        assert_eq!(printed("+Edge(1,2)\n+_x(1)\n?_x(A)"), ["+Edge(1, 2)", "+_x(1)", "?_x(A)"]);
    }

    #[test]
    fn lines_continue_after_blanks_brackets_commas_and_arrows() {
        let rule = "+r(X, Y) <- a(X), b(Y)";
        assert_eq!(printed("+r(X, Y) <- a(X),\n  b(Y)"), [rule]);
        assert_eq!(printed("+r(X, Y) <-\na(X),\nb(Y)"), [rule]);
        assert_eq!(printed("+r(X, Y)\n\n\t<- a(X)\n% no\n// no\n , b(\nY\n)\n"), [rule]);
        assert_eq!(printed("/* c */ +r(X, Y) <- a(X), /* d\n */ b(Y), // end\n"), [rule]);
        assert_eq!(printed("-a(X),\n+b(X) <- a(X),\n+c(1)"), ["-a(X), +b(X) <- a(X)", "+c(1)"]);
        assert_eq!(printed("+r(X) <- a(X),\n?r(X),\n.kg list"), ["+r(X) <- a(X)", "?r(X)", ".kg list"]);
        assert_eq!(printed("+s(\"a\n+b\")\r\n?s(X)\r\n"), ["+s(\"a\\n+b\")", "?s(X)"]);
    }

    #[test]
    fn every_error_of_a_program_is_reported() {
        let text = "+a(1, foo)\n?a(X\n+b(1; 2)\n+c(3)\n+d[(1, 2),\n(3,, 4),\n(5, 6)]\n.kg\n?a(\"x)";
        let (statements, errors) = parse(text, &Limits::default());
        assert_eq!(statements.iter().map(ToString::to_string).collect::<Vec<_>>(), ["+c(3)", ".kg"]);
        let found: Vec<_> = errors.iter().map(|e| (e.statement.unwrap(), e.span.start)).collect();
        assert_eq!(found, [(0, 6), (1, 16), (2, 20), (4, 45), (6, 66)]);
        assert_eq!(
            errors[1].fault,
            SyntaxFault::UnclosedBracket { bracket: '(', opened: Span::new(13, 14), found: "`+`".into() }
        );
        assert_eq!(errors[4].fault, SyntaxFault::UnclosedText);
    }

    #[test]
    fn at_most_a_hundred_errors_are_reported() {
        let (_, errors) = parse(&"+a(b)\n".repeat(1000), &Limits::default());
        assert_eq!(errors.len(), 100);
    }

    #[test]
    fn a_program_holds_a_statement() {
        assert_eq!(fault(""), SyntaxFault::Empty);
        assert_eq!(fault(" \n// only\n% comments\n/* here */"), SyntaxFault::Empty);
    }

    #[test]
    fn what_other_languages_write_is_explained() {
        assert_eq!(fault("+b(1, 2)."), SyntaxFault::TrailingPeriod);
        assert_eq!(fault("?p('x')"), SyntaxFault::WrongQuote { text: "x".into() });
        for (text, hint) in [
            ("?p(X), X == 3", "write `=`"),
            ("?p(X), X <> 3", "write `!=`"),
            ("p(X) :- q(X)", "as `p(X) <- q(X)`"),
            ("p(X) <- not q(X)", "write `!p(X)`"),
            ("not p(1)", "write `!p(X)`"),
            ("p(1); q(2)", "a statement ends with its line"),
            ("?p(X), X = 1 || X = 2", "write `or`"),
            ("?p(X), X = 1 or X = 2", "in parentheses"),
            ("?p(X) or q(X)", "in parentheses"),
            ("p(X) <- q(X); r(X)", "`or` between alternatives"),
            ("?p(X), X = 0 - -Y", "write `0 - X`"),
            ("?p", "write `?p(X, Y)`"),
            ("?!p(X)", "put a positive goal first"),
            ("edge", "write `edge(1, 2)`"),
            ("+edge(1, 2), (2, 3)", "stand in brackets"),
            ("+a(1)\n  +b(2)", "continues the line above"),
            ("+a(x: text)", "did you mean `string`"),
        ] {
            assert!(help(text).contains(hint), "{text}: {}", help(text));
        }
    }

    #[test]
    fn half_statements_are_refused() {
        for text in [
            "+",
            "-",
            "?",
            "+r(X) <-",
            "foo()",
            "+r(1",
            "-a(X), -b(X) <- a(X)",
            "+a(X), b(X)",
            "a(X) <- (b(X)",
            "a(X) <- b(X))",
        ] {
            fault(text);
        }
        assert_eq!(fault("-a(X), -b(X) <- a(X)"), SyntaxFault::OneSidedUpdate);
        assert_eq!(fault("?p(X), limit(X)"), SyntaxFault::BadLimit);
        assert_eq!(fault("?p(X), limit(-1)"), SyntaxFault::BadLimit);
        assert_eq!(fault("?p(X) /* open"), SyntaxFault::UnclosedComment);
        assert_eq!(fault("p(X) <- q(count<X>)"), SyntaxFault::MisplacedAggregate { name: "count".into() });
    }

    #[test]
    fn limits_are_kept() {
        let limits = Limits {
            program_bytes: 60,
            statements: 2,
            nesting: 3,
            insert_tuples: 2,
            string_bytes: 4,
            columns: 3,
            literals: 3,
            body_arguments: 5,
            ..Limits::default()
        };
        let limited = |text: &str| match parse(text, &limits).1.as_slice() {
            [error] => match &error.fault {
                SyntaxFault::Limit { what, .. } => *what,
                other => panic!("{other:?}"),
            },
            [] => "",
            errors => panic!("{errors:?}"),
        };
        assert_eq!(limited(&"x".repeat(61)), "the bytes of a program");
        assert_eq!(limited("+a(1)\n+a(2)\n+a(3)"), "the number of statements");
        assert_eq!(limited("+a[1, 2]"), "");
        assert_eq!(limited("+a[1, 2, 3]"), "the number of tuples in one statement");
        assert_eq!(limited("+a(\"\\u00e9\\u00e9\")"), "");
        assert_eq!(limited("+a(\"12345\")"), "the bytes of a string");
        assert_eq!(limited("+a(1, 2, 3, 4)"), "the number of arguments");
        assert_eq!(limited("?a(X), b(X), b(X), b(X)"), "");
        assert_eq!(
            limited("?a(X), b(X), b(X), b(X), b(X), limit(2)"),
            "the number of conditions in one body"
        );
        assert_eq!(limited("a(X) <- b(X), b(X), b(X), b(X)"), "the number of conditions in one body");
        assert_eq!(limited("a(X) <- b(X, X), b(X, X), b(X, X)"), "the number of arguments in one body");
        assert_eq!(limited("+a(x: list[list[list[int]]])"), "the nesting of an expression or type");
    }

    #[test]
    fn spans_cover_whole_statements() {
        let text = "+a(1)\n?b(X), // x\n  c(X)\n.kg  list \np(X) <- q(X)";
        let (statements, _) = parse(text, &Limits::default());
        let spans: Vec<_> =
            statements.iter().map(|s| &text[s.span.start as usize..s.span.end as usize]).collect();
        assert_eq!(spans, ["+a(1)", "?b(X), // x\n  c(X)", ".kg  list", "p(X) <- q(X)"]);
    }

    #[test]
    fn time_is_linear_in_odd_texts_too() {
        for piece in
            ["\\\"\n", "\"\n", "/*", "(", "?a(\n", "X ", "-", "+a\n", "not ", "a<", "a:", ".a(\n", "%\n"]
        {
            let text = format!("\"\n{}", piece.repeat((1 << 20) / piece.len()));
            let (_, errors) = parse(&text, &Limits::default());
            assert!(!errors.is_empty());
        }
    }

    fn without_spans(statement: &Statement) -> String {
        let text = format!("{statement:?}");
        text.split("Span {").map(|piece| piece.split_once('}').map_or(piece, |(_, rest)| rest)).collect()
    }

    #[test]
    fn no_text_makes_the_parser_fail_or_stall() {
        let pieces = [
            "+", "-", "?", ".", "r", "X", "_", "(", ")", "[", "]", "{", "}", "<", ">", "<-", ":", ",", "1",
            "1.5", "\"", "\"a\"", "\\", "/*", "*/", "//", "%", "\n", "\n ", " ", "é", "$p", "=", "!",
            "type ", "limit(1)", "count<", ":desc", "\u{0}", "'", "|", " or ", "!(", "p(X)", ")",
        ];
        let mut state = 7_u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..12 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(state >> 33) as usize % pieces.len()]);
            }
            let (statements, errors) = parse(&text, &Limits::default());
            assert!(!statements.is_empty() || !errors.is_empty());
            for statement in statements {
                let printed = statement.to_string();
                let (again, errors) = parse(&printed, &Limits::default());
                assert_eq!(errors, [], "{text:?} printed {printed:?}");
                assert_eq!(again.len(), 1);
                assert_eq!(
                    without_spans(&again[0]),
                    without_spans(&statement),
                    "{text:?} printed {printed:?}"
                );
            }
        }
    }
}
