use tauri_build::{try_build, AppManifest, Attributes};

fn main() {
    // A command that is named here is refused to windows whose capability does not allow it.
    let manifest = AppManifest::new().commands(&["where_is_agent"]);
    try_build(Attributes::new().app_manifest(manifest)).expect("tauri.conf.json cannot be used");
}
