import { flushCompileCache } from 'node:module'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import closeWithGrace from 'close-with-grace'
import { buildApp, type App } from './app.ts'
import { Aborted } from './services/abort.ts'
import { systemClock } from './services/clock/clock.ts'
import { readHandOver, requirePipe } from './services/hand-over.ts'
import { readOptions } from './services/options.ts'
import { findParent, untilGone } from './services/process/parent.ts'
import { explainStart } from './services/start-error.ts'
import { identityOf, type Holder } from './services/store/identity.ts'
import { writeInstance } from './services/store/instance.ts'
import { VERSION } from './services/version.ts'

const PORT = 3001
/** The shell expects an end within 5 s. */
const CLOSE_MS = 4_500
const AWAKE_MS = 60_000
/** After ready, when the first requests are likely to be over. */
const FLUSH_CACHE_MS = 2_000

async function main () {
  // A crash report is written where anybody may find it; the environment holds keys.
  process.report.excludeEnv = true
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
    process.stdout.write(`${options}\n`)
    return
  }
  // A shell that no longer listens is no reason to end.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => {})

  const { host, port: chosen, parentPid } = options
  const parent = parentPid === undefined ? undefined : await findParent(parentPid)
  const home = resolve(options.home ?? join(homedir(), '.local-agent'))
  // The clock keeps no process alive, and a start that waits for another service may have nothing else to do.
  const awake = setInterval(() => {}, AWAKE_MS)
  const told = new AbortController()
  const build = () => buildApp({ ...options, home, cwd: process.cwd(), parent: parent ?? input?.parent, ending: told.signal, replaced: () => { beginAnew().catch(fail) } })
  const service = { building: build(), told }
  const ending = endWith(service)
  if (parent) untilGone(parent, systemClock).then(() => ending.end(`Process ${parent.pid}, given with --parent-pid, has ended`), fail)
  input?.ended.then(() => ending.end('Standard input has ended'))

  async function serve (port?: number): Promise<App | undefined> {
    const { building } = service
    try {
      const app = await building
      if (told.signal.aborted) return
      await app.listen({ host, port: port ?? chosen ?? app.config.current.port ?? PORT })
      if (!told.signal.aborted) leaveAddress(app, home)
      return app
    } catch (error) {
      if (told.signal.aborted) return
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

  const app = await serve().finally(() => clearInterval(awake))
  if (app) announce(app)
}

/**
 * Signals and errors that nobody caught close the service, also while it is still starting, and so does `end`; SIGHUP reloads
 * its configuration.
 */
function endWith (service: { building: Promise<App>, told: AbortController }) {
  process.on('SIGHUP', () => {
    service.building.then(async (app) => {
      await app.config.reload().then(() => app.log.info('config.json was reloaded'), (error) => app.log.error(error.message))
    }, () => {})
  })
  let closing: Promise<void> | undefined
  async function closeOnce () {
    service.told.abort(new Aborted('shutdown'))
    const app = await service.building.catch(() => undefined)
    await app?.close()
  }
  function close (): Promise<void> {
    closing ??= closeOnce()
    return closing
  }
  const overdue = () => say(`The service did not close within ${CLOSE_MS} ms and was ended.`)
  const grace = closeWithGrace({
    delay: CLOSE_MS,
    logger: false,
    skip: ['SIGHUP', 'beforeExit'],
    onSecondError: (error) => say(`another error while ending: ${(error as Error)?.stack ?? error}`),
    onTimeout: overdue
  }, async ({ err }) => {
    if (err) say(`ending after an error that nobody caught: ${err.stack ?? err}`)
    await close()
  })
  return {
    /** The start failed: nothing of this is to happen any more. */
    uninstall () {
      grace.uninstall()
      closing = Promise.resolve()
    },
    /** Not by way of `grace.close`, after which a first signal would count as the second and end the process at once. */
    async end (why: string) {
      if (closing !== undefined) return
      say(`${why}: the service ends.`)
      setTimeout(() => {
        overdue()
        process.exit(1)
      }, CLOSE_MS)
      await close().then(() => process.exit(0), () => process.exit(1))
    }
  }
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
  process.stdout.write(JSON.stringify({ event: 'ready', ...urlOf(app), pid: process.pid, version: VERSION }) + '\n')
  setTimeout(flushCompileCache, FLUSH_CACHE_MS).unref()
}

function say (line: string) {
  process.stderr.write(`${line}\n`)
}

function fail (error: unknown) {
  const { message, exitCode } = explainStart(error)
  say(message)
  process.exitCode = exitCode
  // Whatever a failed start left open must not keep the process.
  setTimeout(() => process.exit(), 1_000).unref()
}

main().catch(fail)
