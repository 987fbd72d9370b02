import { Aborted } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGQUIT', 'SIGUSR2'] as const
const ERRORS = ['uncaughtException', 'unhandledRejection'] as const

interface Parts {
  clock: Clock
  /** How long `close` may take, milliseconds. */
  limitMs: number
  close: () => Promise<unknown>
  /** Takes a line for the log. */
  say: (line: string) => void
  /** Waits, for a bounded time, until the last lines are written. */
  flush: () => Promise<unknown>
}

/**
 * Ends the process in order. The first signal, the first error that nobody caught, or a call of `end` calls `close`; then the
 * process exits with 0, after an error or when `close` failed with 1. A `close` that takes too long is cut off, which a busy
 * machine can bring about and which loses nothing: whatever was acknowledged is on disk. Signals that follow change
 * nothing: a terminal sends one to the whole group, and a supervisor passes it on. Errors that follow are logged only.
 */
export function createExit ({ clock, limitMs, close, say, flush }: Parts) {
  const begun = new AbortController()
  let isInstalled = true
  const onSignal = () => {
    void exit(0)
  }
  const onError = (error: unknown) => {
    say(
      `${begun.signal.aborted ? 'another error while ending' : 'ending after an error that nobody caught'}: ${
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
    // The clock keeps no process alive.
    new MessageChannel().port1.ref()
    // No time-out that spares a process which was stopped: whoever waits for the end has a clock of their own.
    const late = clock.sleep(limitMs).then(() => {
      say(`The service did not close within ${limitMs} ms and was ended.`)
      return code
    })
    const closed = close().then(() => code, (error) => {
      say(`The service did not close in order: ${(error as Error)?.stack ?? error}`)
      return 1
    })
    const exitCode = await Promise.race([closed, late])
    await flush()
    process.exit(exitCode)
  }

  return {
    /** Aborts when the end begins. */
    signal: begun.signal,
    /** Ends the process as a signal does; `why` is logged. */
    end (why: string) {
      if (begun.signal.aborted || !isInstalled) return
      say(`${why}: the service ends.`)
      void exit(0)
    },
    /** Leaves signals and errors to Node again; `end` does nothing from then on. */
    uninstall () {
      isInstalled = false
      for (const signal of SIGNALS) process.off(signal, onSignal)
      for (const event of ERRORS) process.off(event, onError)
    }
  }
}
