import { readdirSync, readFileSync } from 'node:fs'

// Works on Linux only.

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10

/** Returns the ids of a process and all of its descendants. */
function treeOf (pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((part) => part.trim() !== '')
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))]
}

/** Returns the memory of a process tree in MB of 2^20 bytes: resident, and proportional (shared pages divided among their users). */
export function memoryOf (pid: number): { rss: number, pss: number } {
  const sum = { rss: 0, pss: 0 }
  for (const each of treeOf(pid)) {
    const text = readFileSync(`/proc/${each}/smaps_rollup`, 'utf8')
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)![1]) / 1024
    sum.rss += field('Rss')
    sum.pss += field('Pss')
  }
  return sum
}

/** Returns the CPU time of all threads of a process in milliseconds. */
export function cpuOf (pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [utime, stime] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13).map(Number)
  return (utime + stime) * TICK_MS
}

/** Returns the CPU time of one thread in milliseconds, exactly. */
const threadCpu = (pid: number, thread: number | string): number =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6

/** As `cpuOf`, without its ticks of 10 ms. Threads that have ended do not count. */
export const cpuExactly = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadCpu(pid, thread), 0)

export const mainThreadCpu = (pid: number): number => threadCpu(pid, pid)

/** Returns how often the threads of a process have given up a processor, after each of which they wake up again. */
export const wakeUpsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)![1])
  }, 0)

/** Returns the bytes that a process has had written to a disk. A page that is synced again counts again. */
export const writtenBy = (pid: number): number => Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])
