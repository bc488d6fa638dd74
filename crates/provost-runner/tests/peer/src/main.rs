//! An agent of the protocol's own crate: it asks once, and says what it was told. `peer-agent LOG` writes down
//! every line that it sends.

use std::{fs::File, io::Write as _, sync::Mutex};

use agent_client_protocol::{
    Agent, Client, LineDirection, Result, Stdio, on_receive_request,
    v1::{
        ConnectionTo, Responder,
        schema::{
            ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest,
            NewSessionResponse, PermissionOption, PermissionOptionKind, PromptRequest,
            PromptResponse, RequestPermissionOutcome, RequestPermissionRequest, SessionId,
            SessionNotification, SessionUpdate, StopReason, ToolCall, ToolCallStatus,
            ToolCallUpdate, ToolCallUpdateFields, ToolKind,
        },
    },
};

fn main() -> Result<()> {
    let log = File::create(std::env::args_os().nth(1).unwrap()).unwrap();
    futures::executor::block_on(serve(Mutex::new(log)))
}

async fn serve(log: Mutex<File>) -> Result<()> {
    let wires = Stdio::new().with_debug(move |line, direction| {
        if direction == LineDirection::Stdout {
            writeln!(log.lock().unwrap(), "{line}").unwrap();
        }
    });
    Agent
        .v1()
        .on_receive_request(
            async |hello: InitializeRequest,
                   answer: Responder<InitializeResponse>,
                   _: ConnectionTo<Client>| {
                answer.respond(InitializeResponse::new(hello.protocol_version))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |_: NewSessionRequest,
                   answer: Responder<NewSessionResponse>,
                   _: ConnectionTo<Client>| {
                answer.respond(NewSessionResponse::new("peer"))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async |asked: PromptRequest,
                   answer: Responder<PromptResponse>,
                   client: ConnectionTo<Client>| {
                let on = client.clone();
                // The handler holds up the connection: what waits does so beside it.
                client.spawn(async move {
                    turn(&on, &asked).await?;
                    answer.respond(PromptResponse::new(StopReason::EndTurn))
                })
            },
            on_receive_request!(),
        )
        .connect_to(wires)
        .await
}

async fn turn(client: &ConnectionTo<Client>, asked: &PromptRequest) -> Result<()> {
    let session = &asked.session_id;
    for block in &asked.prompt {
        says(client, session, block.clone())?;
    }
    let call = ToolCall::new("call", "list the files").kind(ToolKind::Execute);
    tell(client, session, SessionUpdate::ToolCall(call))?;
    let option = |id: &'static str, kind| PermissionOption::new(id, id, kind);
    let question = RequestPermissionRequest::new(
        session.clone(),
        ToolCallUpdate::new("call", ToolCallUpdateFields::new()),
        vec![
            option("never", PermissionOptionKind::RejectOnce),
            option("fine", PermissionOptionKind::AllowOnce),
        ],
    );
    let decided = client.send_request(question).block_task().await?;
    let told = match decided.outcome {
        RequestPermissionOutcome::Selected(selected) => selected.option_id.to_string(),
        other => format!("{other:?}"),
    };
    let done = ToolCallUpdateFields::new().status(ToolCallStatus::Completed);
    let done = ToolCallUpdate::new("call", done);
    tell(client, session, SessionUpdate::ToolCallUpdate(done))?;
    says(client, session, told.into())
}

fn says(client: &ConnectionTo<Client>, session: &SessionId, block: ContentBlock) -> Result<()> {
    let chunk = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
    tell(client, session, chunk)
}

fn tell(client: &ConnectionTo<Client>, session: &SessionId, update: SessionUpdate) -> Result<()> {
    client.send_notification(SessionNotification::new(session.clone(), update))
}
