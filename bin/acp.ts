import { Readable, Writable } from 'node:stream'
import { ndJsonStream } from '@agentclientprotocol/sdk'
import { connectEditor } from '../acp/connect-editor.ts'
import { createServiceAccess } from '../acp/service-access.ts'
import { systemClock } from '../services/lib/clock.ts'
import { createStandardOutput } from '../services/log/sink.ts'

// The command `local-agent acp`. An editor starts it and speaks the Agent Client Protocol with it over stdin and stdout. The command is a
// client of the running service, or starts a service that ends with the command. It logs to stderr.

/** How long the exit waits for the last lines of the log, in milliseconds. */
const FLUSH_MS = 400

// An editor might close stderr or never read it, so stderr is written through a bounded queue. Protocol messages go to stdout directly.
const { stderr } = createStandardOutput({ clock: systemClock })
const report = (line: string) => stderr.write(`${line}\n`)
if (process.argv.length > 3) {
  report('acp takes no arguments. LOCAL_AGENT_URL, LOCAL_AGENT_TOKEN and LOCAL_AGENT_HOME name the service, see docs/acp.md.')
  await stderr.flush(FLUSH_MS)
  process.exit(64)
}
// Output of other modules must not get between the protocol messages on stdout.
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
