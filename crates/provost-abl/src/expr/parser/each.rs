//! `ALL part IN command.parts SATISFY (…)`. `ALL`, `ANY` and `NONE` are ordinary names, too: they begin a
//! quantifier only before another name, where no operator could follow them.

use super::operators::{Power, keyword};
use super::{Parser, Symbol, TokenKind};
use crate::expr::ast::{Expr, ExprKind, Quantifier};
use crate::expr::error::ExprError;

const EXAMPLE: &str = "write `ALL part IN command.parts SATISFY (part.program == \"git\")`";

const SATISFY: [&str; 2] = ["SATISFY", "SATISFIES"];

/// The words that begin a quantifier, and what to write instead of those of other languages.
const QUANTIFIERS: [(&str, Quantifier, Option<&str>); 7] = [
    ("ALL", Quantifier::All, None),
    ("ANY", Quantifier::Any, None),
    ("NONE", Quantifier::None, None),
    ("EVERY", Quantifier::All, Some("ALL")),
    ("EACH", Quantifier::All, Some("ALL")),
    ("SOME", Quantifier::Any, Some("ANY")),
    ("NO", Quantifier::None, Some("NONE")),
];

impl<'s> Parser<'s> {
    /// The quantifier that this word begins, if it does.
    pub(super) fn quantifier(&self, word: &str) -> Option<(Quantifier, Option<&'static str>)> {
        let (_, quantifier, instead) = QUANTIFIERS
            .into_iter()
            .find(|(known, ..)| known.eq_ignore_ascii_case(word))?;
        let TokenKind::Word(name) = *self.kind_after(1) else {
            return None;
        };
        // `x IN none SATISFY (…)`: here it names the list.
        if SATISFY.iter().any(|word| name.eq_ignore_ascii_case(word)) {
            return None;
        }
        let is_in =
            matches!(self.kind_after(2), TokenKind::Word(word) if word.eq_ignore_ascii_case("in"));
        // A word of another language is taken for one only where the rest is there.
        (keyword(name).is_none() && (instead.is_none() || is_in)).then_some((quantifier, instead))
    }

    pub(super) fn each(&mut self, quantifier: Quantifier, instead: Option<&str>) -> Expr {
        let start = self.span().start;
        if let Some(instead) = instead {
            let error = ExprError::new(self.span(), format!("unknown quantifier {}", self.found()));
            self.report(error.help(format!("write `{instead}`")));
        }
        self.nested(|parser| {
            parser.bump();
            let name = parser.member();
            if !parser.eat_word("in") {
                parser.expected("IN");
            }
            let list = parser.expression(Power::Sum);
            if !SATISFY.iter().any(|word| parser.eat_word(word)) {
                parser.expected("SATISFY");
            }
            parser.members.push(name);
            let body = parser.body();
            parser.members.pop();
            let kind = ExprKind::Each {
                quantifier,
                name: name.into(),
                list: Box::new(list),
                body: Box::new(body),
            };
            Expr::new(kind, parser.since(start))
        })
    }

    /// What a member is called.
    fn member(&mut self) -> &'s str {
        let span = self.span();
        let TokenKind::Word(name) = *self.kind() else {
            return "";
        };
        if self.members.contains(&name) {
            let message = format!("`{name}` already names the members of a list around this one");
            self.report(ExprError::new(span, message).help("give these another name"));
        }
        self.bump();
        name
    }

    /// In parentheses, so that nobody has to guess how far it reaches.
    fn body(&mut self) -> Expr {
        let open = self.span();
        if !self.at_symbol(Symbol::Open) {
            self.expected("(");
            return self.expression(Power::Any);
        }
        self.nested(|parser| {
            parser.bump();
            let body = parser.expression(Power::Any);
            parser.close(Symbol::Close, open);
            body
        })
    }

    fn expected(&mut self, what: &str) {
        let message = format!("expected `{what}`, found {}", self.found());
        self.report(ExprError::new(self.span(), message).help(EXAMPLE));
    }
}
