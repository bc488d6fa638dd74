//! JSON as somebody wrote it: what is not opened keeps its text, and what is opened keeps its order, so
//! that a change to a settings file is no larger than the change.

mod read;
mod write;

use serde_json::Value;

#[derive(Clone, Debug)]
pub(super) enum Json {
    /// Not looked into: the text as it came.
    Kept(String),
    Object(Vec<(String, Json)>),
    Array(Vec<Json>),
}

impl Json {
    pub(super) fn text(text: &str) -> Self {
        Self::Kept(Value::from(text).to_string())
    }

    pub(super) fn number(number: u32) -> Self {
        Self::Kept(number.to_string())
    }

    pub(super) fn truth() -> Self {
        Self::Kept(true.to_string())
    }

    pub(super) fn owned(members: Vec<(&str, Self)>) -> Self {
        let own = |(name, value): (&str, Self)| (name.to_owned(), value);
        Self::Object(members.into_iter().map(own).collect())
    }

    pub(super) fn object<const N: usize>(members: [(&str, Self); N]) -> Self {
        let members = members.map(|(name, value)| (name.to_owned(), value));
        Self::Object(members.into())
    }

    pub(super) fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::Array(texts.into_iter().map(Self::text).collect())
    }

    /// The same without order and spelling, for looking and comparing.
    pub(super) fn value(&self) -> Value {
        match self {
            Self::Kept(text) => serde_json::from_str(text).unwrap_or_default(),
            Self::Object(members) => members
                .iter()
                .map(|(name, value)| (name.clone(), value.value()))
                .collect(),
            Self::Array(items) => items.iter().map(Self::value).collect(),
        }
    }

    /// The members of an object, in their order.
    pub(super) fn members(&mut self) -> Option<&mut Vec<(String, Self)>> {
        self.open();
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    pub(super) fn items(&mut self) -> Option<&mut Vec<Self>> {
        self.open();
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// A member of an object, added at the end where it is missing. `None`: this is no object.
    pub(super) fn member(&mut self, name: &str, missing: Self) -> Option<&mut Self> {
        let members = self.members()?;
        // Of two members with one name, readers take the last.
        let at = members.iter().rposition(|(has, _)| has == name);
        let at = at.unwrap_or_else(|| {
            members.push((name.to_owned(), missing));
            members.len() - 1
        });
        members.get_mut(at).map(|(_, value)| value)
    }

    /// `None`: this is no object.
    pub(super) fn set(&mut self, name: &str, value: Self) -> Option<()> {
        *self.member(name, Self::Array(Vec::new()))? = value;
        Some(())
    }
}
