import { setTimeout as sleep } from 'node:timers/promises'
import { readLines } from './read-lines.ts'
import type { Exit, Ready, Secrets, ServiceChild } from './service-child.ts'
import { NOT_FOUND } from './service-ended.ts'

/** The number of last log lines that the error of an ended service holds. */
const KEPT_LINES = 20
/** How long the last log lines may arrive after the exit, in milliseconds. */
const LAST_LINES_MS = 250
/** The wait for readiness is divided into this many timers. When a computer wakes from sleep, only one of them expires at once. */
const READY_PARTS = 10

export interface LifeLimits {
  /** A service that is not ready after this time counts as hung, in milliseconds. */
  readyMs: number
  /** The time between two health checks, and the timeout of each, in milliseconds. */
  healthMs: number
  /** The number of failed health checks in a row after which the service counts as hung. */
  maxMissed: number
  /** How long the service may take to end before it is killed, in milliseconds. The service itself needs at most 5 s. */
  endMs: number
}

interface LifeEvents {
  onReady (ready: Ready): void
  /** A health check failed. `missed` is the number of failed checks in a row. */
  onMissed (missed: number): void
  onHung (): void
  onLog (line: string): void
}

/** Watches one process of the service from its start to its exit. */
export function watchService (child: ServiceChild, secrets: Secrets, { readyMs, healthMs, maxMissed, endMs }: LifeLimits, on: LifeEvents) {
  const ended = new AbortController()
  const log: string[] = []

  const kill = () => {
    // `child.kill()` sends SIGTERM, which does not end a process that hangs.
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
    // The last lines of the log can arrive after the exit.
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
      // A process that the service has left behind might still write after the service has ended.
      const ready = isReady.signal.aborted || ended.signal.aborted ? undefined : readReady(line)
      if (ready === undefined) return
      isReady.abort()
      on.onReady(ready)
      checkHealth(ready.url).catch(() => {})
    })
  }
  // Standard input stays open, because the service ends when its standard input closes. A service that fails at once does not read it. The
  // write error is ignored then, because the exit shows the failure.
  child.stdin?.on('error', () => {}).write(`${JSON.stringify(secrets)}\n`)

  return {
    exited,
    log: log as readonly string[],
    /** Asks the service to shut down, and kills it if it has not ended in time. */
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
