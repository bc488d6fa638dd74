//! Agents that take all they can get, on a gateway with few files: people still decide and stop.

use std::{
    fs,
    io::{BufReader, ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Barrier,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use serde_json::json;
use socket2::{Domain, Socket, Type};

use crate::{
    echo::Echo,
    harness::{FS_BOT, Gateway, POLICY, Site, eventually},
    http::{Answer, Client, read_head},
};

/// What a shell usually allows.
const FILES: usize = 1024;
const CALLERS: usize = 1100;

/// So many calls that ask a person, each on a connection of its own; nobody reads the answers yet.
fn crowd(agents: impl Iterator<Item = Client>) -> Vec<BufReader<TcpStream>> {
    agents
        .enumerate()
        .map(|(n, agent)| {
            let body = json!({"params": {"id": format!("call-{n}")}}).to_string();
            let sent = agent.open("POST", "/tool/payments.send", body.as_bytes());
            sent.unwrap()
        })
        .collect()
}

/// A person decides, an admin stops, and anybody sees that it is well.
fn people_are_served(gateway: &Gateway, then: impl Fn(&str)) {
    assert_eq!(gateway.health()["status"], "ok");
    let pending = gateway.alice().pending();
    let id = pending[0]["id"].as_str().unwrap();
    gateway.alice().approve(id).ok();
    then(pending[0]["params"]["id"].as_str().unwrap_or_default());
    gateway.admin().post("/stop", &json!({})).ok();
    assert!(gateway.alice().pending().is_empty());
}

/// The approved call is executed.
fn executed(echo: &Echo) -> impl Fn(&str) {
    |id| {
        eventually("the execution", || (echo.executions(id) == 1).then_some(()));
    }
}

/// How many were answered with each status.
fn statuses(callers: Vec<BufReader<TcpStream>>) -> Vec<(u16, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    for mut caller in callers {
        let answer = Answer::read(&mut caller).unwrap();
        if answer.status == 429 {
            assert!(answer.header("retry-after").is_some());
            let code = &answer.json()["error"]["code"];
            assert!(
                *code == "too_many_requests" || *code == "rate_limited",
                "{}",
                answer.text()
            );
        }
        *counts.entry(answer.status).or_default() += 1;
    }
    counts.into_iter().collect()
}

#[test]
fn p10_people_decide_and_stop_while_one_agent_has_all_it_may() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    let callers = crowd((0..CALLERS).map(|_| gateway.agent()));
    let waiting = eventually("the crowd", || {
        let waiting = gateway.health()["waiting"].as_u64().unwrap();
        (waiting >= 144).then_some(waiting)
    });
    assert_eq!(waiting, 144, "what one agent may have waiting");
    // Other agents are served, too.
    let other = gateway.client().agent("other");
    other.tool("notes.add", json!({"id": "other"})).ok();
    people_are_served(&gateway, executed(&echo));
    let statuses = statuses(callers);
    assert_eq!(
        statuses,
        [(200, 1), (403, 143), (429, CALLERS - 144)],
        "one was approved, the others stopped"
    );
}

#[test]
fn p10_people_decide_and_stop_while_all_agents_have_all_they_may() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    // Agents that name themselves have as many names as they like.
    let callers = crowd((0..CALLERS).map(|n| {
        let name = format!("agent-{}", n % 25);
        gateway.client().agent(&name)
    }));
    eventually("the crowd", || {
        (gateway.health()["waiting"].as_u64().unwrap() >= 504).then_some(())
    });
    people_are_served(&gateway, executed(&echo));
    let statuses = statuses(callers);
    assert_eq!(statuses[0], (200, 1));
    assert!(statuses.iter().any(|(status, _)| *status == 429));
}

#[test]
fn p10_connections_that_say_nothing_make_room_for_people() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    gateway
        .agent()
        .tool_async("payments.send", json!({}))
        .is(202);
    let connect = || TcpStream::connect(gateway.addr).unwrap();
    let silent: Vec<_> = (0..CALLERS).map(|_| connect()).collect();
    let half = gateway.agent().head("POST", "/decide");
    let unfinished: Vec<_> = (0..CALLERS)
        .map(|_| {
            let mut stream = connect();
            // It may have been asked to leave already.
            let _ = stream.write_all(&half);
            stream
        })
        .collect();
    people_are_served(&gateway, |_| ());
    drop((silent, unfinished));
}

/// They ask for what everybody may have, all the time, and never rest for long.
#[test]
fn p10_connections_that_ask_all_the_time_make_room_for_people() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    gateway
        .agent()
        .tool_async("payments.send", json!({}))
        .is(202);
    let (client, done) = (gateway.client(), AtomicBool::new(false));
    // More than there are places, each asked on again within less than a second.
    let (threads, each) = (40, 20);
    let asked_once = Barrier::new(threads + 1);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut callers: Vec<_> = (0..each).map(|_| None).collect();
                let ask = |caller: &mut _| ask_health(&client, gateway.addr, caller);
                callers.iter_mut().for_each(ask);
                asked_once.wait();
                while !done.load(Relaxed) {
                    callers.iter_mut().for_each(ask);
                }
            });
        }
        asked_once.wait();
        // The others end either way.
        let serve = AssertUnwindSafe(|| people_are_served(&gateway, |_| ()));
        let served = catch_unwind(serve);
        done.store(true, Relaxed);
        served.unwrap();
    });
}

/// On the connection it has, or a new one.
fn ask_health(client: &Client, addr: SocketAddr, caller: &mut Option<TcpStream>) {
    if caller.is_none() {
        *caller = TcpStream::connect_timeout(&addr, Duration::from_millis(50)).ok();
    }
    let Some(stream) = caller else { return };
    let mut request = client.head("GET", "/health");
    request.extend(b"\r\n");
    let patience = Some(Duration::from_millis(20));
    let asked = stream
        .set_read_timeout(patience)
        .and_then(|()| stream.write_all(&request))
        .and_then(|()| stream.read(&mut [0; 4096]));
    match asked {
        Ok(read) if read > 0 => {}
        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
        Ok(_) | Err(_) => *caller = None,
    }
}

/// They ask for what everybody may have, and do not read it.
#[test]
fn p10_answers_that_strangers_do_not_read_make_room_for_people() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    gateway
        .agent()
        .tool_async("payments.send", json!({}))
        .is(202);
    let mut request = gateway.client().head("GET", "/openapi.json");
    request.extend(b"\r\n");
    let unread: Vec<_> = (0..CALLERS)
        .map(|_| {
            let mut stream = narrow(gateway.addr);
            // It may have been asked to leave already.
            let _ = stream.write_all(&request);
            stream
        })
        .collect();
    let began = Instant::now();
    people_are_served(&gateway, |_| ());
    // Whoever takes nothing for 30 seconds is cut off anyway.
    assert!(began.elapsed() < Duration::from_secs(20));
    drop(unread);
}

/// One key of a supervisor signs in to the console often, and each session follows the events as often as it can.
#[test]
fn p10_sessions_of_one_supervisor_leave_room_for_people() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    gateway
        .agent()
        .tool_async("payments.send", json!({}))
        .is(202);
    let streams: Vec<_> = (0..13)
        .flat_map(|_| {
            let session = session(&gateway, FS_BOT);
            session.get("/").ok();
            (0..60).map(move |_| session.open("GET", "/console/events", b"").unwrap())
        })
        .collect();
    people_are_served(&gateway, |_| ());
    let heads = streams
        .into_iter()
        .map(|mut it| read_head(&mut it).unwrap());
    let followed = heads.filter(|(status, _)| *status == 200).count();
    assert_eq!(followed, 16, "what one supervisor may have in progress");
}

/// A browser that is signed in.
fn session(gateway: &Gateway, key: &str) -> Client {
    let form = gateway
        .client()
        .with("content-type", "application/x-www-form-urlencoded")
        .with("origin", &gateway.url());
    let key = format!("key={key}");
    let signed_in = form.send("POST", "/console/login", key.as_bytes()).is(303);
    let cookie = signed_in.header("set-cookie").unwrap();
    let (cookie, _) = cookie.split_once(';').unwrap();
    gateway.client().with("cookie", cookie)
}

/// A connection on which the system takes next to nothing for whoever does not read.
fn narrow(addr: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::for_address(addr), Type::STREAM, None).unwrap();
    socket.set_recv_buffer_size(1).unwrap();
    socket.set_tcp_mss(1000).unwrap();
    socket.connect(&addr.into()).unwrap();
    socket.into()
}

/// Backends that answer late have a share of the files, and take no more.
#[test]
fn p10_people_stop_while_calls_to_backends_take_all_they_may() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    let share = 192;
    let callers: Vec<_> = (0..2 * share)
        .map(|n| {
            let agent = gateway.client().agent(&format!("agent-{}", n % 4));
            let body = json!({"params": {"id": format!("call-{n}")}}).to_string();
            agent.open("POST", "/tool/held.call", body.as_bytes())
        })
        .collect();
    eventually("the calls", || {
        (echo.all_executions().len() >= share).then_some(())
    });
    for _ in 0..20 {
        gateway
            .admin()
            .post("/stop", &json!({"agent": "other"}))
            .ok();
    }
    assert_eq!(echo.connections(), share);
    // Those that waited for their turn are made once others end.
    echo.release();
    let callers = callers.into_iter().map(Result::unwrap).collect();
    assert_eq!(statuses(callers), [(200, 2 * share)]);
}

/// Bodies that never come, by those without a key, keep nobody from signing in.
#[test]
fn p10_slow_bodies_of_strangers_leave_the_sign_in_page() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    let origin = format!("http://{}", gateway.addr);
    let form = "application/x-www-form-urlencoded";
    let form = gateway.client().with("content-type", form);
    let form = form.with("origin", &origin);
    let paths = [
        "/v1/telegram/webhook",
        "/stop",
        "/console/other",
        "/console/login",
    ];
    for path in paths {
        let slow: Vec<_> = (0..80)
            .map(|_| {
                let mut stream = TcpStream::connect(gateway.addr).unwrap();
                let mut request = form.head("POST", path);
                request.extend(b"content-length: 1000\r\n\r\n{");
                stream.write_all(&request).unwrap();
                stream
            })
            .collect();
        // They may not all have been read when the first of these is.
        for _ in 0..50 {
            gateway.client().get("/console/login").ok();
        }
        let key = format!("key={}", gateway.admin_key);
        form.send("POST", "/console/login", key.as_bytes()).is(303);
        drop(slow);
    }
}

#[test]
fn p10_bodies_that_stall_take_so_much_memory_and_no_more() {
    let echo = Echo::start();
    let site = Site::new(&echo, POLICY);
    let gateway = site.start_with_open_files(FILES);
    let part = vec![b' '; 1 << 20];
    let uploads: Vec<_> = (0..160)
        .map(|n| {
            let agent = gateway.client().agent(&format!("agent-{}", n % 4));
            let mut request = agent.head("POST", "/decide");
            request.extend(format!("content-length: {}\r\n\r\n", 4 << 20).bytes());
            request.extend(&part);
            agent.open_raw(&request).unwrap()
        })
        .collect();
    gateway
        .client()
        .agent("other")
        .tool_async("payments.send", json!({}))
        .is(202);
    people_are_served(&gateway, |_| ());
    // Agents may hold 128 MiB: whoever came with more was refused.
    let is_over = |upload: &BufReader<TcpStream>| {
        let stream = upload.get_ref();
        stream.set_nonblocking(true).unwrap();
        let peeked = stream.peek(&mut [0; 1]);
        stream.set_nonblocking(false).unwrap();
        !peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
    };
    eventually("the refusals", || {
        let refused = uploads.iter().filter(|upload| is_over(upload));
        (refused.count() >= 24).then_some(())
    });
    let (refused, held): (Vec<_>, Vec<_>) = uploads.into_iter().partition(is_over);
    // An answer may be lost where much that was sent is not read any more.
    let answers = refused.into_iter();
    let answers: Vec<_> = answers
        .filter_map(|mut upload| Answer::read(&mut upload).ok())
        .collect();
    assert!(!answers.is_empty());
    for answer in answers {
        answer.refused(429, "too_many_requests");
        assert!(answer.text().contains("held_bytes"), "{}", answer.text());
    }
    let status = fs::read_to_string(format!("/proc/{}/status", gateway.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.unwrap().trim().trim_end_matches(" kB");
    let peak: u64 = peak.parse().unwrap();
    assert!(peak < 400_000, "{peak} kB");
    drop(held);
}

#[test]
fn p10_an_agent_leaves_so_many_questions_and_no_more() {
    let echo = Echo::start();
    let limits = "approval: {max_pending_per_agent: 5}\n";
    let site = Site::new(&echo, &format!("{limits}{POLICY}"));
    let gateway = site.start();
    let leave = |n: u32| {
        let agent = gateway.agent().with("prefer", "respond-async");
        agent.tool("payments.send", json!({ "n": n }))
    };
    for n in 0..5 {
        leave(n).is(202);
    }
    let refused = leave(5);
    refused.refused(429, "rate_limited");
    assert!(refused.header("retry-after").is_some());
    assert!(refused.text().contains("max_pending_per_agent"));
    // Waiting for a moment and going is leaving, too.
    let short = gateway.agent();
    let short = short.post("/tool/payments.send?wait=1ms", &json!({"params": {"n": 6}}));
    short.refused(429, "rate_limited");
    leave(4).is(202);
    let id = gateway.alice().pending()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    gateway.alice().deny(&id).ok();
    leave(5).is(202);
}
