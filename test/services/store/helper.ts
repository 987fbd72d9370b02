import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../../services/lib/clock.ts'
import type { StoreOptions } from '../../../services/store/store-types.ts'
import { openLevel, type OpenDatabase, type RawOp } from '../../../services/store/database.ts'
import { openStore } from '../../../services/store/open.ts'
import { atEnd } from '../../harness/at-end.ts'

/** Opens the store of `dir` and closes it when the test ends. */
export async function open (t: Test, dir: string, options: Partial<StoreOptions> = {}) {
  const store = await openStore({ dir, clock: systemClock, ...options })
  atEnd(t, () => store.close())
  return store
}

export async function collect<T> (entries: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

/** A real LevelDB whose batches a test can watch, hold back or fail. */
export function watched ({ onBatch = async () => {} }: { onBatch?: (ops: RawOp[]) => Promise<void> } = {}) {
  const batches: RawOp[][] = []
  const openings: string[] = []
  const unsynced: RawOp[][] = []
  const openDatabase: OpenDatabase = async (location, options) => {
    const level = await openLevel(location, options)
    openings.push(location)
    return {
      get: (key) => level.get(key),
      iterator: (range) => level.iterator(range),
      close: () => level.close(),
      async batch (ops, options) {
        batches.push(ops)
        if (!options.sync) unsynced.push(ops)
        await onBatch(ops)
        await level.batch(ops, options)
      }
    }
  }
  return { batches, unsynced, openings, openDatabase }
}

/** A clock whose sleeps end when the test says so. */
export function manualClock () {
  const sleeps: { ms: number, wake: () => void }[] = []
  const clock: Clock = {
    ...systemClock,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) reject(signal.reason)
        signal?.addEventListener('abort', () => reject(signal.reason))
        sleeps.push({ ms, wake: resolve })
      })
  }
  return { clock, sleeps }
}

/** A log that keeps what it is told. */
export function listeningLog () {
  const lines: string[] = []
  const write = (_: object, message: string) => {
    lines.push(message)
  }
  return { lines, log: { info: write, warn: write, error: write } }
}

/** Waits for something that happens in the background. */
export async function until (holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (let left = 500; left > 0; left--) {
    if (await holds()) return
    await wait(10)
  }
  throw new Error(`it never came to pass that ${what}`)
}

/** Runs a module of the tests in a process of its own; `lines` are what it prints. */
export function child (t: Test, module: URL, ...args: string[]) {
  const started = spawn(process.execPath, [fileURLToPath(module), ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = createInterface({ input: started.stdout })[Symbol.asyncIterator]()
  t.teardown(() => started.kill('SIGKILL'))
  return { process: started, line: async () => (await lines.next()).value as string | undefined, kill: () => kill(started) }
}

async function kill (process: ChildProcess): Promise<void> {
  const gone = once(process, 'exit')
  process.kill('SIGKILL')
  await gone
}
