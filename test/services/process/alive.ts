import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** Whether a process runs; one that only waits to be reaped does not. */
export function alive (pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !'ZX'.includes(stat[stat.lastIndexOf(')') + 2])
  } catch {
    return false
  }
}

/** Resolves once none of the processes runs; rejects when one still does after `ms`. */
export async function allGone (pids: number[], ms = 5000): Promise<void> {
  for (const end = Date.now() + ms; pids.some(alive); await wait(10)) {
    if (Date.now() > end) throw new Error(`still alive: ${pids.filter(alive).join(', ')}`)
  }
}

/** The processes that run with `part` in their arguments. */
export function withArgument (part: string): number[] {
  return readdirSync('/proc').map(Number).filter((pid) => pid > 0 && alive(pid) && argumentsOf(pid).includes(part))
}

function argumentsOf (pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
  } catch {
    return ''
  }
}
