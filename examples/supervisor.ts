// Starts the service and restarts it after failures, like a desktop shell:
//
//   node examples/supervisor.ts [--poll-ms 5000] [--max-restarts 3] [--backoff-ms 1000] [-- command arguments…]
//
// The default command is the service of the installed package. It gets `--stdin`, so that it ends with this process, even when
// this process is killed. Events are written to stdout, one JSON object per line; the log of the service goes to stderr.
import { parseArgs } from 'node:util'
import { createSupervisor, ServiceEnded } from 'local-agent-service/supervisor'

const { values, positionals: [command, ...args] } = parseArgs({
  allowPositionals: true,
  options: { 'poll-ms': { type: 'string' }, 'max-restarts': { type: 'string' }, 'backoff-ms': { type: 'string' } }
})
const ms = (text: string | undefined, fallback: number) => text === undefined ? fallback : Number(text)

// The service gets its secrets over standard input, so that they are not in its environment. This example reads them from
// its own environment; a real shell would read them from a keychain.
const { LOCAL_AGENT_TOKEN, LOCAL_AGENT_PASSPHRASE, AI_GATEWAY_API_KEY, ...env } = process.env

const supervisor = createSupervisor({
  command,
  args,
  env,
  secrets: {
    token: LOCAL_AGENT_TOKEN || undefined,
    passphrase: LOCAL_AGENT_PASSPHRASE || undefined,
    gatewayKey: AI_GATEWAY_API_KEY || undefined
  },
  limits: {
    healthMs: ms(values['poll-ms'], 5_000),
    maxRestarts: ms(values['max-restarts'], 3),
    backoffMs: ms(values['backoff-ms'], 1_000)
  },
  onEvent: (event) => console.log(JSON.stringify(event)),
  // What a person is to be told. A real shell shows it with the means of its system, and opens the console when it is pressed.
  onNotification: (notification) => console.log(JSON.stringify({ event: 'notification', ...notification })),
  onNotificationClosed: (notificationId) => console.log(JSON.stringify({ event: 'notification-closed', notificationId }))
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    supervisor.stop().catch(() => {})
  })
}

try {
  await supervisor.start()
} catch (error) {
  if (!(error instanceof ServiceEnded)) throw error
  console.error(error.message)
}
const { code } = await supervisor.ended
process.exitCode = code ?? 1
