import { readdirSync, readFileSync } from 'node:fs'
import { groupTagIn } from './group-tag.ts'

/** A live process that belongs to a guarded group. */
export interface Member {
  pid: number
  /** True for the guard itself, which goes last. */
  guard: boolean
  /** True when it left the group, so that a signal for the group does not reach it. */
  escaped: boolean
}

interface Row {
  pid: number
  ppid: number
  group: number
  session: number
  started: number
  /** Read when they are first asked for. */
  mark?: string
  cmdline?: string
}

/** Processes read at a time: each read is some microseconds, and others want the thread as well. */
const SLICE = 64

/** When a process started, in clock ticks since boot; 0 when that cannot be known. */
export function startOf (pid: number): number {
  return row(pid)?.started ?? 0
}

/**
 * Every live process that came from the command with process id `leader`: those of its group and of its session
 * (`set -m`), those that carry the mark (daemons, whatever they shed), and all their descendants. Undefined where there
 * is no /proc.
 */
export async function findMembers (leader: number, mark: string, since: number): Promise<Member[] | undefined> {
  // What is older than the command cannot come from it; its limits are not read.
  const rows = (await look())?.filter(({ started }) => started >= since)
  if (rows === undefined) return undefined
  const found = new Set<number>()
  for (const [index, row] of rows.entries()) {
    if (index % SLICE === SLICE - 1) await new Promise(setImmediate)
    if (row.group === leader || row.session === leader || (row.mark ??= groupTagIn(text(row.pid, 'limits')) ?? '') === mark) {
      found.add(row.pid)
    }
  }
  for (let before = -1; before < found.size;) {
    before = found.size
    for (const { pid, ppid } of rows) if (found.has(ppid)) found.add(pid)
  }
  // The guard is a fork of the prologue, whose arguments carry the mark; the leader has become the command.
  return rows.filter(({ pid }) => found.has(pid)).map((row) => ({
    pid: row.pid,
    guard: row.pid !== leader && (row.cmdline ??= text(row.pid, 'cmdline')).includes(mark),
    escaped: row.group !== leader
  }))
}

let reading: Promise<Row[] | undefined> | undefined
let next: Promise<Row[] | undefined> | undefined

/** All processes, read after it was called. One reading at a time: who asks during one shares the next, as when every command is ended at once. */
function look (): Promise<Row[] | undefined> {
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

/** proc(5), stat: the name is in parentheses and may hold anything; the zombies it lists are gone already. */
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
