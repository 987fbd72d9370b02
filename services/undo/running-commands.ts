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
  return {
    /** Adds a command; returns the paths that others change while it runs, and what ends that. */
    begin (folder: string): { others: ReadonlySet<string>, end: () => void } {
      const command = { folder, others: new Set<string>() }
      running.add(command)
      return { others: command.others, end: () => void running.delete(command) }
    },
    /** Notes that another call changed these paths. */
    changed (paths: readonly string[]): void {
      for (const { folder, others } of running) for (const path of paths) if (path.startsWith(folder + sep)) others.add(path)
    }
  }
}
