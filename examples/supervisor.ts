// Starts the service and keeps it running, as a desktop shell would:
//
//   node examples/supervisor.ts [--poll-ms 5000] [--max-restarts 3] [-- command arguments…]
//
// The command is `local-agent` unless another one is given; it gets `--stdin`, so that it ends with this process, also when
// that is killed. What happens is told on stdout, one JSON object a line.
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
/** Polls in a row without an answer, after which the service counts as hung. */
const MAX_MISSED = 3
/** A service that is not ready by then is hung. */
const READY_MS = 30_000
/** The service ends within 5 s when it is told to. */
const END_MS = 6_000

// Secrets go to the service over its standard input, so that they are in no environment there. They come from this process's
// own for want of a keychain, which a real shell would ask.
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

const tell = (event: string, more: object = {}) => console.log(JSON.stringify({ event, ...more }))
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

/** Runs the service once: waits for its ready line, then asks after its health until it has ended. */
async function run (): Promise<Exit> {
  const child = service = spawn(command, [...args, '--stdin'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  // It stays open: its end is the service's. One that fails at once reads nothing, which is seen by its exit.
  child.stdin!.on('error', () => {}).write(`${SECRETS}\n`)
  const over = new AbortController()
  const exited = once(child, 'exit').then(([code, signal]): Exit => ({ code, signal })).finally(() => over.abort())
  const late = setTimeout(() => child.kill('SIGKILL'), READY_MS)
  const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), exited.then(() => [])]) as [string?]
  clearTimeout(late)
  if (line !== undefined) {
    const { url, pid, version } = JSON.parse(line)
    tell('ready', { url, pid, version })
    watch(url, child, over.signal).catch((error) => tell('error', { message: error.message }))
  }
  return exited
}

/** A process that lives but does not answer is as good as crashed. */
async function watch (url: string, child: ChildProcess, over: AbortSignal) {
  for (let missed = 0; missed < MAX_MISSED;) {
    await sleep(POLL_MS, over)
    if (over.aborted) return
    const health = await fetch(`${url}/health`, { signal: AbortSignal.timeout(POLL_MS) }).catch(() => undefined)
    missed = health?.status === 200 ? 0 : missed + 1
  }
  tell('hung')
  child.kill('SIGKILL')
}

for (let restarts = 0; ; restarts++) {
  const { code, signal } = await run()
  tell('exit', { code, signal })
  // 64 to 98 mean that the same would happen again: usage, configuration, key or data, a port or directory in use.
  const isHopeless = code !== null && code >= 64 && code <= 98
  if (isEnding || code === 0 || isHopeless || restarts >= MAX_RESTARTS) {
    process.exitCode = code ?? (isEnding ? 0 : 1)
    break
  }
  tell('restart', { attempt: restarts + 1 })
}
