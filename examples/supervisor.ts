// Starts the service and restarts it after failures, like a desktop shell:
//
//   node examples/supervisor.ts [--poll-ms 5000] [--max-restarts 3] [-- command arguments…]
//
// The default command is `local-agent`. It gets `--stdin`, so that it ends with this process, even when this process is
// killed. Events are written to stdout, one JSON object per line.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values, positionals: [command = 'local-agent', ...args] } = parseArgs({
  allowPositionals: true,
  options: { 'poll-ms': { type: 'string', default: '5000' }, 'max-restarts': { type: 'string', default: '3' } }
})
const POLL_MS = Number(values['poll-ms'])
const MAX_RESTARTS = Number(values['max-restarts'])
/** Number of consecutive failed polls after which the service counts as hung. */
const MAX_MISSED = 3
/** A service that is not ready after this time counts as hung. Milliseconds. */
const READY_MS = 30_000
/** Time to end after a signal, in milliseconds; the service itself needs at most 5 s. */
const END_MS = 6_000

// The service gets its secrets over standard input, so that they are not in its environment. This example reads them from
// its own environment; a real shell would read them from a keychain.
const { LOCAL_AGENT_TOKEN, LOCAL_AGENT_PASSPHRASE, AI_GATEWAY_API_KEY, ...env } = process.env
const SECRETS = JSON.stringify({
  token: LOCAL_AGENT_TOKEN || undefined,
  passphrase: LOCAL_AGENT_PASSPHRASE || undefined,
  gatewayKey: AI_GATEWAY_API_KEY || undefined
})

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

const report = (event: string, more: object = {}) => console.log(JSON.stringify({ event, ...more }))
const sleep = (ms: number, signal: AbortSignal) => once(AbortSignal.any([signal, AbortSignal.timeout(ms)]), 'abort')

let service: ChildProcess | undefined
let isEnding = false
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => {
    isEnding = true
    service?.kill(signal)
    setTimeout(() => service?.kill('SIGKILL'), END_MS).unref()
  })
}

/** Runs the service once: waits for its ready line, then polls its health until it exits. */
async function run (): Promise<Exit> {
  const child = service = spawn(command, [...args, '--stdin'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  // Standard input stays open, because the service ends when it closes. A service that fails at once does not read it, and
  // the write error is ignored because the exit shows the failure.
  child.stdin!.on('error', () => {}).write(`${SECRETS}\n`)
  const ended = new AbortController()
  const exited = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal })).finally(() => ended.abort())
  const readyTimeout = setTimeout(() => child.kill('SIGKILL'), READY_MS)
  const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), exited.then(() => [])]) as [string?]
  clearTimeout(readyTimeout)
  if (line !== undefined) {
    const { url, pid, version } = JSON.parse(line)
    report('ready', { url, pid, version })
    watch(url, child, ended.signal).catch((error) => report('error', { message: error.message }))
  }
  return exited
}

/** Polls the health of the service, and kills the process when it does not answer. */
async function watch (url: string, child: ChildProcess, ended: AbortSignal) {
  for (let missed = 0; missed < MAX_MISSED;) {
    await sleep(POLL_MS, ended)
    if (ended.aborted) return
    const health = await fetch(`${url}/health`, { signal: AbortSignal.timeout(POLL_MS) }).catch(() => undefined)
    missed = health?.status === 200 ? 0 : missed + 1
  }
  report('hung')
  child.kill('SIGKILL')
}

for (let restarts = 0; ; restarts++) {
  const { code, signal } = await run()
  report('exit', { code, signal })
  // Exit codes 64 to 98 mean that a restart would fail in the same way: usage, configuration, key or data, a port or
  // directory in use.
  const isPermanent = code !== null && code >= 64 && code <= 98
  if (isEnding || code === 0 || isPermanent || restarts >= MAX_RESTARTS) {
    process.exitCode = code ?? (isEnding ? 0 : 1)
    break
  }
  report('restart', { attempt: restarts + 1 })
}
