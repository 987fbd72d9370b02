import { flushCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildApp, type App } from './app.ts'
import { systemClock } from './services/clock/clock.ts'
import { createStandardOutput } from './services/log/standard.ts'
import { watchTerminal } from './services/log/terminal.ts'
import { readOptions } from './services/options.ts'
import { createExit } from './services/process/exit.ts'
import { explainStart } from './services/start-error.ts'
import { VERSION } from './services/version.ts'

const PORT = 3001
/** The shell expects an end within 5 s. */
const CLOSE_MS = 4_500
/** After ready, when the first requests are likely to be over. */
const FLUSH_CACHE_MS = 2_000
/** How long the end waits for the last lines of the log. */
const FLUSH_LOG_MS = 400
/** A shell that ends tells its jobs first and loses the terminal afterwards. */
const LATE_HANG_UP_MS = 1_000

const output = createStandardOutput({ clock: systemClock })
const terminal = watchTerminal()

async function main () {
  // A crash report is written where anybody may find it; the environment holds keys.
  process.report.excludeEnv = true
  output.takeOver()
  const options = readOptions(process.argv.slice(2), process.env)
  if (typeof options === 'string') {
    output.stdout.write(`${options}\n`)
    if (!await output.stdout.flush(Infinity)) process.exitCode = 74
    return
  }

  const { host, port: chosen } = options
  const home = resolve(options.home ?? join(homedir(), '.local-agent'))
  const build = () => buildApp({ ...options, home, cwd: process.cwd(), log: output.stderr, replaced: () => { beginAnew().catch(fail) } })
  const service = { building: build() }
  const ending = endWith(service)

  async function serve (port?: number): Promise<App | undefined> {
    const { building } = service
    try {
      const app = await building
      if (ending.begun) return
      await app.listen({ host, port: port ?? chosen ?? app.config.current.port ?? PORT })
      return app
    } catch (error) {
      if (ending.begun) return
      ending.uninstall()
      await building.then((app) => app.close(), () => {})
      throw error
    }
  }

  /** All data were replaced: the service goes on with the new ones, where it was. */
  async function beginAnew () {
    const old = await service.building
    const { port } = old.server.address() as { port: number }
    service.building = old.close().then(build)
    await serve(port)
  }

  const app = await serve()
  if (app) announce(app)
}

/**
 * Signals and errors that nobody caught close the service, also while it is still starting; so does the hang-up of its terminal.
 * Any other SIGHUP reloads its configuration.
 */
function endWith (service: { building: Promise<App> }) {
  const hangUp = () => {
    if (terminal.hungUp()) ending.end()
    return ending.begun
  }
  process.on('SIGHUP', () => {
    if (hangUp()) return
    setTimeout(hangUp, LATE_HANG_UP_MS).unref()
    service.building.then(async (app) => {
      await app.config.reload().then(() => app.log.info('config.json was reloaded'), (error) => app.log.error(error.message))
    }, () => {})
  })
  const ending = createExit({
    clock: systemClock,
    limitMs: CLOSE_MS,
    say,
    flush: () => output.flush(FLUSH_LOG_MS),
    async close () {
      const app = await service.building.catch(() => undefined)
      await app?.close()
    }
  })
  return ending
}

/** One line on stdout that the shell waits for. */
function announce (app: App) {
  const { address, port, family } = app.server.address() as { address: string, port: number, family: string }
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
  output.stdout.write(JSON.stringify({ event: 'ready', url, port, pid: process.pid, version: VERSION }) + '\n')
  setTimeout(flushCompileCache, FLUSH_CACHE_MS).unref()
}

function say (line: string) {
  output.stderr.write(`${line}\n`)
}

function fail (error: unknown) {
  const { message, exitCode } = explainStart(error)
  say(message)
  process.exitCode = exitCode
  // Whatever a failed start left open must not keep the process.
  setTimeout(() => process.exit(), 1_000).unref()
}

main().catch(fail)
