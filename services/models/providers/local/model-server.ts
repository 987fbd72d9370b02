import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import type { Clock } from '../../../lib/clock.ts'
import { withDeadline } from '../../../lib/deadline.ts'
import { readJson } from '../../../lib/json.ts'
import { type GuardedChild, spawnGuarded } from '../../../process/index.ts'
import { isPortOfAnotherUser } from './port-owner.ts'

/** How often a starting server is asked whether it is ready, milliseconds. */
const POLL_MS = 50
/** The time limit for each answer to that question, milliseconds. */
const ANSWER_MS = 5_000
/** The time limit for loading, milliseconds: a large file on a slow disk takes minutes. */
export const LOAD_MS = 10 * 60_000
/** How many ports are tried: another program might take a port before the server does. */
const TRIES = 3
/** Characters of the server's log that are kept. */
const KEPT = 16_000
const GRACE_MS = 2_000

export interface ServerParts {
  engine: string
  path: string
  /** The name of the model in requests. */
  name: string
  /** The context window, in tokens. */
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

/** A server did not start. The message completes "The model … cannot be used yet:". */
export class ServerFailed extends Error {
  override name = 'ServerFailed'
  readonly isPortTaken: boolean
  constructor (message: string, isPortTaken: boolean) {
    super(message)
    this.isPortTaken = isPortTaken
  }
}

/**
 * Starts a server for one model on a port of this computer, with a key that nobody else has. Resolves when the model is loaded. The server
 * ends with this process. Throws ServerFailed, and the signal's reason.
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
      const served = await untilLoaded({ child, port, key, log, clock, signal })
      const baseURL = `http://127.0.0.1:${port}/v1`
      return { baseURL, key, window: served ?? window, hasEnded: () => hasEnded, end: () => child.end(GRACE_MS) }
    } catch (error) {
      await child.end(0)
      throw error
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Returns a function that returns the last output of a process. */
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

/**
 * Waits until the model is loaded. Returns the context window that the server reports, in tokens; undefined if it reports none. Throws
 * ServerFailed, and the signal's reason.
 */
async function untilLoaded ({ child, port, key, log, clock, signal }: Loading): Promise<number | undefined> {
  let exit: Awaited<GuardedChild['exited']> | undefined
  void child.exited.then((how) => {
    exit = how
  })
  const until = clock.awake() + LOAD_MS
  while (clock.awake() < until) {
    // A program that sees the port in our arguments might take it first. It would get the key, and then the prompts.
    if (await isPortOfAnotherUser(port)) throw new ServerFailed('a program of another user has taken its port.', true)
    // /props checks the key, unlike /health, so the llama.cpp server of another program at the port refuses the request.
    const answer = await withDeadline({ clock, ms: ANSWER_MS, signal }, async (deadline) => {
      const headers = { authorization: `Bearer ${key}` }
      const response = await fetch(`http://127.0.0.1:${port}/props`, { headers, signal: deadline })
      return { isLoaded: response.ok, text: await response.text() }
    }).catch(() => undefined)
    signal.throwIfAborted()
    if (exit !== undefined) throw new ServerFailed(reasonOf(log(), exit), /couldn't bind|address already in use/i.test(log()))
    if (answer?.isLoaded) {
      if (await isPortOfAnotherUser(port)) continue
      const window = readJson(answer.text)?.default_generation_settings?.n_ctx
      return Number.isSafeInteger(window) && window > 0 ? window : undefined
    }
    await Promise.race([clock.sleep(POLL_MS, signal), child.exited])
  }
  throw new ServerFailed(`its file was not loaded within ${LOAD_MS / 60_000} minutes.`, false)
}

/** Messages of llama.cpp about failures, and the end of the sentence that explains each to the user. */
const REASONS: Array<[pattern: RegExp, sentence: string]> = [
  [
    /not within the file bounds|corrupted or incomplete|failed to read (?:tensor|key-value)|unexpected end/i,
    'its file is cut off or broken. Get it once more.'
  ],
  [/invalid magic|failed to read magic/i, 'its file is not a GGUF file.'],
  [
    /unknown model architecture|unsupported (?:model|architecture)|(?:invalid|unknown) argument/i,
    'llama.cpp on this computer is too old for it, or does not know its kind. Update llama.cpp.'
  ],
  [
    /out of memory|failed to allocate|cannot allocate|bad_alloc/i,
    'there is too little memory for it. Choose a smaller file or a smaller "window", or close programs.'
  ],
  [
    /exec format error|cannot execute|bad CPU type/i,
    'llama-server on this computer is not a program that it can run. Get the release of llama.cpp that is made for it.'
  ],
  [
    /error while loading shared libraries|Library not loaded/i,
    'llama.cpp on this computer is incomplete: a library of it is missing. Install it once more.'
  ]
]

/** For a server that was killed, as Linux and macOS do when memory runs out. */
const KILLED = 'its server, llama.cpp, was killed when it loaded the file, as systems do when there is too little memory. ' +
  'Choose a smaller file or a smaller "window", or close programs.'

/** For a server that was built on another computer. */
const OTHER_PROCESSOR = 'llama-server was built for commands that the processor of this computer lacks. ' +
  'Get a release of llama.cpp, or build it on this computer.'
/** The exit status of such a server on Windows. */
const ILLEGAL_INSTRUCTION = 0xC000001D

function reasonOf (log: string, { code, signal }: Awaited<GuardedChild['exited']>): string {
  const known = REASONS.find(([pattern]) => pattern.test(log))?.[1]
  if (known !== undefined) return known
  if (signal === 'SIGKILL') return KILLED
  if (signal === 'SIGILL' || code === ILLEGAL_INSTRUCTION) return OTHER_PROCESSOR
  // Lines begin with a time, a level and the part of the program.
  const lines = log.split('\n').map((line) => line.replace(/^[\d.]+ [A-Z] /, '').trim())
  // The lines behind the first failure only repeat that something failed.
  const first = lines.find((line) => /error|fail/i.test(line)) ?? lines.findLast((line) => line !== '')
  const how = signal === null ? `with status ${code}` : `by ${signal}`
  return `its server, llama.cpp, ended ${how} when it loaded the file${first === undefined ? '' : `: ${first.slice(0, 300)}`}.`
}
