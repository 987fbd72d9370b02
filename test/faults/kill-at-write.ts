// Loaded before the service: ends the process with SIGKILL at the n-th durable write (from 0), just before it or just
// after it, as KILL_AT="n before" or "n after" says. With KILL_AT="count" it only says on stderr how many there were.
import { writeSync } from 'node:fs'
import { ClassicLevel } from 'classic-level'

const [at, when] = process.env.KILL_AT!.split(' ')
const write = ClassicLevel.prototype.batch as (...args: any[]) => Promise<void>
let writes = 0

ClassicLevel.prototype.batch = async function (this: unknown, ...args: any[]) {
  const n = writes++
  if (at === 'count') writeSync(2, `write ${n}\n`)
  if (String(n) === at && when === 'before') process.kill(process.pid, 'SIGKILL')
  await write.apply(this, args)
  if (String(n) === at && when === 'after') process.kill(process.pid, 'SIGKILL')
} as never
