import { readdirSync, readFileSync } from 'node:fs'
import { groupTagIn } from './group-tag.ts'

/** A live process that belongs to a guarded group. */
export interface Member {
  pid: number
  /** True for the guard itself, which is killed last. */
  guard: boolean
  /** True when it left the process group, so that a signal to the group does not reach it. */
  escaped: boolean
}

interface Row {
  pid: number
  ppid: number
  group: number
  session: number
  started: number
  /** Read on first use. */
  groupTag?: string
  cmdline?: string
}

/** Processes read between two yields to the event loop: each read takes some microseconds. */
const SLICE = 64

/** Returns the start time of a process in clock ticks since boot; 0 when it is unknown. */
export function startOf (pid: number): number {
  return row(pid)?.started ?? 0
}

/**
 * Finds every live process that the command with process id `leader` started: members of its process group and its session
 * (`set -m`), processes with its group tag (daemons), and all their descendants. Returns undefined where there is no /proc.
 */
export async function findMembers (leader: number, groupTag: string, since: number): Promise<Member[] | undefined> {
  // Older processes cannot come from the command, so their limits are not read.
  const rows = (await listProcesses())?.filter(({ started }) => started >= since)
  if (rows === undefined) return undefined
  const found = new Set<number>()
  for (const [index, row] of rows.entries()) {
    if (index % SLICE === SLICE - 1) await new Promise(setImmediate)
    if (row.group === leader || row.session === leader || (row.groupTag ??= groupTagIn(text(row.pid, 'limits')) ?? '') === groupTag) {
      found.add(row.pid)
    }
  }
  for (let previousSize = -1; previousSize < found.size;) {
    previousSize = found.size
    for (const { pid, ppid } of rows) if (found.has(ppid)) found.add(pid)
  }
  // The guard is a fork of the guard script, whose arguments hold the group tag; the leader has become the command.
  return rows.filter(({ pid }) => found.has(pid)).map((row) => ({
    pid: row.pid,
    guard: row.pid !== leader && (row.cmdline ??= text(row.pid, 'cmdline')).includes(groupTag),
    escaped: row.group !== leader
  }))
}

let reading: Promise<Row[] | undefined> | undefined
let next: Promise<Row[] | undefined> | undefined

/** Lists all processes. Concurrent calls during one reading share the next one, for example when all commands are ended at once. */
function listProcesses (): Promise<Row[] | undefined> {
  next ??= (async () => {
    await Promise.all([reading, new Promise(setImmediate)])
    reading = next
    next = undefined
    const rows: Row[] = []
    const pids = processIds()
    for (const [index, pid] of pids?.entries() ?? []) {
      if (index % SLICE === SLICE - 1) await new Promise(setImmediate)
      const process = row(pid)
      if (process !== undefined) rows.push(process)
    }
    return pids && rows
  })()
  return next
}

function processIds (): number[] | undefined {
  try {
    const pids = readdirSync('/proc').map(Number).filter((pid) => pid > 0)
    return pids.length > 0 ? pids : undefined
  } catch {
    return undefined
  }
}

/** Reads the process from proc(5), stat. The name is in parentheses and may hold any character. Zombies count as gone. */
function row (pid: number): Row | undefined {
  const stat = text(pid, 'stat')
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  if (fields.length < 19 || state === 'Z' || state === 'X') return undefined
  return { pid, ppid: Number(fields[0]), group: Number(fields[1]), session: Number(fields[2]), started: Number(fields[18]) }
}

function text (pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1')
  } catch {
    return ''
  }
}
