import { followNotifications, type NotificationHandlers } from './follow-notifications.ts'
import { isPermanent, NOT_FOUND, PORT_TAKEN, ServiceEnded } from './service-ended.ts'
import { pause, watchService, type LifeLimits } from './service-life.ts'
import {
  findCommand,
  ProgramMissing,
  startCommand,
  type Command,
  type Exit,
  type Ready,
  type Secrets,
  type StartService
} from './service-child.ts'

export type SupervisorEvent =
  | { event: 'starting' }
  | { event: 'ready' } & Ready
  /** A check of the health failed; `missed` is the number of failed checks in a row. */
  | { event: 'unhealthy', missed: number }
  /** The service did not get ready or did not answer in time, and was killed. */
  | { event: 'hung' }
  | { event: 'exit' } & Exit
  /** The service is started again after `delayMs` milliseconds; `attempt` counts the restarts since it was last healthy. */
  | { event: 'restart', attempt: number, delayMs: number }
  /** The service has ended without having been asked to, and is not started again; `message` is a sentence that says why. */
  | { event: 'gave-up', message: string } & Exit

interface Limits extends LifeLimits {
  /** Restarts without a healthy time between them. */
  maxRestarts: number
  /** A service that was ready for this time is healthy: the restarts are counted anew. Milliseconds. */
  healthyMs: number
  /** The wait before the first restart; it doubles with each further one, up to 30 s. Milliseconds. */
  backoffMs: number
}

const DEFAULTS: Limits = {
  readyMs: 30_000,
  healthMs: 5_000,
  maxMissed: 3,
  endMs: 6_000,
  maxRestarts: 3,
  healthyMs: 60_000,
  backoffMs: 1_000
}
const MAX_BACKOFF_MS = 30_000

export interface SupervisorOptions extends Partial<NotificationHandlers> {
  /**
   * The executable, such as that of the sidecar; default: this process's own Node, with the service's file of the installed package. In
   * Electron that is Electron itself, as Node. Where the package is not to be found, `local-agent` of the PATH.
   */
  command?: string
  /** Arguments of the command, such as `--port 0`. */
  args?: readonly string[]
  cwd?: string
  /** The environment of the service; default: this process's own. */
  env?: NodeJS.ProcessEnv
  /** Starts the service in another way than as a child process, for example in a utilityProcess of Electron. It gets the port to keep. */
  start?: StartService
  secrets?: Secrets
  limits?: Partial<Limits>
  onEvent?: (event: SupervisorEvent) => void
  /** Takes the lines of the service's log; default: they are written to stderr. */
  onLog?: (line: string) => void
}

export type Supervisor = ReturnType<typeof createSupervisor>

/**
 * Starts the service, checks its health, and restarts it after crashes and hangs. It is not restarted after an exit that a restart
 * cannot mend (exit codes 64 to 98, or a program that is not there), after an orderly end (0), and after too many restarts without a
 * healthy time between them. A restarted service listens where it did before, also with `--port 0`, unless another program took the port
 * meanwhile. With `onNotification` it claims what a person is to be told and hands it over, to be shown.
 */
export function createSupervisor ({
  command,
  args = [],
  cwd,
  env,
  start = startCommand(commandOf({ command, args, env }), cwd),
  secrets = {},
  limits: given,
  onEvent = () => {},
  onNotification,
  onNotificationClosed,
  onLog = toStderr()
}: SupervisorOptions = {}) {
  const limits = { ...DEFAULTS, ...given }
  const stopped = new AbortController()
  let life: ReturnType<typeof watchService> | undefined
  let current: Ready | undefined
  /** Where the service listened last. */
  let port: number | undefined
  let nextReady = newReady()
  let isStarted = false
  const ended = Promise.withResolvers<Exit>()
  // Nobody may be waiting for it.
  ended.promise.catch(() => {})

  /** Runs the service once. Resolves to its exit and whether it was healthy. */
  async function runOnce (): Promise<{ exit: Exit, log: readonly string[], wasHealthy: boolean }> {
    onEvent({ event: 'starting' })
    let healthyAt = Infinity
    const over = new AbortController()
    let child
    try {
      child = start({ port })
    } catch (error) {
      if (!(error instanceof ProgramMissing)) throw error
      const exit: Exit = { code: NOT_FOUND, signal: null }
      onEvent({ event: 'exit', ...exit })
      return { exit, log: [error.message], wasHealthy: false }
    }
    life = watchService(child, secrets, limits, {
      onReady (ready) {
        healthyAt = performance.now() + limits.healthyMs
        current = ready
        port = ready.port
        nextReady.resolve(ready)
        onEvent({ event: 'ready', ...ready })
        if (onNotification === undefined) return
        const token = secrets.token ?? (env ?? process.env).LOCAL_AGENT_TOKEN
        void followNotifications({ url: ready.url, token, signal: over.signal }, { onNotification, onNotificationClosed })
      },
      onMissed: (missed) => onEvent({ event: 'unhealthy', missed }),
      onHung: () => onEvent({ event: 'hung' }),
      onLog
    })
    const { exited, log } = life
    if (stopped.signal.aborted) life.end()
    const exit = await exited
    over.abort()
    if (current !== undefined) nextReady = newReady()
    current = life = undefined
    onEvent({ event: 'exit', ...exit })
    return { exit, log, wasHealthy: performance.now() >= healthyAt }
  }

  async function keepRunning (): Promise<Exit> {
    for (let restarts = 0; ;) {
      const { exit, log, wasHealthy } = await runOnce()
      if (wasHealthy) restarts = 0
      const isPortLost = exit.code === PORT_TAKEN && port !== undefined
      // The port that the service was given at first may be free, or be any.
      if (isPortLost) port = undefined
      const isOver = stopped.signal.aborted || exit.code === 0 || (isPermanent(exit) && !isPortLost)
      if (isOver || restarts >= limits.maxRestarts) {
        const error = new ServiceEnded(exit, log, restarts)
        nextReady.reject(error)
        if (!stopped.signal.aborted) onEvent({ event: 'gave-up', message: error.message, ...exit })
        return exit
      }
      const delayMs = Math.min(limits.backoffMs * 2 ** restarts, MAX_BACKOFF_MS)
      restarts++
      onEvent({ event: 'restart', attempt: restarts, delayMs })
      await pause(delayMs, stopped.signal)
      if (stopped.signal.aborted) {
        nextReady.reject(new ServiceEnded(exit, log, restarts))
        return exit
      }
    }
  }

  return {
    /**
     * Starts the service, unless it was started before, and resolves when it is ready. While a crashed service is being restarted it
     * resolves to the next ready one. Throws ServiceEnded when the service ends before, and is not started again.
     */
    async start (): Promise<Ready> {
      if (!isStarted) {
        if (stopped.signal.aborted) throw new Error('The supervisor was stopped before it started the service.')
        isStarted = true
        keepRunning().then(ended.resolve, (error) => {
          nextReady.reject(error)
          ended.reject(error)
        })
      }
      return current ?? nextReady.promise
    },

    /** Where the service listens now; undefined while it is not ready. After a restart it is the same port, unless that was taken. */
    get ready (): Ready | undefined {
      return current
    },

    /** Ends the service in order (its streams get a last event, its children end) and starts it no more. */
    async stop (): Promise<void> {
      stopped.abort()
      life?.end()
      // Why a start failed was told to who asked for it.
      if (isStarted) await ended.promise.catch(() => {})
    },

    /** Resolves to the last exit when the service has ended and is not started again; rejects if it could not be started at all. */
    ended: ended.promise
  }
}

const ignore = () => {}

/** Returns a function that writes to stderr. A stderr that was closed, as by the end of an app's terminal, does not end the app. */
function toStderr (): (line: string) => void {
  process.stderr.off('error', ignore).on('error', ignore)
  return (line) => { process.stderr.write(`${line}\n`) }
}

/** Returns the command to start; without one of its own, the service of the installed package. */
function commandOf ({ command, args, env }: { command?: string, args: readonly string[], env?: NodeJS.ProcessEnv }): Command {
  if (command !== undefined) return { command, args, env }
  const found = findCommand()
  return { command: found.command, args: [...found.args, ...args], env: found.env ? { ...(env ?? process.env), ...found.env } : env }
}

function newReady () {
  const ready = Promise.withResolvers<Ready>()
  // Nobody may be waiting for it.
  ready.promise.catch(() => {})
  return ready
}
