import { Aborted } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'

/** Windows has only SIGINT and SIGBREAK of these, which its consoles send. The others end a process there at once. */
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR2', 'SIGBREAK'] as const
const ERRORS = ['uncaughtException', 'unhandledRejection'] as const

interface Parts {
  clock: Clock
  /** Time limit for `close` in milliseconds. */
  limitMs: number
  close: () => Promise<unknown>
  /** Writes a line to the log. */
  log: (line: string) => void
  /** Waits, for a bounded time, until the last log lines are written. */
  flush: () => Promise<unknown>
}

/**
 * Shuts the process down in order. The first signal, the first uncaught error, or a call of `end` calls `close`. The process
 * then exits with 0, or with 1 after an error or when `close` failed. A `close` that exceeds the limit is abandoned, which can
 * happen on a busy machine and loses nothing: acknowledged data is on disk. Later signals have no effect, because a terminal
 * sends a signal to the whole group and a supervisor passes it on too. Later errors are only logged.
 */
export function createExit ({ clock, limitMs, close, log, flush }: Parts) {
  const begun = new AbortController()
  let isInstalled = true
  const onSignal = () => {
    void exit(0)
  }
  const onError = (error: unknown) => {
    log(
      `${begun.signal.aborted ? 'another error during the shutdown' : 'shutting down after an uncaught error'}: ${
        (error as Error)?.stack ?? error
      }`
    )
    void exit(1)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  for (const event of ERRORS) process.on(event, onError)

  async function exit (code: number) {
    if (begun.signal.aborted || !isInstalled) return
    begun.abort(new Aborted('shutdown'))
    // The clock's timers do not keep the process alive.
    new MessageChannel().port1.ref()
    // Uses `sleep`, not `timeout`: the limit includes time during which the process was stopped, because the supervisor's own
    // limit does too.
    const late = clock.sleep(limitMs).then(() => {
      log(`The service did not close within ${limitMs} ms and was ended.`)
      return code
    })
    const closed = close().then(() => code, (error) => {
      log(`The service did not close in order: ${(error as Error)?.stack ?? error}`)
      return 1
    })
    const exitCode = await Promise.race([closed, late])
    await flush()
    process.exit(exitCode)
  }

  return {
    /** Aborts when the shutdown begins. */
    signal: begun.signal,
    /** Shuts the process down as a signal does; `reason` is logged. */
    end (reason: string) {
      if (begun.signal.aborted || !isInstalled) return
      log(`${reason}: the service shuts down.`)
      void exit(0)
    },
    /** Restores Node's handling of signals and errors; `end` does nothing from then on. */
    uninstall () {
      isInstalled = false
      for (const signal of SIGNALS) process.off(signal, onSignal)
      for (const event of ERRORS) process.off(event, onError)
    }
  }
}
