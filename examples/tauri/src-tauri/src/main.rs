//! The main process of a Tauri app: it starts the local agent service, keeps it running, and tells its window where it is.
//! README.md beside src-tauri says how the parts are packed.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod agent;

use agent::{Address, Agent};
use keyring::{Entry, Error::NoEntry};
use tauri::{async_runtime::spawn, Manager, RunEvent, State};

/// 32 random bytes, as text.
fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0u8; 32];
    getrandom::fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The passphrase of the data. It is kept in the system's keychain, and made once: without it the data cannot be read.
fn passphrase(service: &str) -> Result<String, Box<dyn std::error::Error>> {
    let entry = Entry::new(service, "passphrase")?;
    match entry.get_password() {
        Err(NoEntry) => {
            let made = random()?;
            entry.set_password(&made)?;
            Ok(made)
        }
        known => Ok(known?),
    }
}

/// Tells a page where the service listens, with the token for it. Waits while the service starts.
#[tauri::command]
async fn where_is_agent(agent: State<'_, Agent>) -> Result<Address, String> {
    agent.address().await
}

fn main() {
    tauri::Builder::default()
        .plugin(tauri_plugin_shell::init())
        .invoke_handler(tauri::generate_handler![where_is_agent])
        .setup(|app| {
            // Made anew at each start and never written: other programs of this machine cannot use the service.
            let token = random()?;
            let passphrase = passphrase(&app.config().identifier)?;
            app.manage(Agent::new(token, passphrase));
            spawn(agent::keep_running(app.handle().clone()));
            Ok(())
        })
        .build(tauri::generate_context!())
        .expect("the app cannot start")
        .run(|app, event| {
            let RunEvent::ExitRequested { api, code, .. } = event else { return };
            if app.state::<Agent>().has_ended() {
                return;
            }
            // The exit waits until the service has ended its runs and closed its store.
            api.prevent_exit();
            let app = app.clone();
            spawn(async move {
                app.state::<Agent>().stop().await;
                app.exit(code.unwrap_or(0));
            });
        });
}
