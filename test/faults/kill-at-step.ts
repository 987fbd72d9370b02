// Loaded before the service: ends the process with SIGKILL at the n-th step (from 0) that changes what is on disk, a write
// of LevelDB's, a renaming or a removal, just before it or just after it, as KILL_AT="n before" or "n after" says. With
// KILL_AT="count" it only says on stderr how many there were.
import fs, { writeSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'

const [at, when] = process.env.KILL_AT!.split(' ')
let steps = 0

function begin (what: string): () => void {
  const n = steps++
  if (at === 'count') writeSync(2, `step ${n} ${what}\n`)
  if (String(n) === at && when === 'before') process.kill(process.pid, 'SIGKILL')
  return () => {
    if (String(n) === at && when === 'after') process.kill(process.pid, 'SIGKILL')
  }
}

const binding = createRequire(import.meta.url)('classic-level/binding.js')
const write: (...args: unknown[]) => Promise<void> = binding.batch_do
binding.batch_do = async (...args: unknown[]) => {
  const end = begin('write')
  await write(...args)
  end()
}

const promises = fs.promises as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>
for (const name of ['rename', 'rm']) {
  const change = promises[name]
  promises[name] = async (...args) => {
    const end = begin(`${name} ${args[0]}`)
    const result = await change(...args)
    end()
    return result
  }
}
// This one write-file-atomic uses.
const rename = fs.rename
fs.rename = ((from: string, to: string, done: (error: NodeJS.ErrnoException | null) => void) => {
  const end = begin(`rename to ${to}`)
  rename(from, to, (error) => {
    end()
    done(error)
  })
}) as typeof fs.rename
syncBuiltinESMExports()
