// Loaded before the service: ends the process with SIGKILL at the n-th durable write (from 0), just before it or just
// after it, as KILL_AT="n before" or "n after" says. It says on stderr how many there were; with KILL_AT="count" it does no more.
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'

const [at, when] = process.env.KILL_AT!.split(' ')
// The native part is the one thing of LevelDB that is not in the bundle, so that it can be had from outside.
const binding = createRequire(import.meta.url)('classic-level/binding.js')
const write: (...args: unknown[]) => Promise<void> = binding.batch_do
let writes = 0

binding.batch_do = async (...args: unknown[]) => {
  const n = writes++
  writeSync(2, `write ${n}\n`)
  if (String(n) === at && when === 'before') process.kill(process.pid, 'SIGKILL')
  await write(...args)
  if (String(n) === at && when === 'after') process.kill(process.pid, 'SIGKILL')
}
