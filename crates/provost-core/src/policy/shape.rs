//! The shape of what is computed. A field or a risk that does not exist would never match, so that a rule
//! about it is refused when it is loaded. The only words in it are the names of risks.

use provost_abl::expr::{CompareOp, Expr, ExprKind, Span, Step, Type, nearest};

use super::{
    compile::{CompileError, Place},
    facts::COMPUTED,
    scope::ROOTS,
};
use crate::review::Risk;

static RISKS: Type = Type::List(&Type::Word);
static PART: Type = Type::Object(&[
    ("program", Type::Text),
    ("name", Type::Text),
    ("words", Type::List(&Type::Text)),
    ("reads", Type::List(&Type::Text)),
    ("writes", Type::List(&Type::Text)),
    ("hosts", Type::List(&Type::Text)),
    ("risks", Type::List(&Type::Word)),
]);
static COMMAND: Type = Type::Object(&[
    ("programs", Type::List(&Type::Text)),
    ("parts", Type::List(&PART)),
]);
static CHANGE: Type = Type::Object(&[("paths", Type::List(&Type::Text))]);
static URL: Type = Type::Object(&[
    ("scheme", Type::Text),
    ("host", Type::Text),
    ("port", Type::Number),
]);

/// Every misuse of what is computed, and of the names that quantifiers give.
pub(super) fn check(expr: &Expr, place: &Place) -> Vec<CompileError> {
    let mut checker = Checker {
        place,
        members: Vec::new(),
        errors: Vec::new(),
    };
    checker.visit(expr);
    checker.errors
}

struct Checker<'e> {
    place: &'e Place,
    /// What quantifiers call their members, and the shape of these where it is known.
    members: Vec<(&'e str, Option<&'static Type>)>,
    errors: Vec<CompileError>,
}

impl<'e> Checker<'e> {
    fn visit(&mut self, expr: &'e Expr) {
        match &expr.kind {
            ExprKind::Path { .. } => {
                self.shape(expr);
            }
            ExprKind::Compare {
                op, left, right, ..
            } => self.compare(*op, left, right),
            ExprKind::Each {
                name, list, body, ..
            } => return self.each(expr.span, name, list, body),
            _ => {}
        }
        for child in expr.children() {
            self.visit(child);
        }
    }

    fn each(&mut self, span: Span, name: &'e str, list: &'e Expr, body: &'e Expr) {
        self.visit(list);
        if ROOTS.contains(&name) || COMPUTED.contains(&name) {
            self.report(
                span,
                format!("`{name}` names something else already"),
                "give the members of the list another name".to_owned(),
            );
        }
        let known = self.errors.len();
        let member = match self.shape(list) {
            Some(Type::List(member)) => Some(*member),
            _ => None,
        };
        self.errors.truncate(known);
        self.members.push((name, member));
        self.visit(body);
        self.members.pop();
    }

    /// The shape of a path into what is computed; `None` for all else.
    fn shape(&mut self, expr: &Expr) -> Option<&'static Type> {
        let ExprKind::Path { root, steps } = &expr.kind else {
            return None;
        };
        let member = self.members.iter().rev().find(|(name, _)| *name == &**root);
        let mut shape = match member {
            Some((_, shape)) => (*shape)?,
            None => self::root(root)?,
        };
        for step in steps {
            shape = match (shape, step) {
                (Type::Object(fields), Step::Key(key)) => {
                    match fields.iter().find(|(name, _)| *name == &**key) {
                        Some((_, field)) => field,
                        None => return self.unknown_field(expr, key, fields),
                    }
                }
                (Type::List(member), Step::Index(_)) => member,
                (Type::List(_) | Type::Text, Step::Key(key)) if &**key == "length" => &Type::Number,
                (Type::List(_), Step::Key(_)) => {
                    let message = format!("`{expr}` reads a field of a list");
                    let help =
                        "write `ANY part IN command.parts SATISFY (part.program == \"git\")`";
                    self.report(expr.span, message, help.to_owned());
                    return None;
                }
                _ => {
                    let message = format!("there is nothing below `{root}` like `{expr}`");
                    self.report(expr.span, message, "see the table in the guide".to_owned());
                    return None;
                }
            };
        }
        Some(shape)
    }

    fn unknown_field(
        &mut self,
        expr: &Expr,
        key: &str,
        fields: &[(&'static str, Type)],
    ) -> Option<&'static Type> {
        let names = fields.iter().map(|(name, _)| *name);
        let help = match nearest(key, names.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names.collect::<Vec<_>>().join(", ")),
        };
        self.report(expr.span, format!("`{expr}` has no field `{key}`"), help);
        None
    }

    fn compare(&mut self, op: CompareOp, left: &'e Expr, right: &'e Expr) {
        let known = self.errors.len();
        let shapes = [self.shape(left), self.shape(right)];
        self.errors.truncate(known);
        let of_risks = shapes
            .iter()
            .flatten()
            .any(|shape| matches!(shape, Type::Word | Type::List(Type::Word)));
        let by_name = matches!(
            op,
            CompareOp::Equal | CompareOp::NotEqual | CompareOp::In | CompareOp::Contains
        );
        if of_risks && by_name {
            for side in [left, right] {
                side.walk(&mut |node| {
                    if let ExprKind::Text(text) = &node.kind {
                        self.risk(node, text);
                    }
                });
            }
        }
    }

    fn risk(&mut self, expr: &Expr, text: &str) {
        let names = || Risk::ALL.into_iter().map(Risk::name);
        if names().all(|name| name != text) {
            let help = match nearest(text, names()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
            };
            self.report(expr.span, format!("there is no risk \"{text}\""), help);
        }
    }

    fn report(&mut self, span: Span, message: String, help: String) {
        self.errors.push(CompileError {
            place: self.place.clone(),
            message,
            help: Some(help),
            span: Some(span.start..span.end),
        });
    }
}

/// What every name in scope of a `when` is.
pub(super) fn type_of(name: &str) -> Option<&'static Type> {
    match name {
        "agent" | "tool" | "now" => Some(&Type::Name),
        "session" => Some(&Type::Text),
        "params" => Some(&Type::Open),
        _ => root(name),
    }
}

fn root(name: &str) -> Option<&'static Type> {
    match name {
        "risks" => Some(&RISKS),
        "command" => Some(&COMMAND),
        "change" => Some(&CHANGE),
        "url" => Some(&URL),
        "unreadable" => Some(&Type::Bool),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{super::compile_when, *};

    #[test]
    fn p17_every_name_in_scope_has_a_type() {
        for name in ROOTS.iter().chain(&COMPUTED) {
            assert!(type_of(name).is_some(), "{name}");
        }
    }

    #[test]
    fn p19_what_is_not_computed_is_refused_with_help() {
        for (when, message) in [
            (
                "command.program == 'git'",
                "`command.program` has no field `program`",
            ),
            (
                "command.parts.program == 'git'",
                "`command.parts.program` reads a field of a list",
            ),
            (
                "ALL part IN command.parts SATISFY (part.programm == 'git')",
                "`part.programm` has no field `programm`",
            ),
            ("'delets' IN risks", "there is no risk \"delets\""),
            ("risks CONTAINS 'sudo'", "there is no risk \"sudo\""),
            (
                "ANY part IN command.parts SATISFY ('x' IN part.risks)",
                "there is no risk \"x\"",
            ),
            (
                "ANY risk IN risks SATISFY (risk IN ['deletes', 'y'])",
                "there is no risk \"y\"",
            ),
            (
                "url.hostname == 'a'",
                "`url.hostname` has no field `hostname`",
            ),
            (
                "url.host.x == 'a'",
                "there is nothing below `url` like `url.host.x`",
            ),
            (
                "ALL params IN command.parts SATISFY (params.name == 'x')",
                "`params` names something else already",
            ),
            ("part.program == 'git'", "unknown name `part`"),
        ] {
            let errors = compile_when(when).unwrap_err();
            let messages: Vec<_> = errors.iter().map(|error| &*error.message).collect();
            assert_eq!(messages, [message], "{when}");
            assert!(errors[0].span.is_some() && errors[0].help.is_some());
        }
        for when in [
            "ALL part IN command.parts SATISFY (part.program == 'git' AND part.words[1] IN ['status'])",
            "NONE risk IN risks SATISFY (risk IN ['deletes', 'network'])",
            "change IS SET AND ALL path IN change.paths SATISFY (path WITHIN '/srv')",
            "url.host IN ['a.org'] AND url.port == 443 AND url.scheme == 'https'",
            "unreadable OR 'deletes' IN risks",
            "ANY to IN params.to SATISFY (to.anything == 'x')",
            "LENGTH(command.parts) == 1",
        ] {
            assert!(compile_when(when).is_ok(), "{when}");
        }
    }
}
