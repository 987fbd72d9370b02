import { systemClock } from '../services/lib/clock.ts'
import { homeFolder } from '../services/lib/home-folder.ts'
import { createStandardOutput } from '../services/log/sink.ts'
import { readOptions } from '../settings.ts'
import { explainStart } from '../services/lib/start-error.ts'
import { rotateKey } from '../services/store/replacement/rotate-key.ts'
import { Usage } from '../services/lib/usage-error.ts'

// The command `local-agent rotate-key`; it prints its progress on stderr.

/** How long the exit waits for the last lines of output, in milliseconds. */
const FLUSH_MS = 2_000

const output = createStandardOutput({ clock: systemClock })
output.takeOver()
const report = (line: string) => output.stderr.write(`${line}\n`)

// Keeps the process alive: the clock's timers do not, and the command might do nothing but wait for a service that shuts down.
const keepAlive = setInterval(() => {}, 60_000)
try {
  if (process.argv.length > 3) {
    throw new Usage('rotate-key takes no arguments: the new passphrase, if any, comes from LOCAL_AGENT_NEW_PASSPHRASE.')
  }
  const options = await readOptions([], process.env, async () => ({}))
  if (typeof options === 'string') throw new Usage(options)
  const dir = homeFolder(options.home)
  const { LOCAL_AGENT_NEW_PASSPHRASE: newPassphrase } = process.env
  await rotateKey({ dir, passphrase: options.passphrase, newPassphrase, clock: systemClock, report })
} catch (error) {
  const { message, exitCode } = explainStart(error)
  report(message)
  process.exitCode = exitCode
} finally {
  clearInterval(keepAlive)
}
await output.flush(FLUSH_MS)
process.exit()
