import { flushCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildApp, type App } from './app.ts'
import { systemClock } from './services/lib/clock.ts'
import { readHandOver, requirePipe } from './services/config/stdin-secrets.ts'
import { createStandardOutput } from './services/log/standard-output.ts'
import { watchTerminal } from './services/log/terminal.ts'
import { readOptions } from './settings.ts'
import { createExit } from './services/process/orderly-exit.ts'
import { findParent, untilGone } from './services/process/parent-watch.ts'
import { explainStart } from './services/lib/start-error.ts'
import { identityOf, type Holder } from './services/process/process-identity.ts'
import { writeInstance } from './services/store/instance-file.ts'
import { VERSION } from './services/lib/version.ts'

const PORT = 3001
/** The shell expects an end within 5 s. */
const CLOSE_MS = 4_500
const AWAKE_MS = 60_000
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
  let input: { ended: Promise<void>, parent?: Holder } | undefined
  const options = await readOptions(process.argv.slice(2), process.env, async () => {
    requirePipe()
    const { handOver, ended } = await readHandOver({ input: process.stdin, clock: systemClock })
    process.stdin.unref()
    // Most likely it holds the other end, which tells the next start that this service is about to end.
    input = { ended, parent: await identityOf(process.ppid) }
    return handOver
  })
  if (typeof options === 'string') {
    output.stdout.write(`${options}\n`)
    if (!await output.stdout.flush(Infinity)) process.exitCode = 74
    return
  }

  const { host, port: chosen, parentPid } = options
  const parent = parentPid === undefined ? undefined : await findParent(parentPid)
  const home = resolve(options.home ?? join(homedir(), '.local-agent'))
  // The clock keeps no process alive, and a start that waits for another service may have nothing else to do.
  const awake = setInterval(() => {}, AWAKE_MS)
  const build = () =>
    buildApp({
      ...options,
      home,
      cwd: process.cwd(),
      log: output.stderr,
      parent: parent ?? input?.parent,
      ending: exit.signal,
      replaced: () => {
        beginAnew().catch(fail)
      }
    })
  const service: { building?: Promise<App> } = {}
  const exit = createExit({
    clock: systemClock,
    limitMs: CLOSE_MS,
    say,
    flush: () => output.flush(FLUSH_LOG_MS),
    async close () {
      const app = await service.building?.catch(() => undefined)
      await app?.close()
    }
  })
  const first = build()
  service.building = first
  reloadOnHangUp(() => service.building ?? first, exit)
  if (parent) untilGone(parent, systemClock).then(() => exit.end(`Process ${parent.pid}, given with --parent-pid, has ended`), fail)
  void input?.ended.then(() => exit.end('Standard input has ended'))

  async function serve (building: Promise<App>, port?: number): Promise<App | undefined> {
    try {
      const app = await building
      if (exit.signal.aborted) return
      await app.listen({ host, port: port ?? chosen ?? app.config.current.port ?? PORT })
      if (!exit.signal.aborted) leaveAddress(app, home)
      return app
    } catch (error) {
      if (exit.signal.aborted) return
      exit.uninstall()
      await building.then((app) => app.close(), () => {})
      throw error
    }
  }

  /** All data were replaced: the service goes on with the new ones, where it was. */
  async function beginAnew () {
    const old = await (service.building ?? first)
    const { port } = old.server.address() as { port: number }
    service.building = old.close().then(build)
    await serve(service.building, port)
  }

  const app = await serve(first).finally(() => clearInterval(awake))
  if (app) announce(app)
}

/** SIGHUP ends the service when its terminal has hung up; any other SIGHUP reloads the configuration. */
function reloadOnHangUp (building: () => Promise<App>, exit: ReturnType<typeof createExit>) {
  const hangUp = () => {
    if (terminal.hungUp()) exit.end('The terminal has hung up')
    return exit.signal.aborted
  }
  process.on('SIGHUP', () => {
    if (hangUp()) return
    setTimeout(hangUp, LATE_HANG_UP_MS).unref()
    building().then(async (app) => {
      await app.config.reload().then(() => app.log.info('config.json was reloaded'), (error) => app.log.error(error.message))
    }, () => {})
  })
}

/** For others who start the service with this directory, and for whoever looks for it. */
function leaveAddress (app: App, dir: string) {
  try {
    writeInstance(dir, { url: urlOf(app).url, pid: process.pid, version: VERSION, startedAt: Math.round(performance.timeOrigin) })
  } catch (error) {
    app.log.warn({ err: error }, 'instance.json could not be written')
  }
}

function urlOf (app: App) {
  const { address, port, family } = app.server.address() as { address: string, port: number, family: string }
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`, port }
}

/** One line on stdout that the shell waits for. */
function announce (app: App) {
  output.stdout.write(JSON.stringify({ event: 'ready', ...urlOf(app), pid: process.pid, version: VERSION }) + '\n')
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
