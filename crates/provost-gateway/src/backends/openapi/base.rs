//! Where the operations of a document are called.

use http::Uri;
use serde_json::Value;

use super::document::Document;

/// The configured URL, else the document's first server, else its `host` and `basePath`.
pub(super) fn of(document: &Document, configured: Option<&str>) -> Result<String, String> {
    let base = match configured {
        Some(url) => url.to_owned(),
        None if document.is_swagger() => swagger(document)?,
        None => server(document)?,
    };
    if base.contains(['?', '#', '{', '}']) {
        return Err("the URL of the backend must not have a query, a fragment or variables".into());
    }
    Ok(base.trim_end_matches('/').to_owned())
}

fn server(document: &Document) -> Result<String, String> {
    let server = document.root().pointer("/servers/0");
    let url = server
        .and_then(|server| server.get("url"))
        .and_then(Value::as_str)
        .unwrap_or("/");
    let mut url = url.to_owned();
    let variables = server
        .and_then(|server| server.get("variables"))
        .and_then(Value::as_object);
    for (name, variable) in variables.into_iter().flatten() {
        if let Some(default) = variable.get("default").and_then(Value::as_str) {
            url = url.replace(&format!("{{{name}}}"), default);
        }
    }
    if url.contains("://") {
        return Ok(url);
    }
    let location = document.location.as_ref().ok_or_else(|| {
        format!("the document's server `{url}` is relative, and the document is a file: set `backend_url`")
    })?;
    Ok(relative(location, &url))
}

fn swagger(document: &Document) -> Result<String, String> {
    let root = document.root();
    let text = |key: &str| root.get(key).and_then(Value::as_str);
    let location = document.location.as_ref();
    let host = text("host").or_else(|| location?.authority().map(http::uri::Authority::as_str));
    let host = host.ok_or("the document names no `host`, and is a file: set `backend_url`")?;
    let scheme = root.pointer("/schemes/0").and_then(Value::as_str);
    let scheme = scheme.or_else(|| location?.scheme_str()).unwrap_or("https");
    let path = text("basePath").unwrap_or_default();
    let slash = if path.is_empty() || path.starts_with('/') {
        ""
    } else {
        "/"
    };
    Ok(format!("{scheme}://{host}{slash}{path}"))
}

/// A relative reference against where the document was fetched (RFC 3986, 5.2).
fn relative(location: &Uri, reference: &str) -> String {
    let scheme = location.scheme_str().unwrap_or("https");
    if let Some(rest) = reference.strip_prefix("//") {
        return format!("{scheme}://{rest}");
    }
    let authority = location
        .authority()
        .map(http::uri::Authority::as_str)
        .unwrap_or_default();
    let folder = location
        .path()
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let folder = if reference.starts_with('/') {
        ""
    } else {
        folder
    };
    let mut segments: Vec<&str> = Vec::new();
    for segment in folder.split('/').chain(reference.split('/')) {
        match segment {
            "" | "." => {}
            ".." => {
                segments.pop();
            }
            name => segments.push(name),
        }
    }
    format!("{scheme}://{authority}/{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn base(
        head: &str,
        location: Option<&str>,
        configured: Option<&str>,
    ) -> Result<String, String> {
        let text = format!("{{{head}, \"paths\": {{}}}}");
        let document = Document::parse(text.as_bytes(), location.map(|uri| uri.parse().unwrap()))?;
        of(&document, configured)
    }

    #[test]
    fn bases_are_found_where_the_document_says() {
        let at = Some("http://docs.example:81/api/v2/openapi.json?x=1");
        for (head, location, configured, expected) in [
            (
                r#""openapi":"3.0.0""#,
                at,
                Some("http://b/x/"),
                Some("http://b/x"),
            ),
            (
                r#""openapi":"3.0.0","servers":[{"url":"https://s/v1"}]"#,
                at,
                None,
                Some("https://s/v1"),
            ),
            (
                r#""openapi":"3.1.0","servers":[{"url":"/v1"}]"#,
                at,
                None,
                Some("http://docs.example:81/v1"),
            ),
            (
                r#""openapi":"3.1.0","servers":[{"url":"v1"}]"#,
                at,
                None,
                Some("http://docs.example:81/api/v2/v1"),
            ),
            (
                r#""openapi":"3.1.0","servers":[{"url":"../v3/"}]"#,
                at,
                None,
                Some("http://docs.example:81/api/v3"),
            ),
            (
                r#""openapi":"3.1.0","servers":[{"url":"//o/v3/"}]"#,
                at,
                None,
                Some("http://o/v3"),
            ),
            (
                r#""openapi":"3.1.0""#,
                at,
                None,
                Some("http://docs.example:81"),
            ),
            (
                r#""openapi":"3.0.0","servers":[{"url":"https://{r}.s/","variables":{"r":{"default":"eu"}}}]"#,
                None,
                None,
                Some("https://eu.s"),
            ),
            (
                r#""openapi":"3.0.0","servers":[{"url":"https://{r}.s/"}]"#,
                None,
                None,
                None,
            ),
            (
                r#""openapi":"3.0.0","servers":[{"url":"/v1"}]"#,
                None,
                None,
                None,
            ),
            (
                r#""swagger":"2.0","host":"h:8","basePath":"/v2","schemes":["http"]"#,
                None,
                None,
                Some("http://h:8/v2"),
            ),
            (
                r#""swagger":"2.0","host":"h""#,
                None,
                None,
                Some("https://h"),
            ),
            (
                r#""swagger":"2.0","basePath":"v2""#,
                at,
                None,
                Some("http://docs.example:81/v2"),
            ),
            (r#""swagger":"2.0""#, None, None, None),
        ] {
            let found = base(head, location, configured);
            assert_eq!(found.as_deref().ok(), expected, "{head}: {found:?}");
        }
    }
}
