//! What pages load: one stylesheet, one script, one picture. Their addresses hold a hash of their content, so
//! browsers may keep them for good.

use std::sync::LazyLock;

use axum::{
    Extension,
    extract::Path,
    response::{IntoResponse as _, Response},
};
use http::header;
use provost_core::{ids::hex, key::KeyHash};

use super::error::PageError;
use crate::admission::OfProgram;

const STYLE: &str = include_str!("../../assets/console.css");
const SCRIPT: &str = include_str!("../../assets/console.js");
const ICON: &str = include_str!("../../assets/icon.svg");

pub(super) struct Asset {
    name: String,
    kind: &'static str,
    text: &'static str,
}

pub(super) struct Assets {
    style: Asset,
    script: Asset,
    icon: Asset,
}

static ASSETS: LazyLock<Assets> = LazyLock::new(|| Assets {
    style: asset("css", "text/css; charset=utf-8", STYLE),
    script: asset("js", "text/javascript; charset=utf-8", SCRIPT),
    icon: asset("svg", "image/svg+xml", ICON),
});

fn asset(ending: &str, kind: &'static str, text: &'static str) -> Asset {
    let hash = KeyHash::of(text).0;
    let short = hash.get(..8).map(hex).unwrap_or_default();
    Asset {
        name: format!("{short}.{ending}"),
        kind,
        text,
    }
}

impl Assets {
    pub(super) fn get() -> &'static Self {
        &ASSETS
    }

    pub(super) fn style(&self) -> &str {
        &self.style.name
    }

    pub(super) fn script(&self) -> &str {
        &self.script.name
    }

    pub(super) fn icon(&self) -> &str {
        &self.icon.name
    }
}

pub(super) async fn serve(Path(name): Path<String>) -> Result<Response, PageError> {
    let assets = Assets::get();
    let found = [&assets.style, &assets.script, &assets.icon]
        .into_iter()
        .find(|asset| asset.name == name)
        .ok_or_else(PageError::not_found)?;
    let headers = [
        (header::CONTENT_TYPE, found.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    Ok((Extension(OfProgram), headers, found.text).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p14_commands_and_diffs_are_drawn_from_left_to_right() {
        let rule = STYLE
            .lines()
            .find(|line| line.contains("direction: ltr; unicode-bidi: bidi-override;"));
        for shown in ["code", "pre", ".diff .text", "textarea.code"] {
            assert!(rule.is_some_and(|rule| rule.contains(shown)), "{shown}");
        }
    }
}
