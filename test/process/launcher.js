// Preloaded into a service: it looks to itself as if it ran in an app, whose executable starts the app when it is run.
process.execPath = process.env.LAUNCHER
if (process.env.ELECTRON_RUN_AS_NODE) Object.defineProperty(process.versions, 'electron', { value: '40.0.0', enumerable: true })
