import { setTimeout as sleep } from 'node:timers/promises'
import { readLines } from './read-lines.ts'
import type { Exit, Ready, Secrets, ServiceChild } from './service-child.ts'
import { NOT_FOUND } from './service-ended.ts'

/** Lines of the log that are kept for the error of a service that ends. */
const KEPT_LINES = 20
/** Time that the last lines of the log have to arrive after the exit, milliseconds. */
const LAST_LINES_MS = 250
/** The time until the service is ready is waited for in this many parts, because a computer that sleeps lets one of them pass at once. */
const READY_PARTS = 10

export interface LifeLimits {
  /** A service that is not ready after this time counts as hung. Milliseconds. */
  readyMs: number
  /** Time between two checks of the health, and the limit of each. Milliseconds. */
  healthMs: number
  /** Failed checks in a row after which the service counts as hung. */
  maxMissed: number
  /** Time to end before the service is killed; the service itself needs at most 5 s. Milliseconds. */
  endMs: number
}

interface LifeEvents {
  onReady (ready: Ready): void
  /** `missed` is the number of failed checks in a row. */
  onMissed (missed: number): void
  onHung (): void
  onLog (line: string): void
}

/** Watches one process of the service from its start to its exit. */
export function watchService (child: ServiceChild, secrets: Secrets, { readyMs, healthMs, maxMissed, endMs }: LifeLimits, on: LifeEvents) {
  const ended = new AbortController()
  const log: string[] = []

  const kill = () => {
    // The SIGTERM of `child.kill()` does not end a process that hangs.
    if (child.pid === undefined || ended.signal.aborted) return
    try {
      process.kill(child.pid, 'SIGKILL')
    } catch {
      // The process has just ended.
    }
  }
  const isHung = () => {
    if (ended.signal.aborted) return
    on.onHung()
    kill()
  }
  const isReady = new AbortController()
  let endTimer: NodeJS.Timeout | undefined

  const logged = child.stderr && readLines(child.stderr, keepLine)
  const exited = new Promise<Exit>((resolve) => {
    const end = (exit: Exit) => {
      ended.abort()
      clearTimeout(endTimer)
      resolve(exit)
    }
    // The log may arrive after the exit.
    child.once('exit', (code: Exit['code'], signal: Exit['signal'] = null) => {
      Promise.race([logged, pause(LAST_LINES_MS)]).then(() => end({ code, signal }), () => end({ code, signal }))
    })
    // A command that cannot be started has no exit.
    child.once('error', (error: unknown) => {
      keepLine(error instanceof Error ? error.message : String(error))
      if (child.pid === undefined) end({ code: NOT_FOUND, signal: null })
    })
  })

  function keepLine (line: string) {
    log.push(line)
    if (log.length > KEPT_LINES) log.shift()
    on.onLog(line)
  }

  async function awaitReady () {
    const signal = AbortSignal.any([isReady.signal, ended.signal])
    for (let n = 0; n < READY_PARTS && !signal.aborted; n++) await pause(readyMs / READY_PARTS, signal)
    if (!signal.aborted) isHung()
  }

  /** Checks the health until the process ends or counts as hung. */
  async function checkHealth (url: string) {
    for (let missed = 0; missed < maxMissed;) {
      await pause(healthMs, ended.signal)
      if (ended.signal.aborted) return
      const isHealthy = await fetch(`${url}/health`, { signal: AbortSignal.any([ended.signal, AbortSignal.timeout(healthMs)]) })
        .then((answer) => answer.body?.cancel().then(() => answer.ok) ?? answer.ok)
        .catch(() => false)
      if (ended.signal.aborted) return
      missed = isHealthy ? 0 : missed + 1
      if (!isHealthy) on.onMissed(missed)
    }
    isHung()
  }

  void awaitReady()
  if (child.stdout !== null) {
    void readLines(child.stdout, (line) => {
      // A process that this one has left behind may write after its end.
      const ready = isReady.signal.aborted || ended.signal.aborted ? undefined : readReady(line)
      if (ready === undefined) return
      isReady.abort()
      on.onReady(ready)
      checkHealth(ready.url).catch(() => {})
    })
  }
  // Standard input stays open, because the service ends when it closes. A service that fails at once does not read it, and the
  // write error is ignored because the exit shows the failure.
  child.stdin?.on('error', () => {}).write(`${JSON.stringify(secrets)}\n`)

  return {
    exited,
    log: log as readonly string[],
    /** Ends the service in order, and kills it when it does not end in time. */
    end () {
      if (child.stdin) child.stdin.end()
      else child.kill()
      endTimer ??= setTimeout(kill, endMs)
    }
  }
}

/** Resolves after `ms` milliseconds or when the signal is aborted. */
export const pause = (ms: number, signal?: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {})

/** Returns the fields of the ready line; undefined for other lines. */
function readReady (line: string): Ready | undefined {
  if (!line.startsWith('{"event":"ready"')) return undefined
  try {
    const { url, port, pid, version } = JSON.parse(line) as Ready
    return { url, port, pid, version }
  } catch {
    return undefined
  }
}
