//! `rmcp`'s client, with its own transports, on a thread of its own.

use std::{
    collections::HashMap,
    sync::mpsc::{self, Receiver},
    thread::{self, JoinHandle},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        CallToolRequest, CallToolRequestParams, ClientConfig, ClientRequest, CompleteRequestParams,
        GetPromptRequestParams, ProgressNotificationParam, ProgressToken, ProtocolVersion,
        ReadResourceRequestParams, ServerResult,
    },
    service::{
        ClientLifecycleMode, ClientServiceExt as _, NotificationContext, PeerRequestOptions,
        RequestHandle, RunningService, ServiceError,
    },
    transport::{
        StreamableHttpClientTransport, TokioChildProcess,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::{
    process::Command,
    runtime,
    sync::{
        mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
        watch,
    },
};

use super::Place;

pub(super) fn start(
    mode: String,
    place: Place,
) -> (UnboundedSender<Value>, Receiver<String>, JoinHandle<()>) {
    let (steps, taken) = unbounded_channel();
    let (answers, told) = mpsc::channel();
    let thread = thread::spawn(move || {
        // One thread, so that what is heard is heard in order.
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(async {
            let mut driver = Driver::connect(&mode, place).await;
            driver.drive(taken, answers).await;
            driver.client.close().await.unwrap();
        });
    });
    (steps, told, thread)
}

/// What was heard beside answers.
#[derive(Default)]
struct Heard {
    progress: Vec<ProgressNotificationParam>,
    logs: Vec<Value>,
}

struct Ears {
    config: ClientConfig,
    heard: watch::Sender<Heard>,
}

type Context = NotificationContext<RoleClient>;

#[expect(deprecated, reason = "servers log as long as clients listen")]
impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: Context) {
        self.heard
            .send_modify(|heard| heard.progress.push(params.clone()));
    }

    async fn on_logging_message(
        &self,
        params: rmcp::model::LoggingMessageNotificationParam,
        _: Context,
    ) {
        let log = serde_json::to_value(params).unwrap();
        self.heard.send_modify(|heard| heard.logs.push(log));
    }
}

struct Driver {
    client: RunningService<RoleClient, Ears>,
    heard: watch::Receiver<Heard>,
    started: HashMap<String, RequestHandle<RoleClient>>,
}

type Done = Result<Value, ServiceError>;

impl Driver {
    async fn connect(mode: &str, place: Place) -> Self {
        let (told, heard) = watch::channel(Heard::default());
        let (config, lifecycle) = manner(mode);
        let ears = Ears {
            config,
            heard: told,
        };
        let client = match place {
            Place::Command(words) => {
                let mut command = Command::new(&words[0]);
                command.args(&words[1..]);
                let transport = TokioChildProcess::new(command).unwrap();
                ears.serve_with_lifecycle(transport, lifecycle).await
            }
            Place::Url { url, key } => {
                let mut config = StreamableHttpClientTransportConfig::with_uri(url);
                config.auth_header = key;
                let transport = StreamableHttpClientTransport::from_config(config);
                ears.serve_with_lifecycle(transport, lifecycle).await
            }
        };
        Self {
            client: client.unwrap(),
            heard,
            started: HashMap::new(),
        }
    }

    async fn drive(&mut self, mut steps: UnboundedReceiver<Value>, answers: mpsc::Sender<String>) {
        while let Some(step) = steps.recv().await {
            let answer = match self.step(&step).await {
                Ok(answer) => answer,
                Err(error) => json!({"failed": error.to_string()}),
            };
            if answers.send(answer.to_string()).is_err() {
                return;
            }
        }
    }

    async fn step(&mut self, step: &Value) -> Done {
        let client = &self.client;
        match step["do"].as_str().unwrap() {
            "hello" => {
                let info = client.peer_info().unwrap();
                let name = info.server_info.as_ref().map(|info| &info.name);
                Ok(json!({"version": info.protocol_version, "name": name}))
            }
            "list" => {
                let tools = client.list_all_tools().await?;
                let names: Vec<_> = tools.iter().map(|tool| &tool.name).collect();
                Ok(json!({"tools": names}))
            }
            "tools" => Ok(json!({"tools": client.list_all_tools().await?})),
            "resources" => Ok(json!({"resources": client.list_all_resources().await?})),
            "templates" => Ok(json!({"templates": client.list_all_resource_templates().await?})),
            "prompts" => Ok(json!({"prompts": client.list_all_prompts().await?})),
            "read" => {
                let params = ReadResourceRequestParams::new(step["uri"].as_str().unwrap());
                let read = client.read_resource(params).await?;
                Ok(json!({"contents": read.contents}))
            }
            "prompt" => {
                let params = json!({"name": step["name"], "arguments": step["arguments"]});
                let params: GetPromptRequestParams = read(&params);
                let prompt = client.get_prompt(params).await?;
                Ok(json!({"messages": prompt.messages}))
            }
            "complete" => {
                let params = json!({"ref": step["ref"], "argument": step["argument"]});
                let params: CompleteRequestParams = read(&params);
                Ok(json!(client.complete(params).await?.completion))
            }
            "level" => self.level(&step["level"]).await,
            "logged" => {
                let heard = self.heard.wait_for(|heard| !heard.logs.is_empty()).await;
                Ok(heard.unwrap().logs[0].clone())
            }
            "call" => {
                let call = self.begin(step).await?;
                self.end(call).await
            }
            "start" => {
                let call = self.begin(step).await?;
                self.started.insert(named(step), call);
                Ok(json!({"started": step["as"]}))
            }
            "progress" => {
                let token = self.started[&named(step)].progress_token.clone();
                let heard = self.heard.wait_for(|heard| !of(heard, &token).is_empty());
                Ok(json!({"progress": of(&heard.await.unwrap(), &token)}))
            }
            "wait" => {
                let call = self.started.remove(&named(step)).unwrap();
                self.end(call).await
            }
            "cancel" => {
                let call = self.started.remove(&named(step)).unwrap();
                call.cancel(Some("not wanted any more".to_owned())).await?;
                Ok(json!({"cancelled": true}))
            }
            other => panic!("no such step: {other}"),
        }
    }

    #[expect(deprecated, reason = "servers log as long as clients listen")]
    async fn level(&self, level: &Value) -> Done {
        let params = rmcp::model::SetLevelRequestParams::new(read(level));
        self.client.set_level(params).await?;
        Ok(json!({}))
    }

    async fn begin(&self, step: &Value) -> Result<RequestHandle<RoleClient>, ServiceError> {
        let params: CallToolRequestParams =
            read(&json!({"name": step["tool"], "arguments": step["arguments"]}));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        self.client.send_cancellable_request(request, options).await
    }

    async fn end(&self, call: RequestHandle<RoleClient>) -> Done {
        let token = call.progress_token.clone();
        let ServerResult::CallToolResult(result) = call.await_response().await? else {
            return Err(ServiceError::UnexpectedResponse);
        };
        let texts = result.content.iter().filter_map(|block| block.as_text());
        let text: String = texts.map(|text| &*text.text).collect();
        let progress = of(&self.heard.borrow(), &token);
        let is_error = result.is_error == Some(true);
        Ok(json!({
            "text": text,
            "is_error": is_error,
            "content": result.content,
            "structured": result.structured_content,
            "progress": progress,
        }))
    }
}

fn manner(mode: &str) -> (ClientConfig, ClientLifecycleMode) {
    let stateless = || vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode {
        "auto" => ClientLifecycleMode::Auto {
            preferred_versions: stateless(),
            legacy_version: None,
        },
        "2026-07-28" => ClientLifecycleMode::Discover {
            preferred_versions: stateless(),
        },
        _ => ClientLifecycleMode::Initialize,
    };
    let version = match mode {
        "auto" | "legacy" | "2026-07-28" => ProtocolVersion::LATEST_WITH_INITIALIZE,
        version => read(&json!(version)),
    };
    let config = ClientConfig::default().with_protocol_version(version);
    (config, lifecycle)
}

fn of(heard: &Heard, token: &ProgressToken) -> Vec<Value> {
    let progress = heard.progress.iter();
    let progress = progress.filter(|one| one.progress_token == *token);
    progress
        .map(|one| json!([one.progress, one.message]))
        .collect()
}

fn named(step: &Value) -> String {
    step["as"].as_str().unwrap().to_owned()
}

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_json::from_value(value.clone()).unwrap()
}
