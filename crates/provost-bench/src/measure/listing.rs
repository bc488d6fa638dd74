//! A page of a thousand pending approvals, against writing a thousand values in memory as the same JSON.

use super::{ARGUMENTS, agent, median};
use crate::{
    Effort,
    gateway::{self, Gateway, NOWHERE, Stage},
    load::{Connection, Request},
    process::Server,
    report::{Report, Row, Target, Unit},
};

const PENDING: usize = 1000;
/// No dearer, but for what two medians of one machine differ by.
const TOLERANCE: f64 = 1.2;

pub(crate) async fn measure(
    report: &mut Report,
    stage: &Stage,
    effort: Effort,
) -> anyhow::Result<()> {
    let gateway = stage
        .gateway("listing", &gateway::http_tools(NOWHERE))
        .await?;
    ask_all(&gateway).await?;
    let mut list = Request::get("/approvals?status=pending", &gateway.admin()?);
    let mut ours = Connection::open(gateway.server.addr).await?;
    let page = ours.ask(&mut list).await?;
    anyhow::ensure!(page.status == 200, "the list is answered {}", page.status);
    let file = stage.file("page.json", &page.body)?;
    let bare = Server::bare("bare-list", &file.to_string_lossy()).await?;
    let mut theirs = Connection::open(bare.addr).await?;
    let same = theirs.ask(&mut list).await?;
    anyhow::ensure!(same.body == page.body, "the bare list differs");

    let requests = effort.rounds * 60;
    let (mut of_ours, mut of_bare) = (Vec::new(), Vec::new());
    for _ in 0..requests {
        of_ours.push(ours.time(&mut list).await?.as_secs_f64() * 1000.0);
        of_bare.push(theirs.time(&mut list).await?.as_secs_f64() * 1000.0);
    }
    let name = format!(
        "a page of {PENDING} approvals ({} kB), against its JSON",
        page.body.len() / 1000
    );
    report.add(Row::new(
        name,
        Unit::Milliseconds,
        median(of_ours),
        Some(median(of_bare)),
        Some(Target::RatioAtMost(TOLERANCE)),
    ));
    gateway.server.end().await
}

async fn ask_all(gateway: &Gateway) -> anyhow::Result<()> {
    let mut connection = Connection::open(gateway.server.addr).await?;
    let body = format!(r#"{{"tool":"mail.send","arguments":{ARGUMENTS}}}"#);
    for at in 0..PENDING {
        let headers = format!("{}prefer: respond-async\r\n", agent(at));
        let answer = connection
            .ask(&mut Request::post("/decide", &headers, &body))
            .await?;
        anyhow::ensure!(answer.status == 202, "asking is answered {}", answer.status);
    }
    Ok(())
}
