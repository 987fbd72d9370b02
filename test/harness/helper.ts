import { Writable } from 'node:stream'
import { buildApp, type App } from '../../app.ts'
import type { Settings } from '../../settings.ts'
import { NO_BOX } from './boxes.ts'
import { sharedCompilers } from './shared-compilers.ts'

interface Test {
  testdir(content?: any): string
  teardown(handler: () => unknown): unknown
}

/** The whole service on a fresh configuration directory, closed when the test ends. `config` becomes its config.json. */
export async function build (
  t: Test,
  { config, ...settings }: Partial<Settings> & { config?: object } = {}
): Promise<App & { home: string, cwd: string }> {
  // Before the folder is made, or tap removes it under the service.
  if (!settings.home) t.teardown(() => {})
  // A second service of one test gets the first one's directory.
  const dir = settings.home ? '' : t.testdir({ home: config ? { 'config.json': JSON.stringify(config) } : {}, work: {} })
  const { home = `${dir}/home`, cwd = `${dir}/work` } = settings
  const parts = { compilers: sharedCompilers, boxes: NO_BOX, awakePrograms: [] }
  const app = await buildApp({ host: '127.0.0.1', log: nowhere(), ...parts, ...settings, home, cwd })
  t.teardown(() => app.close())
  return Object.assign(app, { home, cwd })
}

/** Logs go nowhere unless a test looks at them. */
function nowhere () {
  return new Writable({ write: (_chunk, _encoding, done) => done() })
}
