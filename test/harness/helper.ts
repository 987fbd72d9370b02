import { Writable } from 'node:stream'
import { buildApp, type App } from '../../app.ts'
import type { Settings } from '../../settings.ts'
import { NO_BOX } from './boxes.ts'
import { sharedCompilers } from './shared-compilers.ts'

interface Test {
  testdir(content?: any): string
  teardown(handler: () => unknown): unknown
}

/** Starts the whole service on a new configuration directory, and closes it when the test ends. `config` becomes the config.json. */
export async function build (
  t: Test,
  { config, ...settings }: Partial<Settings> & { config?: object } = {}
): Promise<App & { home: string, cwd: string }> {
  // Registered before the folder is made; otherwise tap removes the folder while the service runs.
  if (!settings.home) t.teardown(() => {})
  // A second service in the same test passes the directory of the first one.
  const dir = settings.home ? '' : t.testdir({ home: config ? { 'config.json': JSON.stringify(config) } : {}, work: {} })
  const { home = `${dir}/home`, cwd = `${dir}/work` } = settings
  const parts = { compilers: sharedCompilers, boxes: NO_BOX, awakePrograms: [] }
  const app = await buildApp({ host: '127.0.0.1', log: nowhere(), ...parts, ...settings, home, cwd })
  t.teardown(() => app.close())
  return Object.assign(app, { home, cwd })
}

/** Returns a stream that discards logs, for tests that do not read them. */
function nowhere () {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
