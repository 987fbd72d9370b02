import { flushCompileCache } from 'node:module'
import { isatty } from 'node:tty'
import { buildApp, type App } from './app.ts'
import { systemClock } from './services/lib/clock.ts'
import { homeFolder } from './services/lib/home-folder.ts'
import { openPack } from './services/lib/pack.ts'
import { readStdinSecrets, requirePipe } from './services/config/stdin-secrets.ts'
import { prettyLine, watchTerminal } from './services/log/pretty-line.ts'
import { createServiceLog } from './services/log/service-log.ts'
import { createStandardOutput } from './services/log/sink.ts'
import { readOptions } from './settings.ts'
import { createExit } from './services/process/orderly-exit.ts'
import { filesSettled, isFileAwaited } from './services/process/thread-pool.ts'
import { findParent, waitForExit, identityOf, type Holder } from './services/process/process-identity.ts'
import { explainStart } from './services/lib/start-error.ts'
import { writeInstance } from './services/store/directory-lock.ts'
import { BUILD } from './services/lib/version.ts'

const PORT = 3001
/** The supervisor expects an exit within 5 s. */
const CLOSE_MS = 4_500
const KEEP_ALIVE_MS = 60_000
/** Delay after the ready line, when the first requests are probably handled. */
const FLUSH_CACHE_MS = 2_000
/** How long the exit waits for the last lines of the log, in milliseconds. */
const FLUSH_LOG_MS = 400
/** A shell that exits sends SIGHUP first and loses the terminal afterwards. */
const LATE_HANG_UP_MS = 1_000

const output = createStandardOutput({ clock: systemClock })
const readable = (line: string) => prettyLine(line, { colours: !process.env.NO_COLOR })
const log = createServiceLog({ stderr: output.stderr, clock: systemClock, ...(isatty(2) && { format: readable }) })
const terminal = watchTerminal()

async function main () {
  // Now, because another version may be unpacked here while this one runs.
  openPack()
  // Without a listener, Node opens its debugger to everyone on this machine.
  process.on('SIGUSR1', () => {})
  // A crash report is a readable file, and the environment holds keys.
  process.report.excludeEnv = true
  output.takeOver((ms) => log.fileHangs(ms) || isFileAwaited())
  let input: { ended: Promise<void>, parent?: Holder } | undefined
  const options = await readOptions(process.argv.slice(2), process.env, async () => {
    requirePipe()
    const { handOver, ended } = await readStdinSecrets({ input: process.stdin, clock: systemClock })
    process.stdin.unref()
    // The parent most likely holds the other end of standard input. Recording it tells the next start that this service will end
    // with it.
    input = { ended, parent: await identityOf(process.ppid) }
    return handOver
  })
  if (typeof options === 'string') {
    output.stdout.write(`${options}\n`)
    if (!await output.stdout.flush(Infinity)) process.exitCode = 74
    return
  }

  const { host, port: chosenPort, parentPid, isUnderNpx } = options
  const parent = parentPid === undefined ? undefined : await findParent(parentPid, isUnderNpx)
  const home = homeFolder(options.home)
  // The clock's timers do not keep the process alive, and waiting for another service to end may be the only activity.
  const keepAlive = setInterval(() => {}, KEEP_ALIVE_MS)
  // Once: later the folder may be gone.
  const cwd = process.cwd()
  const build = () =>
    buildApp({
      ...options,
      home,
      cwd,
      log,
      parent: parent ?? input?.parent,
      ending: exit.signal,
      replaced: () => {
        restart().catch(fail)
      }
    })
  const service: { building?: Promise<App> } = {}
  const exit = createExit({
    clock: systemClock,
    limitMs: CLOSE_MS,
    log: printError,
    flush: async () => {
      await Promise.all([output.flush(FLUSH_LOG_MS), log.flushFile(FLUSH_LOG_MS), filesSettled(systemClock, FLUSH_LOG_MS)])
    },
    async close () {
      const app = await service.building?.catch(() => undefined)
      await app?.close()
    }
  })
  const first = build()
  service.building = first
  reloadOnHangUp(() => service.building ?? first, exit)
  if (parent) waitForExit(parent, systemClock).then(() => exit.end(`Process ${parent.pid}, with which the service ends, has ended`), fail)
  void input?.ended.then(() => exit.end('Standard input has ended'))

  async function serve (building: Promise<App>, port?: number): Promise<App | undefined> {
    try {
      const app = await building
      if (exit.signal.aborted) return
      await app.listen({ host, port: port ?? chosenPort ?? app.config.current.port ?? PORT })
      if (!exit.signal.aborted) publishAddress(app, home)
      return app
    } catch (error) {
      if (exit.signal.aborted) return
      exit.uninstall()
      await building.then((app) => app.close(), () => {})
      throw error
    }
  }

  /** Restarts the service in this process on the same port, after all data was replaced. */
  async function restart () {
    const old = await (service.building ?? first)
    const { port } = old.server.address() as { port: number }
    service.building = old.close().then(build)
    await serve(service.building, port)
  }

  const app = await serve(first).finally(() => clearInterval(keepAlive))
  if (app) announce(app)
}

/** Handles SIGHUP: shuts the service down when its terminal has hung up, and reloads the configuration otherwise. */
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

/** Writes instance.json, for other starts with this directory and for clients that look for the service. */
function publishAddress (app: App, dir: string) {
  try {
    writeInstance(dir, { url: urlOf(app).url, pid: process.pid, version: BUILD, startedAt: Math.round(performance.timeOrigin) })
  } catch (error) {
    app.log.warn({ err: error }, 'instance.json could not be written')
  }
}

function urlOf (app: App) {
  const { address, port, family } = app.server.address() as { address: string, port: number, family: string }
  return { url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`, port }
}

/** Prints the ready line on stdout, which the supervisor waits for. */
function announce (app: App) {
  output.stdout.write(JSON.stringify({ event: 'ready', ...urlOf(app), pid: process.pid, version: BUILD }) + '\n')
  setTimeout(flushCompileCache, FLUSH_CACHE_MS).unref()
}

function printError (line: string) {
  output.stderr.write(`${line}\n`)
}

function fail (error: unknown) {
  const { message, exitCode } = explainStart(error)
  printError(message)
  process.exitCode = exitCode
  // Handles that a failed start left open must not keep the process alive.
  setTimeout(() => process.exit(), 1_000).unref()
}

if (process.argv[2] === 'test') import('./bin/test.ts').then(({ test }) => test(process.argv.slice(3))).catch(fail)
else main().catch(fail)
