import { readdirSync, readFileSync } from 'node:fs'

// Works on Linux only.

/** The length of a clock tick in milliseconds: USER_HZ is 100 on every Linux on which Node runs. */
const TICK_MS = 10

/** Returns the ids of a process and all of its descendants. */
function treeOf (pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter((part) => part.trim() !== '')
  return [pid, ...children.flatMap((child) => treeOf(Number(child)))]
}

/**
 * Returns the memory of a process tree in MiB: resident (`rss`), and proportional (`pss`), in which each process counts its share of shared
 * pages.
 */
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

/** Returns the exact CPU time of one thread, in milliseconds. */
const threadCpu = (pid: number, thread: number | string): number =>
  Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6

/** Like `cpuOf`, but exact instead of in ticks of 10 ms. Threads that have ended are not counted. */
export const cpuExactly = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadCpu(pid, thread), 0)

export const mainThreadCpu = (pid: number): number => threadCpu(pid, pid)

/** Returns the number of voluntary context switches of a process's threads. A thread wakes up again after each of them. */
export const wakeUpsOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => {
    const status = readFileSync(`/proc/${pid}/task/${thread}/status`, 'utf8')
    return sum + Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(status)![1])
  }, 0)

/** Returns the bytes that a process has caused to be written to a disk. A page that is synced twice counts twice. */
export const writtenBy = (pid: number): number => Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))![1])
