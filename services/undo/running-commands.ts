import { sep } from 'node:path'

/** A command that runs: what other calls of the service change in its folder meanwhile is not its work. */
interface Running {
  folder: string
  others: Set<string>
}

export type RunningCommands = ReturnType<typeof createRunningCommands>

/** Creates the list of the commands that run. */
export function createRunningCommands () {
  const running = new Set<Running>()
  /** Runs whose commands go on after their calls, with what stores their changes. */
  const staying = new Map<Promise<void>, string>()
  return {
    /** Adds a command; returns the paths that others change while it runs, and what ends that. */
    begin (folder: string): { others: ReadonlySet<string>, end: () => void } {
      const command = { folder, others: new Set<string>() }
      running.add(command)
      return { others: command.others, end: () => void running.delete(command) }
    },
    /** Adds a command of the run that goes on after its call; `settled` when its changes are stored. */
    stay (runId: string, settled: Promise<void>): void {
      staying.set(settled, runId)
      void settled.finally(() => staying.delete(settled))
    },
    /** Whether a command of the run goes on. */
    stays: (runId: string): boolean => [...staying.values()].includes(runId),
    /** Resolves when the changes of all commands that go on now are stored. */
    settled: async (): Promise<void> => void await Promise.all(staying.keys()),
    /** Resolves when the changes of the commands of the run that go on now are stored. */
    settledOf: async (of: string): Promise<void> =>
      void await Promise.all([...staying].map(([settled, runId]) => runId === of ? settled : undefined)),
    /** Notes that another call changed these paths: one that has ended itself. */
    changed (paths: readonly string[]): void {
      for (const { folder, others } of running) for (const path of paths) if (path.startsWith(folder + sep)) others.add(path)
    }
  }
}
