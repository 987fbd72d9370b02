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
  /** A health check failed; `missed` is the number of failed checks in a row. */
  | { event: 'unhealthy', missed: number }
  /** The service was not ready, or did not answer health checks, in time, and was killed. */
  | { event: 'hung' }
  | { event: 'exit' } & Exit
  /** The service is started again after `delayMs` milliseconds; `attempt` counts the restarts since it was last healthy. */
  | { event: 'restart', attempt: number, delayMs: number }
  /** The service has ended unexpectedly and is not started again; `message` is a sentence with the reason. */
  | { event: 'gave-up', message: string } & Exit

interface Limits extends LifeLimits {
  /** The maximum number of restarts without a healthy time between them. */
  maxRestarts: number
  /** A service that has been ready for this time, in milliseconds, is healthy: restarts are then counted from zero. */
  healthyMs: number
  /** The delay before the first restart, in milliseconds. It doubles with each further restart, up to 30 s. */
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
   * The executable, such as that of the sidecar. By default, the Node of this process with the installed package (in Electron, Electron
   * itself runs as Node). If the package is not found, `local-agent` of the PATH.
   */
  command?: string
  /** Arguments of the command, such as `--port 0`. */
  args?: readonly string[]
  cwd?: string
  /** The environment of the service; default: this process's own. */
  env?: NodeJS.ProcessEnv
  /** Starts the service in another way than as a child process, for example in a utilityProcess of Electron. Receives the port to keep. */
  start?: StartService
  secrets?: Secrets
  limits?: Partial<Limits>
  onEvent?: (event: SupervisorEvent) => void
  /** Receives the lines of the service's log. By default, they are written to stderr. */
  onLog?: (line: string) => void
}

export type Supervisor = ReturnType<typeof createSupervisor>

/**
 * Starts the service, checks its health, and restarts it after crashes and hangs. It does not restart the service after an exit that a
 * restart cannot help (exit codes 64 to 98, or a missing program), after an orderly exit (code 0), or after too many restarts without a
 * healthy time between them. A restarted service keeps its port, also with `--port 0`, unless another program has taken the port. With
 * `onNotification`, the supervisor also claims notifications and passes them on to be shown.
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
  /** The port on which the service listened last. */
  let port: number | undefined
  let nextReady = newReady()
  let isStarted = false
  const ended = Promise.withResolvers<Exit>()
  // Prevents an unhandled rejection if nobody waits for `ended`.
  ended.promise.catch(() => {})

  /** Runs the service once. Resolves to its exit, its last log lines, and whether it was healthy. */
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
      // Another program has the port that was to be kept. The port of the first start might be free, or might be 0 for any.
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
     * Starts the service, unless it was started before, and resolves when it is ready. During a restart, it resolves when the restarted
     * service is ready. Throws ServiceEnded if the service ends first and is not started again.
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

    /**
     * The ready line of the running service; undefined while it is not ready. A restart keeps the port unless another program has taken it.
     */
    get ready (): Ready | undefined {
      return current
    },

    /** Shuts the service down and starts it no more. The shutdown ends the service's streams with a last event, and ends its children. */
    async stop (): Promise<void> {
      stopped.abort()
      life?.end()
      // The caller of `start` has already received the error.
      if (isStarted) await ended.promise.catch(() => {})
    },

    /** Resolves to the last exit when the service has ended and is not started again; rejects if it could not be started at all. */
    ended: ended.promise
  }
}

const ignore = () => {}

/** Returns a function that writes to stderr. A closed stderr, for example after the app's terminal has ended, does not end the app. */
function toStderr (): (line: string) => void {
  process.stderr.off('error', ignore).on('error', ignore)
  return (line) => { process.stderr.write(`${line}\n`) }
}

/** Returns the command to start; by default, that of the installed package. */
function commandOf ({ command, args, env }: { command?: string, args: readonly string[], env?: NodeJS.ProcessEnv }): Command {
  if (command !== undefined) return { command, args, env }
  const found = findCommand()
  return { command: found.command, args: [...found.args, ...args], env: found.env ? { ...(env ?? process.env), ...found.env } : env }
}

function newReady () {
  const ready = Promise.withResolvers<Ready>()
  // Prevents an unhandled rejection if nobody waits for `ready`.
  ready.promise.catch(() => {})
  return ready
}
