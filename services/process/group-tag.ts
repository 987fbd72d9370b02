import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** 4 EiB in KiB: finite, for programs that check for a limit before they allocate memory. */
const TOP = 2 ** 52
const SPREAD = 2 ** 40

/**
 * Returns a group tag: a unique number of bytes, used as the limit of resident memory of every process in a guarded group.
 * Linux has not enforced RLIMIT_RSS since 2.4.30, but keeps it. It is inherited through fork and exec even when a process
 * changes its parent, session, group, environment, files and folder; it can be read in /proc/<pid>/limits; and an unprivileged
 * process cannot raise it. Inside a guarded group of another service, the tag is lower than that group's.
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

/** Returns the tag in the text of /proc/<pid>/limits: the soft limit in bytes, or "unlimited". proc(5). */
export function groupTagIn (limits: string): string | undefined {
  return /^Max resident set +(\S+)/m.exec(limits)?.[1]
}
