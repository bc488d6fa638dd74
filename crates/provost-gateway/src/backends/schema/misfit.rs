//! What does not fit, in words: the place, and what is wrong there. Values are not repeated.

use std::borrow::Cow;

use boon::{ErrorKind, ValidationError};

/// More than this tells nobody more.
const MOST: usize = 5;
const LONGEST: usize = 200;

pub(super) fn told(error: &ValidationError<'_, '_>) -> String {
    let mut told = Vec::new();
    collect(error, &mut told);
    let more = told.len().saturating_sub(MOST);
    told.truncate(MOST);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.join("; ")
}

fn collect(error: &ValidationError<'_, '_>, told: &mut Vec<String>) {
    let is_group = matches!(
        error.kind,
        ErrorKind::Group
            | ErrorKind::Schema { .. }
            | ErrorKind::Reference { .. }
            | ErrorKind::AllOf
    );
    if is_group && !error.causes.is_empty() {
        for cause in &error.causes {
            collect(cause, told);
        }
        return;
    }
    let place = error.instance_location.to_string();
    let what = cut(&what(&error.kind));
    told.push(if place.is_empty() {
        what
    } else {
        format!("at `{}`: {what}", cut(&place))
    });
}

fn what(kind: &ErrorKind<'_, '_>) -> Cow<'static, str> {
    match kind {
        ErrorKind::FalseSchema => "is not taken".into(),
        ErrorKind::AnyOf | ErrorKind::OneOf(None) => "fits none of the alternatives".into(),
        ErrorKind::OneOf(Some(_)) => "fits more than one of the alternatives".into(),
        ErrorKind::Not => "is excluded".into(),
        ErrorKind::Pattern { want, .. } => format!("does not match the pattern '{want}'").into(),
        ErrorKind::Format { want, .. } => format!("is not a valid {want}").into(),
        ErrorKind::Minimum { want, .. } => format!("must be >={want}").into(),
        ErrorKind::Maximum { want, .. } => format!("must be <={want}").into(),
        ErrorKind::ExclusiveMinimum { want, .. } => format!("must be >{want}").into(),
        ErrorKind::ExclusiveMaximum { want, .. } => format!("must be <{want}").into(),
        ErrorKind::MultipleOf { want, .. } => format!("must be a multiple of {want}").into(),
        // The agent chose their names, too.
        ErrorKind::AdditionalProperties { got } if got.len() == 1 => {
            "1 property is not allowed".into()
        }
        ErrorKind::AdditionalProperties { got } => {
            format!("{} properties are not allowed", got.len()).into()
        }
        ErrorKind::PropertyName { .. } => "the name of a property is not allowed".into(),
        ErrorKind::ContentEncoding { want, .. } => format!("is not encoded as {want}").into(),
        ErrorKind::ContentMediaType { want, .. } => format!("is not of type {want}").into(),
        other => other.to_string().into(),
    }
}

fn cut(text: &str) -> String {
    let mut letters = text.chars();
    let mut short: String = letters.by_ref().take(LONGEST).collect();
    if letters.next().is_some() {
        short.push('…');
    }
    short
}
