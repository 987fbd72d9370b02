import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs'

/** Indexes of env_start and env_end among the fields of proc(5), stat, after the name. */
const [ENV_START, ENV_END] = [47, 48]

/**
 * Overwrites the values of these variables in the process's initial environment block. /proc/<pid>/environ shows that block to
 * every process of the same user, including commands that the agent runs, even after a deletion from process.env.
 * `process.env` keeps the values in separate memory. Returns false where this is impossible: only Linux lets a process write
 * to its own memory by address.
 */
export function scrubEnvironment (names: string[]): boolean {
  for (const name of names) if (process.env[name] !== undefined) process.env[name] = `${process.env[name]}`
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    wipe(names, Number(fields[ENV_START]), Number(fields[ENV_END]))
    return true
  } catch {
    return false
  }
}

function wipe (names: string[], start: number, end: number): void {
  const memory = openSync('/proc/self/mem', 'r+')
  try {
    const block = Buffer.alloc(end - start)
    readSync(memory, block, 0, block.length, start)
    for (let at = 0, next; at < block.length; at = next + 1) {
      next = block.indexOf(0, at)
      if (next === -1) next = block.length
      const equals = block.indexOf('=', at)
      if (equals === -1 || equals >= next || !names.includes(block.toString('utf8', at, equals))) continue
      const value = next - equals - 1
      if (value > 0) writeSync(memory, Buffer.alloc(value), 0, value, start + equals + 1)
    }
  } finally {
    closeSync(memory)
  }
}
