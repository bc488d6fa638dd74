//! A relay in front of a server, which can fall silent: connections stay open, and nothing passes.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
};

#[derive(Clone, Default)]
struct Valve(Arc<(Mutex<bool>, Condvar)>);

impl Valve {
    fn set(&self, shut: bool) {
        *self.0.0.lock().unwrap() = shut;
        self.0.1.notify_all();
    }

    /// Returns when things may pass.
    fn pass(&self) {
        let shut = self.0.0.lock().unwrap();
        drop(self.0.1.wait_while(shut, |shut| *shut).unwrap());
    }
}

pub(crate) struct Relay {
    pub(crate) addr: SocketAddr,
    valve: Valve,
}

impl Relay {
    pub(crate) fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (addr, valve) = (listener.local_addr().unwrap(), Valve::default());
        let shared = valve.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(server) else {
                    continue;
                };
                copy(&client, &server, &shared);
                copy(&server, &client, &shared);
            }
        });
        Self { addr, valve }
    }

    pub(crate) fn swallow(&self, shut: bool) {
        self.valve.set(shut);
    }
}

fn copy(from: &TcpStream, to: &TcpStream, valve: &Valve) {
    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let valve = valve.clone();
    thread::spawn(move || {
        let mut bytes = [0; 16 * 1024];
        while let Ok(count) = from.read(&mut bytes)
            && count > 0
        {
            valve.pass();
            if to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(std::net::Shutdown::Both);
    });
}
