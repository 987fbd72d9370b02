import { sep } from 'node:path'
import { within } from '../tools/index.ts'

/** A running command. */
export interface RunningCommand {
  folder: string
  runId: string
  /** Paths that other calls of the service change while the command runs. They do not count as its change. */
  others: Set<string>
  /** True if others might have made its changes: a command of another run worked in its folder, or it continues after its call. */
  isShared: boolean
  /** True if it continues after its call. */
  stays: boolean
}

export type RunningCommands = ReturnType<typeof createRunningCommands>

/** Creates the list of the commands that run. */
export function createRunningCommands () {
  const running = new Set<RunningCommand>()
  /** Commands that continue after their calls: for each, the promise that its changes are stored, and the id of its run. */
  const staying = new Map<Promise<void>, string>()
  return {
    /**
     * Adds a command that works in a folder. If a command of another run works there as well, nobody knows which of them makes a change:
     * both are shared. A command that continues after its call, such as a server, does not make others shared.
     */
    begin (folder: string, runId: string): RunningCommand {
      const command: RunningCommand = { folder, runId, others: new Set(), isShared: false, stays: false }
      for (const other of running) {
        if (other.stays || other.runId === runId || !overlap([folder], [other.folder])) continue
        other.isShared = command.isShared = true
      }
      running.add(command)
      return command
    },
    end: (command: RunningCommand): void => void running.delete(command),
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
