//! Every shape of the three agents, malformed ones included.

use serde_json::{Map, Value, json};

use super::{Dialect, Heard, Reply, What};

fn hear(dialect: Dialect, said: Value) -> Result<Heard, String> {
    let Value::Object(said) = said else {
        panic!("not an object")
    };
    dialect.hear(&said)
}

fn heard(dialect: Dialect, said: Value) -> What {
    hear(dialect, said).unwrap().what
}

/// What is asked: the tool and its arguments.
fn asked(dialect: Dialect, said: Value) -> (String, Value) {
    match heard(dialect, said) {
        What::Ask(act) => (act.tool, act.params.into()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn uses_of_tools_are_asked_about() {
    use Dialect::{ClaudeCode, Codex, Cursor};
    for (dialect, said, tool, params) in [
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash",
                "tool_input": {"command": "ls", "description": "look"}}),
            "claude.Bash",
            json!({"command": "ls", "description": "look"}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PermissionRequest", "tool_name": "mcp__files__read",
                "tool_input": {}}),
            "claude.mcp__files__read",
            json!({}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "permission_mode": "default",
                "tool_input": {"file_path": "/p/a", "content": "x"}}),
            "claude.Write",
            json!({"file_path": "/p/a", "content": "x"}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": "Edit",
                "tool_input": {"file_path": "/p/a", "old_string": "x", "new_string": "y"}}),
            "claude.Edit",
            json!({"file_path": "/p/a", "old_string": "x", "new_string": "y"}),
        ),
        (
            Codex,
            json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash",
                "tool_input": {"command": "ls", "description": "look"}}),
            "codex.Bash",
            json!({"command": "ls", "description": "look"}),
        ),
        (
            Codex,
            json!({"hook_event_name": "PreToolUse", "tool_name": "mcp__files__read", "tool_input": []}),
            "codex.mcp__files__read",
            json!({"input": []}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": ""}),
            "cursor.Shell",
            json!({"command": "ls"}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "beforeMCPExecution", "tool_name": "search",
                "tool_input": "not json"}),
            "cursor.mcp__search",
            json!({"input": "not json"}),
        ),
        (
            Codex,
            json!({"hook_event_name": "PreToolUse", "tool_name": "shell",
                "tool_input": {"command": ["ls", "-l"]}}),
            "codex.shell",
            json!({"command": ["ls", "-l"]}),
        ),
        (
            Codex,
            json!({"hook_event_name": "PreToolUse", "tool_name": "apply_patch",
                "tool_input": "*** Begin Patch"}),
            "codex.apply_patch",
            json!({"input": "*** Begin Patch"}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": "/p"}),
            "cursor.Shell",
            json!({"command": "ls", "cwd": "/p"}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "beforeMCPExecution", "tool_name": "search",
                "tool_input": "{\"q\":1}"}),
            "cursor.mcp__search",
            json!({"q": 1}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "beforeReadFile", "file_path": "/p/a", "content": "private"}),
            "cursor.Read",
            json!({"file_path": "/p/a"}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "preToolUse", "tool_name": "Write",
                "tool_input": {"file_path": "/p/a"}}),
            "cursor.Write",
            json!({"file_path": "/p/a"}),
        ),
    ] {
        assert_eq!(
            asked(dialect, said.clone()),
            (tool.to_owned(), params),
            "{said}"
        );
    }
}

#[test]
fn a_question_that_cannot_be_read_is_never_taken_for_another_event() {
    use Dialect::{ClaudeCode, Codex, Cursor};
    for (dialect, said) in [
        (ClaudeCode, json!({"hook_event_name": "PreToolUse"})),
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": 7, "tool_input": {}}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": "", "tool_input": {}}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": "a\u{7}b", "tool_input": {}}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash"}),
        ),
        (
            Codex,
            json!({"hook_event_name": "PreToolUse", "tool_name": "shell", "tool_input": null}),
        ),
        (Cursor, json!({"hook_event_name": "beforeShellExecution"})),
        (
            Cursor,
            json!({"hook_event_name": "beforeReadFile", "file_path": ["a"]}),
        ),
        (Cursor, json!({"hook_event_name": "beforeMCPExecution"})),
        (
            ClaudeCode,
            json!({"hook_event_name": "PermissionRequest", "tool_name": null, "tool_input": {}}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": "x".repeat(300), "tool_input": {}}),
        ),
        (
            ClaudeCode,
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": null}),
        ),
        (Codex, json!({"hook_event_name": "PermissionRequest"})),
        (
            Codex,
            json!({"hook_event_name": "PreToolUse", "tool_name": {}, "tool_input": {}}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "beforeShellExecution", "command": ["ls"]}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "beforeShellExecution", "command": ""}),
        ),
        (Cursor, json!({"hook_event_name": "beforeReadFile"})),
        (
            Cursor,
            json!({"hook_event_name": "beforeMCPExecution", "tool_name": "x"}),
        ),
        (
            Cursor,
            json!({"hook_event_name": "preToolUse", "tool_name": "Write"}),
        ),
    ] {
        let what = heard(dialect, said.clone());
        assert!(matches!(what, What::Unreadable(_)), "{said}: {what:?}");
    }
    for dialect in Dialect::ALL {
        for said in [
            json!({}),
            json!({"hook_event_name": 1}),
            json!({"hook_event_name": ""}),
            json!({"hook_event_name": null}),
            json!({"hook_event_name": ["PreToolUse"]}),
            json!({"hook_event_name": "Pre\u{0}ToolUse"}),
            json!({"hookEventName": "PreToolUse", "tool_name": "Bash", "tool_input": {}}),
        ] {
            assert!(hear(dialect, said).is_err());
        }
    }
}

#[test]
fn what_is_no_event_is_shown() {
    for (said, shown) in [
        (json!({}), "is missing"),
        (json!({"hook_event_name": null}), "is missing"),
        (json!({"hook_event_name": 5}), "is `5`"),
        (json!({"hook_event_name": ""}), "is `\"\"`"),
        (
            json!({"hook_event_name": "PreToolUse "}),
            "is `\"PreToolUse \"`",
        ),
        (json!({"hook_event_name": "a\u{0}b"}), "is `\"a\\u0000b\"`"),
    ] {
        let Value::Object(said) = said else { panic!() };
        let problem = Dialect::ClaudeCode.hear(&said).unwrap_err();
        assert!(problem.contains(shown), "{problem}");
    }
    let long = json!({"hook_event_name": "x".repeat(100_000)});
    let Value::Object(long) = long else { panic!() };
    assert!(Dialect::Cursor.hear(&long).unwrap_err().len() < 200);
}

#[test]
fn what_was_done_and_what_else_happens_is_heard() {
    use Dialect::{ClaudeCode, Codex, Cursor};
    let done = |response: Value| {
        heard(
            ClaudeCode,
            json!({"hook_event_name": "PostToolUse", "session_id": "s", "tool_use_id": "t1",
                "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": response}),
        )
    };
    let What::Done { act, error, size } = done(json!("four")) else {
        panic!()
    };
    assert_eq!((act.id.as_deref(), error, size), (Some("t1"), None, 4));
    let What::Done { error, .. } = done(json!({"is_error": true})) else {
        panic!()
    };
    assert!(error.is_some());

    let prompt = json!({"hook_event_name": "UserPromptSubmit", "prompt": "my password is x"});
    let What::Note(detail) = heard(ClaudeCode, prompt) else {
        panic!()
    };
    assert_eq!(detail, json!({"prompt_bytes": 16}));
    for (dialect, event) in [
        (ClaudeCode, "SessionStart"),
        (ClaudeCode, "SessionEnd"),
        (Cursor, "beforeSubmitPrompt"),
        (Codex, "SessionStart"),
        (Codex, "UserPromptSubmit"),
        (Cursor, "afterFileEdit"),
        (Cursor, "afterShellExecution"),
        (Cursor, "sessionStart"),
        (Cursor, "sessionEnd"),
        (Cursor, "stop"),
    ] {
        let what = heard(dialect, json!({"hook_event_name": event}));
        assert!(matches!(what, What::Note(_)), "{event}: {what:?}");
    }
    // What was done, told in a way that cannot be read, is noted as what it is: nothing is asked.
    for said in [
        json!({"hook_event_name": "PostToolUse"}),
        json!({"hook_event_name": "PostToolUse", "tool_name": 1, "tool_input": {}}),
    ] {
        assert_eq!(heard(ClaudeCode, said), What::Unknown);
    }
    let failed = json!({"hook_event_name": "PostToolUseFailure", "tool_name": "Bash",
        "tool_input": {}, "error": "exit 1"});
    let What::Done { error, size, .. } = heard(Codex, failed) else {
        panic!()
    };
    assert_eq!((error.as_deref(), size), (Some("exit 1"), 0));
    // Events are named exactly: another spelling is another event, and never a question.
    for (dialect, event) in [
        (ClaudeCode, "pretooluse"),
        (ClaudeCode, "preToolUse"),
        (ClaudeCode, "beforeShellExecution"),
        (Codex, "Stop"),
        (Cursor, "PreToolUse"),
        (Cursor, "beforeTabFileRead"),
    ] {
        let said = json!({"hook_event_name": event, "tool_name": "Bash", "tool_input": {}});
        assert_eq!(heard(dialect, said), What::Unknown, "{event}");
    }
    for dialect in Dialect::ALL {
        let future = json!({"hook_event_name": "SomethingNew", "tool_name": "Bash"});
        assert_eq!(heard(dialect, future), What::Unknown);
    }
}

#[test]
fn sessions_are_the_agents_own() {
    let said = json!({"hook_event_name": "SessionStart", "session_id": "abc"});
    let heard = hear(Dialect::ClaudeCode, said).unwrap();
    assert_eq!(heard.session.as_deref(), Some("abc"));
    let said = json!({"hook_event_name": "stop", "conversation_id": "c1"});
    let heard = hear(Dialect::Cursor, said).unwrap();
    assert_eq!(heard.session.as_deref(), Some("c1"));
}

#[test]
fn the_folder_is_where_the_agent_works() {
    use Dialect::{ClaudeCode, Codex, Cursor};
    for (dialect, said, folder) in [
        (ClaudeCode, json!({"cwd": "/p"}), Some("/p")),
        (Codex, json!({"cwd": "/p"}), Some("/p")),
        (ClaudeCode, json!({"cwd": 1}), None),
        (ClaudeCode, json!({}), None),
        (
            Cursor,
            json!({"cwd": "/p/sub", "workspace_roots": ["/p"]}),
            Some("/p"),
        ),
        (
            Cursor,
            json!({"cwd": "/p", "workspace_roots": []}),
            Some("/p"),
        ),
        (
            Cursor,
            json!({"cwd": "/p", "workspace_roots": ["/p", "/q"]}),
            None,
        ),
        (Cursor, json!({"workspace_roots": [7]}), None),
    ] {
        let mut said = said;
        said["hook_event_name"] = "stop".into();
        let heard = hear(dialect, said.clone()).unwrap();
        assert_eq!(heard.folder.as_deref(), folder, "{said}");
    }
}

#[test]
fn only_a_clear_answer_decides() {
    use Dialect::{ClaudeCode, Codex, Cursor};
    let pre = |decision: Value| json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": decision}});
    let permission = |behavior: Value| {
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
            "decision": {"behavior": behavior}}})
    };
    for (dialect, event, answer, decides) in [
        (ClaudeCode, "PreToolUse", pre("allow".into()), true),
        (Codex, "PreToolUse", pre("deny".into()), true),
        (
            ClaudeCode,
            "PermissionRequest",
            permission("allow".into()),
            true,
        ),
        (ClaudeCode, "PreToolUse", pre("ask".into()), false),
        (ClaudeCode, "PreToolUse", pre("defer".into()), false),
        (ClaudeCode, "PreToolUse", pre("ALLOW".into()), false),
        (ClaudeCode, "PreToolUse", pre(true.into()), false),
        (ClaudeCode, "PreToolUse", permission("allow".into()), false),
        (ClaudeCode, "PermissionRequest", pre("allow".into()), false),
        (ClaudeCode, "PreToolUse", json!({}), false),
        (
            ClaudeCode,
            "PreToolUse",
            json!({"permission": "allow"}),
            false,
        ),
        (ClaudeCode, "PreToolUse", json!("allow"), false),
        (
            Cursor,
            "beforeReadFile",
            json!({"permission": "deny"}),
            true,
        ),
        (
            Cursor,
            "beforeReadFile",
            json!({"permission": "ask"}),
            false,
        ),
        (Cursor, "beforeReadFile", json!({"continue": true}), false),
        (Cursor, "beforeReadFile", json!(null), false),
    ] {
        assert_eq!(dialect.decides(event, &answer), decides, "{event} {answer}");
    }
}

#[test]
fn p02_cursor_is_told_no_where_it_would_run_what_it_asked() {
    let other = Map::from_iter([("command".to_owned(), json!("ls"))]);
    let answer = |event: &str| Dialect::Cursor.reply(event, Reply::AllowInstead("yes", &other));
    assert_eq!(
        answer("preToolUse"),
        json!({"permission": "allow", "updated_input": {"command": "ls"}})
    );
    let told = "yes; not as asked, but with these arguments instead: {\"command\":\"ls\"}";
    for event in [
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
    ] {
        let denied = json!({"permission": "deny", "user_message": told, "agent_message": told});
        assert_eq!(answer(event), denied, "{event}");
    }
}

#[test]
fn each_agent_is_answered_in_its_own_words() {
    use Dialect::{ClaudeCode, Codex, Cursor};
    let pre = |decision: &str, reason: &str| {
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": decision, "permissionDecisionReason": reason}})
    };
    let allowed = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow"}}});
    let denied = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": "no", "interrupt": false}}});
    let other = Map::from_iter([("command".to_owned(), json!("ls"))]);
    for (dialect, event, reply, expected) in [
        (
            ClaudeCode,
            "PreToolUse",
            Reply::Allow("yes"),
            pre("allow", "yes"),
        ),
        (
            ClaudeCode,
            "PreToolUse",
            Reply::Deny("no"),
            pre("deny", "no"),
        ),
        (
            ClaudeCode,
            "PreToolUse",
            Reply::AllowInstead("yes", &other),
            json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
                "permissionDecision": "allow", "permissionDecisionReason": "yes",
                "updatedInput": {"command": "ls"}}}),
        ),
        (
            ClaudeCode,
            "PermissionRequest",
            Reply::AllowInstead("yes", &other),
            json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                "decision": {"behavior": "allow", "updatedInput": {"command": "ls"}}}}),
        ),
        (
            Codex,
            "PreToolUse",
            Reply::AllowInstead("yes", &other),
            pre(
                "deny",
                "yes; not as asked, but with these arguments instead: {\"command\":\"ls\"}",
            ),
        ),
        (Codex, "PreToolUse", Reply::Deny("no"), pre("deny", "no")),
        (
            ClaudeCode,
            "PermissionRequest",
            Reply::Allow("yes"),
            allowed.clone(),
        ),
        (Codex, "PermissionRequest", Reply::Allow("yes"), allowed),
        (ClaudeCode, "PermissionRequest", Reply::Deny("no"), denied),
        (
            ClaudeCode,
            "PreToolUse",
            Reply::Ask("down"),
            pre("ask", "down"),
        ),
        // Codex would go on.
        (Codex, "PreToolUse", Reply::Ask("down"), pre("deny", "down")),
        (Codex, "PermissionRequest", Reply::Ask("down"), json!({})),
        // There is no such answer: the person at the agent is asked when there is none.
        (
            ClaudeCode,
            "PermissionRequest",
            Reply::Ask("down"),
            json!({}),
        ),
        (
            Codex,
            "PermissionRequest",
            Reply::AllowInstead("yes", &other),
            json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
                "decision": {"behavior": "deny", "interrupt": false,
                    "message": "yes; not as asked, but with these arguments instead: {\"command\":\"ls\"}"}}}),
        ),
        (
            Cursor,
            "beforeShellExecution",
            Reply::Ask("down"),
            json!({"permission": "ask", "user_message": "down"}),
        ),
        // Where Cursor would not ask, it goes on.
        (
            Cursor,
            "preToolUse",
            Reply::Ask("down"),
            json!({"permission": "deny", "user_message": "down", "agent_message": "down"}),
        ),
        (
            Cursor,
            "beforeReadFile",
            Reply::Ask("down"),
            json!({"permission": "deny", "user_message": "down", "agent_message": "down"}),
        ),
        (
            Cursor,
            "preToolUse",
            Reply::Deny("no"),
            json!({"permission": "deny", "user_message": "no", "agent_message": "no"}),
        ),
        // A yes or no to what asks nothing is no answer.
        (ClaudeCode, "PostToolUse", Reply::Allow("yes"), json!({})),
        (ClaudeCode, "SessionStart", Reply::Deny("no"), json!({})),
        (Cursor, "afterFileEdit", Reply::Allow("yes"), json!({})),
        (ClaudeCode, "PostToolUse", Reply::Neutral, json!({})),
        (Codex, "SomethingNew", Reply::Neutral, json!({})),
        (
            Cursor,
            "beforeShellExecution",
            Reply::Allow("yes"),
            json!({"permission": "allow"}),
        ),
        (
            Cursor,
            "beforeMCPExecution",
            Reply::Deny("no"),
            json!({"permission": "deny", "user_message": "no", "agent_message": "no"}),
        ),
        (
            Cursor,
            "beforeSubmitPrompt",
            Reply::Neutral,
            json!({"continue": true}),
        ),
        (Cursor, "stop", Reply::Neutral, json!({})),
    ] {
        assert_eq!(dialect.reply(event, reply), expected, "{event}");
    }
}
