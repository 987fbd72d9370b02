import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Clock } from '../../../lib/clock.ts'
import { withDeadline } from '../../../lib/deadline.ts'
import { type GuardedChild, spawnGuarded } from '../../../process/index.ts'

/** How often a server that starts is asked whether it is ready, ms. */
const POLL_MS = 50
/** How long it may take to say so, ms. */
const ANSWER_MS = 5_000
/** A large file on a slow disk takes minutes to load, ms. */
const LOAD_MS = 10 * 60_000
/** Ports that are tried: another program may take one before the server does. */
const TRIES = 3
/** Characters of the server's log that are kept. */
const KEPT = 16_000
const GRACE_MS = 2_000

interface ServerParts {
  engine: string
  path: string
  /** The model's name, by which requests name it. */
  name: string
  /** Tokens. */
  window: number
  threads: number
  environment: NodeJS.ProcessEnv
  clock: Clock
  signal: AbortSignal
}

/** llama.cpp's server with one model. */
export interface ModelServer {
  baseURL: string
  key: string
  window: number
  hasEnded(): boolean
  end(): Promise<void>
}

/** A server that did not start. The message is the end of a sentence. */
export class ServerFailed extends Error {
  override name = 'ServerFailed'
  readonly isPortTaken: boolean
  constructor (message: string, isPortTaken: boolean) {
    super(message)
    this.isPortTaken = isPortTaken
  }
}

/**
 * Starts a plain server of one model on a port of this computer, with a key that nobody else has, and returns it when the model is loaded.
 * It ends with this process. Throws ServerFailed, and the signal's reason.
 */
export async function startModelServer (parts: ServerParts): Promise<ModelServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(parts)
    } catch (error) {
      if (!(error instanceof ServerFailed && error.isPortTaken && attempt < TRIES)) throw error
    }
  }
}

async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function startOnce (parts: ServerParts): Promise<ModelServer> {
  const { engine, path, name, window, threads, environment, clock, signal } = parts
  signal.throwIfAborted()
  const key = randomBytes(24).toString('base64url')
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'local-agent-'))
  try {
    // The arguments of a process can be read by every user of the computer.
    const keyFile = join(folder, 'key')
    await writeFile(keyFile, `${key}\n`, { mode: 0o600 })
    const options = {
      '-m': path, '--alias': name, '--host': '127.0.0.1', '--port': port, '--api-key-file': keyFile, '-c': window, '-t': threads, '-np': 1
    }
    const args = [...Object.entries(options).flatMap(([option, value]) => [option, `${value}`]), '--jinja', '--no-webui']
    const child = await spawnGuarded(engine, args, { cwd: tmpdir(), env: environment, stdin: 'closed', clock })
    const log = keepLog([child.stdout, child.stderr])
    let hasEnded = false
    void child.exited.then(() => {
      hasEnded = true
    })
    try {
      await untilLoaded({ child, port, key, log, clock, signal })
    } catch (error) {
      await child.end(0)
      throw error
    }
    return { baseURL: `http://127.0.0.1:${port}/v1`, key, window, hasEnded: () => hasEnded, end: () => child.end(GRACE_MS) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns the function that returns the end of what a process has written. */
function keepLog (streams: Readable[]): () => string {
  let text = ''
  for (const stream of streams) {
    stream.setEncoding('utf8')
    stream.on('data', (more: string) => {
      text = (text + more).slice(-KEPT)
    })
    stream.on('error', () => {})
  }
  return () => text
}

interface Loading {
  child: GuardedChild
  port: number
  key: string
  log: () => string
  clock: Clock
  signal: AbortSignal
}

async function untilLoaded ({ child, port, key, log, clock, signal }: Loading): Promise<void> {
  let exit: Awaited<GuardedChild['exited']> | undefined
  void child.exited.then((how) => {
    exit = how
  })
  const until = clock.awake() + LOAD_MS
  while (clock.awake() < until) {
    const headers = { authorization: `Bearer ${key}` }
    const ask = (deadline: AbortSignal) => fetch(`http://127.0.0.1:${port}/health`, { headers, signal: deadline })
    const response = await withDeadline({ clock, ms: ANSWER_MS, signal }, ask).catch(() => undefined)
    await response?.body?.cancel().catch(() => {})
    signal.throwIfAborted()
    if (exit !== undefined) throw new ServerFailed(reasonOf(log(), exit), /couldn't bind|address already in use/i.test(log()))
    if (response?.ok) return
    await Promise.race([clock.sleep(POLL_MS, signal), child.exited])
  }
  throw new ServerFailed(`its file was not loaded within ${LOAD_MS / 60_000} minutes.`, false)
}

/** What llama.cpp says of its failures, and what it means to a person. */
const REASONS: Array<[pattern: RegExp, sentence: string]> = [
  [
    /not within the file bounds|corrupted or incomplete|failed to read tensor|unexpected end/i,
    'its file is cut off or broken. Get it once more.'
  ],
  [/invalid magic|failed to read magic/i, 'its file is no GGUF file.'],
  [
    /unknown model architecture|unsupported (?:model|architecture)/i,
    'llama.cpp on this computer is too old for it, or does not know its kind. Update llama.cpp.'
  ],
  [
    /out of memory|failed to allocate|cannot allocate|bad_alloc/i,
    'there is too little memory for it. Choose a smaller file or a smaller "window", or close programs.'
  ],
  [
    /error while loading shared libraries|Library not loaded/i,
    'llama.cpp on this computer is incomplete: a library of it is missing. Install it once more.'
  ]
]

function reasonOf (log: string, { code, signal }: Awaited<GuardedChild['exited']>): string {
  const known = REASONS.find(([pattern]) => pattern.test(log))?.[1]
  if (known !== undefined) return known
  // Lines begin with a time, a level and the part of the program.
  const lines = log.split('\n').map((line) => line.replace(/^[\d.]+ [A-Z] /, '').trim())
  const last = lines.findLast((line) => /error|fail/i.test(line))
  const how = signal === null ? `with status ${code}` : `by ${signal}`
  return `llama.cpp ended ${how} when it loaded it${last === undefined ? '' : `: ${last.slice(0, 300)}`}.`
}
