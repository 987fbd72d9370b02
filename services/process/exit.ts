import type { Clock } from '../clock/clock.ts'

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
 * Ends the process in order. The first signal, or error that nobody caught, calls `close`; then the process exits with 0
 * after a signal and with 1 after an error, or when `close` failed. A `close` that takes too long is cut off, which a busy
 * machine can bring about and which loses nothing: whatever was acknowledged is on disk. Signals that follow change
 * nothing: a terminal sends one to the whole group, and a supervisor passes it on. Errors that follow are told only.
 */
export function createExit ({ clock, limitMs, close, say, flush }: Parts) {
  let begun = false
  const onSignal = () => { end(0) }
  const onError = (error: unknown) => {
    say(`${begun ? 'another error while ending' : 'ending after an error that nobody caught'}: ${(error as Error)?.stack ?? error}`)
    end(1)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  for (const event of ERRORS) process.on(event, onError)

  async function end (code: number) {
    if (begun) return
    begun = true
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
    get begun () { return begun },
    /** Ends the process as a signal does. */
    end: () => end(0),
    /** Leaves signals and errors to Node again. */
    uninstall () {
      for (const signal of SIGNALS) process.off(signal, onSignal)
      for (const event of ERRORS) process.off(event, onError)
    }
  }
}
