//! Keeps the local agent service running, as `createSupervisor` of local-agent-service/supervisor does for apps in JavaScript.

use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{env::consts::EXE_SUFFIX, process, time::Duration};
use tauri::{async_runtime::Receiver, path::BaseDirectory, AppHandle, Manager};
use tauri_plugin_shell::{
    process::{CommandChild, CommandEvent},
    ShellExt,
};
use tokio::{
    select,
    sync::watch,
    time::{sleep_until, timeout, Instant},
};

/// A service that is not ready after this time counts as hung.
const READY: Duration = Duration::from_secs(30);
/// Time to end before the service is killed; the service itself needs at most 5 s.
const END: Duration = Duration::from_secs(6);
/// A service that was ready for this time is healthy: the restarts are counted anew.
const HEALTHY: Duration = Duration::from_secs(60);
/// Restarts without a healthy time between them.
const MAX_RESTARTS: u32 = 3;
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// What a page needs to call the service.
#[derive(Clone, Serialize)]
pub struct Address {
    url: String,
    token: String,
}

#[derive(Clone)]
enum State {
    Starting,
    /// The service listens at this URL.
    Ready(String),
    /// It is not started again; the sentence says why.
    Ended(String),
}

/// The line that the service prints when it listens.
#[derive(Deserialize)]
struct Line {
    event: String,
    url: String,
    port: u16,
}

struct Exit {
    code: Option<i32>,
    /// Where it listened, if it was ready.
    port: Option<u16>,
    was_healthy: bool,
    last_line: String,
}

pub struct Agent {
    token: String,
    passphrase: String,
    state: watch::Sender<State>,
    stopped: watch::Sender<bool>,
}

impl Agent {
    pub fn new(token: String, passphrase: String) -> Self {
        Agent { token, passphrase, state: watch::Sender::new(State::Starting), stopped: watch::Sender::new(false) }
    }

    /// Waits until the service is ready. Fails when it has ended and is not started again.
    pub async fn address(&self) -> Result<Address, String> {
        let mut state = self.state.subscribe();
        let known = state.wait_for(|state| !matches!(state, State::Starting)).await.map_err(|error| error.to_string())?;
        match &*known {
            State::Ready(url) => Ok(Address { url: url.clone(), token: self.token.clone() }),
            State::Ended(reason) => Err(reason.clone()),
            State::Starting => Err("The service is starting.".into()),
        }
    }

    pub fn has_ended(&self) -> bool {
        matches!(*self.state.borrow(), State::Ended(_))
    }

    /// Ends the service in order, and starts it no more.
    pub async fn stop(&self) {
        self.stopped.send_replace(true);
        let _ = self.state.subscribe().wait_for(|state| matches!(state, State::Ended(_))).await;
    }
}

/// Starts the service, and again after crashes: after 1, 2 and 4 seconds, and then no more. It is not started again after an
/// orderly end (0) and an exit that a restart cannot mend (64 to 98). It keeps its port, unless that was taken meanwhile (98).
pub async fn keep_running(app: AppHandle) {
    let agent = app.state::<Agent>();
    let mut stopped = agent.stopped.subscribe();
    let mut restarts = 0;
    let mut port = 0;
    let reason = loop {
        agent.state.send_replace(State::Starting);
        let exit = match start(&app, &agent, port) {
            Ok((events, child)) => run_once(&agent, events, child).await,
            Err(error) => Exit { code: None, port: None, was_healthy: false, last_line: error.to_string() },
        };
        if exit.was_healthy {
            restarts = 0;
        }
        let is_port_taken = exit.code == Some(98) && port != 0;
        port = if is_port_taken { 0 } else { exit.port.unwrap_or(port) };
        let is_final = matches!(exit.code, Some(0 | 64..=98)) && !is_port_taken;
        if *stopped.borrow() || is_final || restarts == MAX_RESTARTS {
            break format!("The local agent service has ended ({:?}). {}", exit.code, exit.last_line);
        }
        let _ = timeout(Duration::from_secs(1 << restarts), stopped.wait_for(|stopped| *stopped)).await;
        restarts += 1;
        if *stopped.borrow() {
            break "The local agent service was stopped.".into();
        }
    };
    agent.state.send_replace(State::Ended(reason));
}

/// Starts the sidecar among the app's resources. The secrets are on the first line of its standard input.
fn start(app: &AppHandle, agent: &Agent, port: u16) -> Result<(Receiver<CommandEvent>, CommandChild), Box<dyn std::error::Error + Send + Sync>> {
    let executable = app.path().resolve(format!("local-agent/local-agent{EXE_SUFFIX}"), BaseDirectory::Resource)?;
    let (events, mut child) = app
        .shell()
        // Node cannot load files of Windows' paths that begin with \\?\.
        .command(dunce::simplified(&executable))
        .args(["--port", &port.to_string(), "--stdin"])
        .env("LOCAL_AGENT_HOME", app.path().app_local_data_dir()?.join("agent"))
        .spawn()?;
    let secrets = json!({ "token": agent.token, "passphrase": agent.passphrase });
    // A service that fails at once does not read it: its exit says why.
    let _ = child.write(format!("{secrets}\n").as_bytes());
    Ok((events, child))
}

/// Watches one process of the service until its exit. Ends it when the app does, and kills it when that or its start takes too long.
async fn run_once(agent: &Agent, mut events: Receiver<CommandEvent>, child: CommandChild) -> Exit {
    let pid = child.pid();
    let mut stopped = agent.stopped.subscribe();
    // The service ends when its standard input is closed, which dropping the child does; so it also ends when this app is killed.
    let mut child = Some(child);
    let mut ready_at: Option<Instant> = None;
    let mut listens_at = None;
    let mut kill_at = Instant::now() + READY;
    let mut last_line = String::new();
    let code = loop {
        select! {
            event = events.recv() => match event {
                Some(CommandEvent::Stdout(line)) => {
                    let Ok(Line { event, url, port }) = serde_json::from_slice(&line) else { continue };
                    if event != "ready" || child.is_none() {
                        continue;
                    }
                    ready_at = Some(Instant::now());
                    kill_at = Instant::now() + FAR;
                    listens_at = Some(port);
                    agent.state.send_replace(State::Ready(url));
                }
                Some(CommandEvent::Stderr(line)) => {
                    last_line = String::from_utf8_lossy(&line).trim_end().to_string();
                    eprintln!("{last_line}");
                }
                Some(CommandEvent::Terminated(payload)) => break payload.code,
                Some(_) => {}
                None => break None,
            },
            _ = stopped.wait_for(|stopped| *stopped), if child.is_some() => {
                child = None;
                kill_at = Instant::now() + END;
            }
            _ = sleep_until(kill_at) => {
                kill(pid);
                kill_at = Instant::now() + FAR;
            }
        }
    };
    Exit { code, port: listens_at, was_healthy: ready_at.is_some_and(|at| at.elapsed() >= HEALTHY), last_line }
}

/// Kills a service that hangs. `CommandChild::kill` would need the child that was dropped to close its standard input.
fn kill(pid: u32) {
    let pid = pid.to_string();
    let (command, args) = if cfg!(windows) { ("taskkill", ["/F", "/PID", pid.as_str()]) } else { ("kill", ["-s", "KILL", pid.as_str()]) };
    let _ = process::Command::new(command).args(args).status();
}
