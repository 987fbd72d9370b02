import { readFileSync } from 'node:fs'

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

/** Returns the bytes that a process has had written to a disk. A page that is synced again counts again. */
export const writtenBy = (pid: number): number => Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])
