import { Writable } from 'node:stream'
import { buildApp, type App, type Settings } from '../app.ts'

interface Test {
  testdir (content?: object): string
  teardown (handler: () => unknown): unknown
}

/** The whole service on a fresh configuration directory, closed when the test ends. `config` becomes its config.json. */
export async function build (t: Test, { config, ...settings }: Partial<Settings> & { config?: object } = {}): Promise<App & { home: string, workspace_: string }> {
  const dir = t.testdir({ home: config ? { 'config.json': JSON.stringify(config) } : {}, work: {} })
  const home = settings.home ?? `${dir}/home`
  const app = await buildApp({ host: '127.0.0.1', cwd: `${dir}/work`, log: nowhere(), ...settings, home })
  t.teardown(() => app.close())
  return Object.assign(app, { home, workspace_: `${dir}/work` })
}

/** Logs go nowhere unless a test looks at them. */
function nowhere () {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
