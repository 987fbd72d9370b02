import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** 4 EiB in KiB: still a limit to programs that look at it before they take memory. */
const TOP = 2 ** 52
const SPREAD = 2 ** 40

/**
 * A mark for every process of a guarded group: a number of bytes, for the limit of resident memory. Linux has not
 * enforced RLIMIT_RSS since 2.4.30, but keeps it: it is inherited through fork and exec whatever else a process sheds
 * (parent, session, group, environment, files, folder), it can be read of every process in /proc/<pid>/limits, and
 * nobody without privileges raises it again. Within a group of another service it is taken from below that one's.
 */
export function newGroupTag (): string {
  const top = Math.min(TOP, ownLimit() / 1024)
  return String(BigInt(Math.floor(top) - 1 - randomInt(Math.min(SPREAD, Math.ceil(top / 2)))) * 1024n)
}

function ownLimit (): number {
  try {
    return Number(groupTagIn(readFileSync('/proc/self/limits', 'latin1')) ?? Infinity) || Infinity
  } catch {
    return Infinity
  }
}

/** The mark in the text of /proc/<pid>/limits: the soft limit in bytes, or "unlimited". proc(5). */
export function groupTagIn (limits: string): string | undefined {
  return /^Max resident set +(\S+)/m.exec(limits)?.[1]
}
