// A parent that starts a store's holder, kills it and does not reap it: the shell in between is replaced by `cat`,
// which ends with its input when this process does.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const [module, dir] = process.argv.slice(2)
spawn('sh', ['-c', '"$0" "$1" open "$2" & exec cat', process.execPath, module, dir], { stdio: ['pipe', 'ignore', 'ignore'] })

const holder = await eventually(() => JSON.parse(readFileSync(join(dir, 'service.lock'), 'utf8')).pid as number)
await eventually(() => readFileSync(join(dir, 'data', 'CURRENT')))
process.kill(holder, 'SIGKILL')
await eventually(() => {
  if (!/\) Z /.test(readFileSync(`/proc/${holder}/stat`, 'latin1'))) throw new Error('still alive')
})
console.log('zombie')
setInterval(() => {}, 60_000)

async function eventually<T> (attempt: () => T): Promise<T> {
  for (;;) {
    try {
      return attempt()
    } catch {
      await wait(10)
    }
  }
}
