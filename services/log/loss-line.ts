import { hostname } from 'node:os'
import type { Clock } from '../lib/clock.ts'

/** Returns the function that makes the line about lost lines, in the format of the log. */
export const lossLine = (clock: Clock, name: string) => (lost: number): string =>
  `${
    JSON.stringify({
      level: 40,
      time: clock.now(),
      pid: process.pid,
      hostname: hostname(),
      lost,
      msg: `${name} accepted no output for a while: ${lost} lines were lost here`
    })
  }\n`
