//! The functions of the language: their names, how many arguments they take, and to which family
//! each belongs. Names are read in any case.

mod collections;
mod date;
mod format;
mod numbers;
mod text;

use super::value::{Meter, TooLong, Value};

macro_rules! functions {
    ($($variant:ident $name:literal $least:literal $most:literal $signature:literal)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Function { $($variant),* }

        impl Function {
            /// All of them, in the order of the reference.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            const fn spec(self) -> Spec {
                match self {
                    $(Self::$variant => Spec {
                        name: $name,
                        least: $least,
                        most: $most,
                        signature: concat!($name, "(", $signature, ")"),
                    }),*
                }
            }
        }
    };
}

struct Spec {
    name: &'static str,
    least: usize,
    most: usize,
    signature: &'static str,
}

/// `most` of a function that takes any number of arguments.
const ANY: usize = 255;

functions! {
    Abs "ABS" 1 1 "number"
    Add "ADD" 2 255 "number, number, …"
    Div "DIV" 2 2 "number, by"
    Max "MAX" 1 255 "number, number, …"
    Min "MIN" 1 255 "number, number, …"
    Mul "MUL" 2 255 "number, number, …"
    Round "ROUND" 1 2 "number, digits = 0"
    Sub "SUB" 2 2 "number, number"
    Join "JOIN" 1 2 "list, separator = \",\""
    Lower "LOWER" 1 1 "text"
    PadEnd "PAD_END" 2 3 "text, length, fill = \" \""
    PadStart "PAD_START" 2 3 "text, length, fill = \" \""
    Repeat "REPEAT" 2 2 "text, times"
    Replace "REPLACE" 3 3 "text, what, with"
    Split "SPLIT" 1 2 "text, separator = \",\""
    Substring "SUBSTRING" 2 3 "text, start, end"
    Trim "TRIM" 1 1 "text"
    Upper "UPPER" 1 1 "text"
    FormatCurrency "FORMAT_CURRENCY" 1 2 "amount, currency = \"USD\""
    FormatDate "FORMAT_DATE" 1 2 "date, pattern = \"YYYY-MM-DD\""
    Mask "MASK" 1 3 "text, keep = 4, with = \"*\""
    Ordinal "ORDINAL" 1 1 "number"
    IsArray "IS_ARRAY" 1 1 "value"
    IsNumber "IS_NUMBER" 1 1 "value"
    IsString "IS_STRING" 1 1 "value"
    ToNumber "TO_NUMBER" 1 1 "value"
    ToString "TO_STRING" 1 1 "value"
    ArrayFind "ARRAY_FIND" 2 3 "list, key, value"
    ArrayFindIndex "ARRAY_FIND_INDEX" 2 3 "list, key, value"
    Length "LENGTH" 1 1 "value"
    ObjectKeys "OBJECT_KEYS" 1 1 "object"
    ObjectMerge "OBJECT_MERGE" 1 255 "object, object, …"
    ObjectValues "OBJECT_VALUES" 1 1 "object"
    Coalesce "COALESCE" 1 255 "value, value, …"
    Now "NOW" 0 0 ""
    UniqueId "UNIQUE_ID" 0 0 ""
}

impl Function {
    /// By name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|function| function.name().eq_ignore_ascii_case(name))
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|function| function.name())
    }

    pub fn name(self) -> &'static str {
        self.spec().name
    }

    /// How to call it, for help texts and documentation.
    pub fn signature(self) -> &'static str {
        self.spec().signature
    }

    pub fn accepts(self, arguments: usize) -> bool {
        let Spec { least, most, .. } = self.spec();
        arguments >= least && (arguments <= most || most == ANY)
    }

    /// Takes numbers and makes one, or null where an argument is none.
    pub(super) fn is_numeric(self) -> bool {
        matches!(
            self,
            Self::Abs
                | Self::Add
                | Self::Div
                | Self::Max
                | Self::Min
                | Self::Mul
                | Self::Round
                | Self::Sub
                | Self::ToNumber
        )
    }

    /// Reads every argument as text (or a position in it), whatever it is.
    pub(super) fn is_textual(self) -> bool {
        matches!(
            self,
            Self::Lower
                | Self::Mask
                | Self::PadEnd
                | Self::PadStart
                | Self::Repeat
                | Self::Replace
                | Self::Split
                | Self::Substring
                | Self::Trim
                | Self::Upper
        )
    }

    /// "1 or 2 arguments"
    pub(super) fn arity(self) -> String {
        let Spec { least, most, .. } = self.spec();
        match (least, most) {
            (0, 0) => "no arguments".to_owned(),
            (1, 1) => "1 argument".to_owned(),
            (least, ANY) => format!("{least} or more arguments"),
            (least, most) if least == most => format!("{least} arguments"),
            (least, most) => format!("{least} {} {most} arguments", range_word(least, most)),
        }
    }
}

fn range_word(least: usize, most: usize) -> &'static str {
    if least + 1 == most { "or" } else { "to" }
}

/// The arguments of one call, missing ones being null.
pub(super) struct Args<'a>(std::vec::IntoIter<Value<'a>>);

impl<'a> Args<'a> {
    fn next(&mut self) -> Value<'a> {
        self.0.next().unwrap_or(Value::Null)
    }

    /// `None` if the argument was not given or is null.
    fn given(&mut self) -> Option<Value<'a>> {
        self.0.next().filter(|value| !value.is_null())
    }

    fn rest(self) -> impl Iterator<Item = Value<'a>> {
        self.0
    }

    fn left(&self) -> usize {
        self.0.len()
    }
}

/// Calls one of the strict functions; the lazy one and those that need the scope never get here.
pub(super) fn call<'a>(
    function: Function,
    args: Vec<Value<'a>>,
    meter: &Meter,
) -> Result<Value<'a>, TooLong> {
    let mut args = Args(args.into_iter());
    match function {
        Function::Abs | Function::Round => Ok(numbers::of_one(function, args)),
        Function::Add
        | Function::Sub
        | Function::Mul
        | Function::Div
        | Function::Max
        | Function::Min => Ok(numbers::of_many(function, args)),
        Function::Join => text::join(args, meter),
        Function::Lower | Function::Upper => text::change_case(function, args.next(), meter),
        Function::PadEnd | Function::PadStart => text::pad(function, args, meter),
        Function::Repeat => text::repeat(args, meter),
        Function::Replace => text::replace(args, meter),
        Function::Split => text::split(args, meter),
        Function::Substring => text::substring(args, meter),
        Function::Trim => text::trim(args.next(), meter),
        Function::ToString => text::to_string(args.next(), meter),
        Function::FormatCurrency => format::currency(args, meter),
        Function::FormatDate => date::format(args, meter),
        Function::Mask => format::mask(args, meter),
        Function::Ordinal => format::ordinal(args.next(), meter),
        Function::IsArray => Ok(Value::Bool(matches!(args.next(), Value::List(_)))),
        Function::IsNumber => Ok(Value::Bool(matches!(args.next(), Value::Number(_)))),
        Function::IsString => Ok(Value::Bool(matches!(args.next(), Value::Text(_)))),
        Function::ToNumber => Ok(Value::number(args.next().as_number())),
        Function::ArrayFind | Function::ArrayFindIndex => Ok(collections::find(function, args)),
        Function::Length => Ok(collections::length(&args.next())),
        Function::ObjectKeys | Function::ObjectValues => {
            collections::members(function, args.next(), meter)
        }
        Function::ObjectMerge => collections::merge(args, meter),
        Function::Coalesce | Function::Now | Function::UniqueId => Ok(Value::Null),
    }
}
