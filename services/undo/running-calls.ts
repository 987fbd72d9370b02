import { sep } from 'node:path'
import { within } from '../tools/index.ts'

/** A running command. What other calls of the service change in its folder meanwhile (`others`) does not count as its change. */
interface Running {
  folder: string
  others: Set<string>
}

export type RunningCommands = ReturnType<typeof createRunningCommands>

/** Creates the list of the commands that run. */
export function createRunningCommands () {
  const running = new Set<Running>()
  /** Commands that continue after their calls: for each, the promise that its changes are stored, and the id of its run. */
  const staying = new Map<Promise<void>, string>()
  return {
    /**
     * Adds a command that works in a folder. Returns the set of paths that other calls change while it runs, and the function that removes
     * it.
     */
    begin (folder: string): { others: ReadonlySet<string>, end: () => void } {
      const command = { folder, others: new Set<string>() }
      running.add(command)
      return { others: command.others, end: () => void running.delete(command) }
    },
    /** Adds a command of the run that continues after its call; `settled` resolves when its changes are stored. */
    stay (runId: string, settled: Promise<void>): void {
      staying.set(settled, runId)
      void settled.finally(() => staying.delete(settled))
    },
    /** Whether a command of the run continues after its call. */
    stays: (runId: string): boolean => [...staying.values()].includes(runId),
    /** Resolves when the changes of all commands that continue now, or of those of the run `of`, are stored. */
    settled: async (of?: string): Promise<void> =>
      void await Promise.all([...staying].map(([settled, runId]) => of === undefined || runId === of ? settled : undefined)),
    /** Records that another call, which has ended, changed these paths. */
    changed (paths: readonly string[]): void {
      for (const { folder, others } of running) for (const path of paths) if (path.startsWith(folder + sep)) others.add(path)
    }
  }
}

const overlap = (a: string[], b: string[]) => a.some((one) => b.some((other) => within(one, other) || within(other, one)))

export type AcquirePaths = ReturnType<typeof createPathLock>

/** Creates the lock that lets only one call at a time change a path, the folders above it and everything below it. */
export function createPathLock () {
  const held = new Map<string[], Promise<void>>()

  /** Waits until no other call holds the paths. Returns the function that releases them. Rejects with the reason of an abort. */
  return async function acquire (paths: string[], signal?: AbortSignal): Promise<() => void> {
    for (;;) {
      signal?.throwIfAborted()
      const other = [...held].find(([theirs]) => overlap(paths, theirs))
      if (other === undefined) break
      await untilAborted(other[1], signal)
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    held.set(paths, promise)
    return () => {
      held.delete(paths)
      resolve()
    }
  }
}

async function untilAborted (promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise
  const aborted = Promise.withResolvers<void>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
