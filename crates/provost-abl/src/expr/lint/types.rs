//! What the names of a host's scope are, as far as that holds for every evaluation.

use crate::expr::ast::{Expr, ExprKind, Step};

/// What a value is, before there is one.
#[derive(Debug)]
pub enum Type {
    Bool,
    Number,
    Text,
    /// A text that is never empty.
    Name,
    /// One of a set of words that the host knows.
    Word,
    List(&'static Type),
    Object(&'static [(&'static str, Type)]),
    /// An object with whatever fields.
    Open,
}

/// The types of the host's names.
pub type Types = fn(&str) -> Option<&'static Type>;

impl Type {
    /// The type one step below; `None` where it is not known, or there is no such thing.
    fn step(&'static self, step: &Step) -> Option<&'static Self> {
        match (self, step) {
            (Self::Object(fields), Step::Key(key)) => {
                let field = fields.iter().find(|(name, _)| *name == &**key);
                field.map(|(_, field)| field)
            }
            (Self::List(member), Step::Index(_)) => Some(member),
            (Self::List(_) | Self::Text | Self::Name | Self::Word, Step::Key(key))
                if &**key == "length" =>
            {
                Some(&Self::Number)
            }
            _ => None,
        }
    }
}

/// Which names are known at a place of an expression: the host's, and those that quantifiers give.
pub(super) struct Known<'e> {
    types: Types,
    members: Vec<(&'e str, Option<&'static Type>)>,
}

impl<'e> Known<'e> {
    pub(super) fn new(types: Types) -> Self {
        Self {
            types,
            members: Vec::new(),
        }
    }

    pub(super) fn type_of(&self, expr: &Expr) -> Option<&'static Type> {
        let ExprKind::Path { root, steps } = &expr.kind else {
            return None;
        };
        let member = self.members.iter().rev().find(|(name, _)| *name == &**root);
        let start = match member {
            Some((_, member)) => (*member)?,
            None => (self.types)(root)?,
        };
        steps.iter().try_fold(start, Type::step)
    }

    /// Below this, `name` is a member of the list.
    pub(super) fn enter(&mut self, name: &'e str, list: &Expr) {
        let member = match self.type_of(list) {
            Some(Type::List(member)) => Some(*member),
            _ => None,
        };
        self.members.push((name, member));
    }

    pub(super) fn depth(&self) -> usize {
        self.members.len()
    }

    pub(super) fn leave(&mut self, depth: usize) {
        self.members.truncate(depth);
    }
}
