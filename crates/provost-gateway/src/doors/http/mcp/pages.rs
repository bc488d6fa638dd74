//! Long lists, a page at a time. A cursor is the last name of the page before, so that it stays good when the
//! list changes.

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use serde_json::{Map, Value};

use super::message::Fault;

/// Enough for all but the largest: some clients read the first page only.
const PAGE: usize = 250;

/// The page that the parameters ask for, of items that are in the order of their names.
pub(super) fn page(
    member: &str,
    items: Vec<(String, Value)>,
    params: &Map<String, Value>,
) -> Result<Value, Fault> {
    let after = match params.get("cursor") {
        None | Some(Value::Null) => None,
        Some(cursor) => Some(read(cursor).ok_or_else(|| Fault::params("unknown cursor"))?),
    };
    let mut rest = items
        .into_iter()
        .filter(|(name, _)| after.as_ref().is_none_or(|after| name > after));
    let mut last = None;
    let mut page = Vec::new();
    for (name, item) in rest.by_ref().take(PAGE) {
        last = Some(name);
        page.push(item);
    }
    let mut result = Map::from_iter([(member.to_owned(), Value::Array(page))]);
    if let (Some(last), Some(_)) = (last, rest.next()) {
        result.insert("nextCursor".into(), write(&last).into());
    }
    Ok(Value::Object(result))
}

fn write(name: &str) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(name)
}

fn read(cursor: &Value) -> Option<String> {
    let name = BASE64_URL_SAFE_NO_PAD.decode(cursor.as_str()?).ok()?;
    String::from_utf8(name).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_are_the_whole_list() {
        let items = |count: usize| -> Vec<(String, Value)> {
            let names = (0..count).map(|n| format!("tool-{n:04}"));
            names.map(|name| (name.clone(), name.into())).collect()
        };
        for count in [0, 1, PAGE, PAGE + 1, 2 * PAGE + 1] {
            let (mut params, mut seen) = (Map::new(), Vec::new());
            loop {
                let page = page("tools", items(count), &params).unwrap();
                seen.extend(page["tools"].as_array().unwrap().clone());
                let Some(cursor) = page.get("nextCursor") else {
                    break;
                };
                params.insert("cursor".into(), cursor.clone());
            }
            let all: Vec<_> = items(count).into_iter().map(|(_, item)| item).collect();
            assert_eq!(seen, all, "{count}");
        }
        let params = Map::from_iter([("cursor".to_owned(), Value::from("?"))]);
        assert!(page("tools", items(1), &params).is_err());
    }
}
