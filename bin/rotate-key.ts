import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemClock } from '../services/lib/clock.ts'
import { createStandardOutput } from '../services/log/standard-output.ts'
import { readOptions } from '../settings.ts'
import { explainStart } from '../services/lib/start-error.ts'
import { rotateKey } from '../services/store/replacement/rotate-key.ts'
import { Usage } from '../services/lib/usage-error.ts'

// The command `local-agent rotate-key`; how far it is goes to stderr.

/** How long the end waits for the last lines. */
const FLUSH_MS = 2_000

const output = createStandardOutput({ clock: systemClock })
output.takeOver()
const say = (line: string) => output.stderr.write(`${line}\n`)

// The clock keeps no process alive, and what waits for a service that is ending may have nothing else to do.
const awake = setInterval(() => {}, 60_000)
try {
  if (process.argv.length > 3) {
    throw new Usage('rotate-key takes no arguments: the new passphrase, if there is to be one, comes from LOCAL_AGENT_NEW_PASSPHRASE.')
  }
  const options = await readOptions([], process.env, async () => ({}))
  if (typeof options === 'string') throw new Usage(options)
  const dir = resolve(options.home ?? join(homedir(), '.local-agent'))
  await rotateKey({ dir, passphrase: options.passphrase, newPassphrase: process.env.LOCAL_AGENT_NEW_PASSPHRASE, clock: systemClock, say })
} catch (error) {
  const { message, exitCode } = explainStart(error)
  say(message)
  process.exitCode = exitCode
} finally {
  clearInterval(awake)
}
await output.flush(FLUSH_MS)
process.exit()
