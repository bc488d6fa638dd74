//! What upstream tools said of themselves.

use provost_core::{
    call::Digest,
    ports::{Pinned, Store, ToolPin},
};
use serde_json::json;

use crate::{making::*, place::Place};

crate::contract!(
    a_tool_is_remembered_as_it_was_first_seen,
    only_the_pin_that_was_shown_is_replaced,
    one_of_two_who_accept_wins,
);

fn pin(server: &str, tool: &str, description: &str) -> ToolPin {
    let definition = json!({"name": tool, "description": description});
    ToolPin {
        server: server.to_owned(),
        tool: tool.to_owned(),
        digest: Digest::of(&definition),
        definition: definition.to_string(),
        at: START,
        by: None,
    }
}

async fn notes(store: &dyn Store) -> Vec<String> {
    let mut notes = Vec::new();
    for chain in store.chains().await.unwrap() {
        let records = store.chain_records(&chain.chain, 0, 100).await.unwrap();
        notes.extend(records.into_iter().map(|record| record.unwrap().body));
    }
    notes
}

fn about<'n>(notes: &'n [String], text: &str) -> Vec<&'n String> {
    notes.iter().filter(|note| note.contains(text)).collect()
}

async fn a_tool_is_remembered_as_it_was_first_seen(place: &Place) {
    let store = place.open().await;
    let first = vec![pin("fs", "write", "é \"a\""), pin("fs", "Read", "b")];
    let added = store.pin_tools(first.clone(), note("first seen"));
    assert_eq!(added.await.unwrap(), 2);
    let again = vec![pin("fs", "write", "other")];
    assert_eq!(store.pin_tools(again, note("not new")).await.unwrap(), 0);
    store
        .pin_tools(vec![pin("gh", "write", "c")], note("first seen"))
        .await
        .unwrap();
    store.close().await;

    let store = place.open().await;
    let mut expected = first;
    expected.reverse();
    assert_eq!(store.tool_pins("fs").await.unwrap(), expected);
    assert_eq!(store.tool_pins("gh").await.unwrap().len(), 1);
    assert_eq!(store.tool_pins("nobody").await.unwrap(), []);
    let notes = notes(&*store).await;
    assert_eq!(about(&notes, "first seen").len(), 2);
    assert_eq!(about(&notes, "not new").len(), 0);
    verify(&*store).await.unwrap();
}

async fn only_the_pin_that_was_shown_is_replaced(place: &Place) {
    let store = place.open().await;
    let (old, mut new) = (pin("fs", "write", "a"), pin("fs", "write", "b"));
    new.by = Some("human:alice".to_owned());
    let trust = |instead_of| store.trust_tool(new.clone(), instead_of, note("trusted"));
    assert_eq!(trust(old.digest).await.unwrap(), Pinned::No);
    store
        .pin_tools(vec![old.clone()], note("first seen"))
        .await
        .unwrap();
    assert_eq!(trust(new.digest).await.unwrap(), Pinned::No);
    assert_eq!(
        store.tool_pins("fs").await.unwrap(),
        std::slice::from_ref(&old)
    );
    assert_eq!(trust(old.digest).await.unwrap(), Pinned::Yes);
    assert_eq!(store.tool_pins("fs").await.unwrap(), [new.clone()]);
    assert_eq!(trust(old.digest).await.unwrap(), Pinned::No);
    assert_eq!(about(&notes(&*store).await, "trusted").len(), 1);
}

async fn one_of_two_who_accept_wins(place: &Place) {
    let store = place.open().await;
    let old = pin("fs", "write", "a");
    store
        .pin_tools(vec![old.clone()], note("first seen"))
        .await
        .unwrap();
    let accept = |description| {
        let new = pin("fs", "write", description);
        store.trust_tool(new, old.digest, note("trusted"))
    };
    let (one, other) = tokio::join!(accept("b"), accept("c"));
    let won = [one.unwrap(), other.unwrap()];
    assert_eq!(won.iter().filter(|won| **won == Pinned::Yes).count(), 1);
    assert_eq!(about(&notes(&*store).await, "trusted").len(), 1);
}
