import { Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { connectEditor } from '../acp/connect-editor.ts'
import { createServiceAccess } from '../acp/service-access.ts'
import { systemClock } from '../services/lib/clock.ts'
import { createStandardOutput } from '../services/log/sink.ts'

// The command `local-agent acp`: an editor starts it, and speaks the Agent Client Protocol with it over stdin and stdout. It is a client
// of the service that runs here, or starts one that ends with it. Its log is stderr.

/** How long the exit waits for the last lines of the log, in milliseconds. */
const FLUSH_MS = 400

// Editors may close standard error, or never read it. The messages of the protocol on standard output are written as they are.
const { stderr } = createStandardOutput({ clock: systemClock })
const report = (line: string) => stderr.write(`${line}\n`)
if (process.argv.length > 3) {
  report('acp takes no arguments. LOCAL_AGENT_URL, LOCAL_AGENT_TOKEN and LOCAL_AGENT_HOME name the service, see docs/acp.md.')
  await stderr.flush(FLUSH_MS)
  process.exit(64)
}
// What other modules print must not stand between the messages.
console.log = console.error

const service = createServiceAccess({ env: process.env, report })
const stream = ndJsonStream(
  Writable.toWeb(process.stdout) as WritableStream<Uint8Array>,
  Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>
)
const { closed, close } = connectEditor({ stream, service })
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => close())
await closed
await service.end()
await stderr.flush(FLUSH_MS)
process.exit()
