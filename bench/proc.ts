import { readFileSync } from 'node:fs'

// Linux only, like the figures.

/** USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10

/** A process and all its descendants. */
function treeOf (pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((part) => part.trim() !== '')
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))]
}

/** Memory of a process tree in MB of 2^20 bytes: resident, and with shared pages divided among those who share them. */
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

/** CPU time that a process has used in all its threads, milliseconds. */
export function cpuOf (pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [utime, stime] = stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 13).map(Number)
  return (utime + stime) * TICK_MS
}
