import { Type, type Static } from '@sinclair/typebox'
import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { type GuardedChild, shellCommand, spawnGuarded, systemShell } from '../../process/index.ts'
import type { Boundary } from '../../contracts/boundary.ts'
import type { FolderIdentity, Tool, ToolOutput, WorkFolder } from '../../contracts/tool.ts'
import type { BoxedCommand, Sandbox } from '../../sandbox/index.ts'
import { withPathErrors, PathRefused, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFolder, type Folder } from '../files/open-folder.ts'
import { isSameFolder } from '../work-folder.ts'
import type { Readable } from 'node:stream'

/** The time limit of a command in milliseconds, by default and at most. */
const DEFAULT_MS = 30_000
const LONGEST_MS = 600_000
/** Characters of output that readers are shown while the command runs. */
const SHOWN = 400
/** Linux limits one argument to 128 KiB (MAX_ARG_STRLEN). */
const LONGEST_BYTES = 120_000
/** A command that writes more bytes than this, on both streams together, is killed. */
const FLOOD_BYTES = 10 * 1024 * 1024
/** Milliseconds between TERM and KILL at shutdown, for which the service itself has 5 s. */
const SHUTDOWN_MS = 1_000
/** Milliseconds to wait for the end of the output after the process group ended; only a process outside the group can still hold it. */
const DRAIN_MS = 500
/** Time limit of the tool call, including the time between TERM and KILL. */
const LIMIT_MS = LONGEST_MS + 15_000

const PlainInput = Type.Object({
  command: Type.String({
    minLength: 1,
    maxLength: 100_000,
    description: 'The command line. There is no input and no terminal; what is left in the background is ended with the command.'
  }),
  cwd: Type.Optional(Type.String({ minLength: 1, description: 'Folder to run in. Default: the working directory.' })),
  timeoutMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LONGEST_MS,
      description: `Milliseconds after which the command is ended. Default ${DEFAULT_MS}; more for builds and tests.`
    })
  )
}, { additionalProperties: false })

const network = {
  network: Type.Optional(
    Type.Array(Type.String({ pattern: '^[A-Za-z0-9.-]{1,253}(?::[0-9]{1,5})?$' }), {
      minItems: 1,
      maxItems: 20,
      description: 'Hosts that the command must reach, through the HTTP proxy in its environment; "host" or "host:port". Without it ' +
        'there is no network.'
    })
  )
}
const outside = {
  outside: Type.Optional(Type.Boolean({
    description: 'true: run outside the box, for what cannot be done in it, such as files elsewhere or servers on this machine. The user ' +
      'is asked each time, with the reason.'
  })),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Why the command has to run outside, for the user.' }))
}
const closed = { additionalProperties: false }
/** The input where there is a box: with a network or without, and with a way out or without. */
const BoxedInput = Type.Object({ ...PlainInput.properties, ...outside }, closed)
const NetworkedInput = Type.Object({ ...PlainInput.properties, ...network, ...outside }, closed)
const StrictInput = Type.Object({ ...PlainInput.properties, ...network }, closed)
type Input = Static<typeof NetworkedInput>

const BOX = ' It runs in a box: it can write in the working directory alone, sees no other files of the user, and has no network.'

interface Parts {
  paths: PathPolicy
  clock: Clock
  /** The environment of commands, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
  sandbox: Sandbox
}

/**
 * `{exitCode, signal?, stdout, stderr, durationMs, timedOut?, killed?, truncated?}`. A non-zero exit code is a result, not an error. An
 * abort ends the command and every process it started, then throws the signal's reason.
 */
export function createRunCommand ({ paths, clock, environment, sandbox }: Parts): Tool<Input> {
  const hasBox = () => sandbox.mode() !== 'off' && (sandbox.kind() ?? { is: 'none' }).is !== 'none'
  const inputSchema = () => {
    if (!hasBox()) return PlainInput
    if (sandbox.kind()?.is !== 'bubblewrap') return sandbox.mode() === 'required' ? PlainInput : BoxedInput
    return sandbox.mode() === 'required' ? StrictInput : NetworkedInput
  }

  /** Starts the command in the open folder, in the box or outside. */
  async function start (
    command: string,
    held: Folder,
    boundary: Exclude<Boundary, { is: 'refused' }>
  ): Promise<{ child: GuardedChild, finish?: BoxedCommand['finish'] }> {
    if (boundary.is === 'outside') {
      const child = await spawnGuarded(...shellCommand(command), {
        cwd: held.entry('.'),
        env: commandEnvironment(environment()),
        stdin: 'closed',
        clock
      })
      return { child }
    }
    const hosts = boundary.is === 'networked' ? boundary.hosts : undefined
    return withFolder(boundary.folder.path, async (folder) => {
      await assertSame(folder, boundary.folder)
      return sandbox.start(command, { folder, cwd: held.path, hosts })
    })
  }

  return {
    name: 'runCommand',
    get description () {
      return `Run a command line in ${systemShell().name}; answers with its exit code and output. For builds, tests, git and ` +
        'programs. Do not use it for what another tool does: searchFiles and findFiles (not grep, find, rg), readFile (not cat, head), ' +
        `editFile (not sed), moveFile and deleteFile (not mv, rm). Ask programs for little output.${hasBox() ? BOX : ''}`
    },
    get inputSchema () {
      return inputSchema()
    },
    forModel: cleaned,
    effect: 'external',
    use: 'always',
    isCommand: true,
    timeLimitMs: LIMIT_MS,
    target: ({ command }) => command,
    folder: ({ cwd }) => cwd,
    prepare: sandbox.find,
    findMistake ({ outside, network, reason }) {
      if (outside && reason === undefined) return 'A command outside the box needs a "reason", which the user is shown.'
      return outside && network !== undefined ? 'A command outside the box has every network: leave out "network".' : undefined
    },
    boundary: ({ network, outside }, context) => sandbox.boundary({ network, outside }, context),
    async execute (input, { cwd: base, approvedFolder, confinedTo, sandbox: narrowed, signal, progress }) {
      const { command, cwd = '.', timeoutMs = DEFAULT_MS } = input
      const folder = await withPathErrors(cwd, () => paths.resolve(cwd, base))
      if (command.includes('\0')) throw new ToolFailed('The command holds a NUL character.')
      if (Buffer.byteLength(command) > LONGEST_BYTES) {
        throw new ToolFailed(`The command is longer than ${LONGEST_BYTES} bytes: write it to a file and run that.`)
      }
      signal.throwIfAborted()
      const started = clock.awake()
      const { child, finish } = await withPathErrors(cwd, () =>
        withFolder(folder, async (held) => {
          if (approvedFolder !== undefined) await assertSame(held, approvedFolder)
          const boundary = await sandbox.boundary(input, { folder: await identityOf(held), base, narrowed })
          if (boundary.is === 'refused') throw new ToolFailed(boundary.why)
          if (confinedTo !== undefined && !(boundary.is === 'confined' && isSamePlace(boundary.folder, confinedTo))) {
            throw new ToolFailed('The box that the command was to run in, as it was shown, is not there any more. It was not run.')
          }
          return start(command, held, boundary)
        }))
      let bytes = 0
      const count = (chunk: Buffer) => {
        bytes += chunk.length
        progress?.({ progress: bytes, message: terminalText(decodeWhole(chunk.subarray(-SHOWN))).trim() })
        if (bytes <= FLOOD_BYTES) return
        // Killed before its pipes are closed: a command that ends by SIGPIPE or EPIPE might look as if it had completed.
        child.kill('SIGKILL')
        for (const stream of streams) stream.stop()
        void child.end(0)
      }
      const streams = [collectOutput(child.stdout, count), collectOutput(child.stderr, count)]
      const hasExited = await settlesWithin({ clock, ms: timeoutMs, signal }, child.exited)
      const timedOut = !hasExited && !signal.aborted
      if (!hasExited) void child.end(abortKind(signal.reason) === 'shutdown' ? SHUTDOWN_MS : undefined)
      const exit = await child.exited
      await child.end()
      await waitForOutput(streams, clock)
      const takenAway = await finish?.() ?? []
      signal.throwIfAborted()
      const messages = [
        timedOut && `The command was ended after ${timeoutMs} ms. What it did by then stays done: check before you run it again.`,
        bytes > FLOOD_BYTES && `The command was killed for writing more than ${FLOOD_BYTES} bytes.`,
        takenAway.length > 0 && takenAwayText(takenAway)
      ].filter((text) => text !== false)
      return {
        exitCode: exit.code,
        ...(exit.signal !== null && { signal: exit.signal }),
        stdout: streams[0].text(),
        stderr: streams[1].text(),
        durationMs: Math.round(clock.awake() - started),
        ...(timedOut && { timedOut }),
        ...(bytes > FLOOD_BYTES && { killed: true }),
        ...(messages.length > 0 && { message: messages.join(' ') }),
        ...(streams.some((stream) => stream.truncated()) && { truncated: true })
      }
    }
  }
}

const TAKEN_SHOWN = 20
const takenAwayText = (taken: string[]) =>
  'Programs outside the box would obey what the command has put there, so it was taken away: ' +
  `${taken.slice(0, TAKEN_SHOWN).join(' ')} If the user wants it, run the command with "outside": true and a reason.`

/** The output as a terminal shows it, within the bounds of what models see. */
function cleaned (output: ToolOutput): ToolOutput {
  const { stdout, stderr, truncated, ...rest } = output
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return output
  const { isShortened, ...shown } = shortenOutputs(terminalText(stdout), terminalText(stderr))
  const message = [
    rest.message,
    (isShortened || truncated === true) && 'A part of the output is left out: to see it, send it to a file and read or search that.'
  ].filter((sentence) => typeof sentence === 'string').join(' ')
  return { ...rest, ...shown, ...(isShortened || truncated === true) && { truncated: true }, ...message !== '' && { message } }
}

/** Throws PathRefused unless the open folder is the one that was approved. The command starts in this open folder. */
async function assertSame (held: Folder, approved: FolderIdentity): Promise<void> {
  if (isSameFolder(await identityOf(held), approved)) return
  throw new PathRefused(`${JSON.stringify(held.path)} was replaced since the command was approved, which was not run.`)
}

async function identityOf ({ path, handle }: Folder): Promise<WorkFolder> {
  const { dev, ino } = await handle.stat({ bigint: true })
  return { path, dev: String(dev), ino: String(ino) }
}

const isSamePlace = (a: WorkFolder, b: WorkFolder): boolean => a.path === b.path && isSameFolder(a, b)

async function waitForOutput (streams: Array<ReturnType<typeof collectOutput>>, clock: Clock): Promise<void> {
  await settlesWithin({ clock, ms: DRAIN_MS }, Promise.all(streams.map(({ closed }) => closed)))
  for (const stream of streams) stream.stop()
}

/** Variables that describe this process and would change what a command does: npm installs less under NODE_ENV=production. */
const OWN = new RegExp(
  '^(?:NODE_ENV|NODE_CHANNEL_FD|NODE_CHANNEL_SERIALIZATION_MODE|NODE_UNIQUE_ID|ELECTRON_RUN_AS_NODE|' +
    'npm_(?:lifecycle|package)_.*)$'
)

/** Returns the environment of commands: that of children, without the variables that say how the service itself was started. */
const commandEnvironment = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !OWN.test(name)))

/** Bytes kept of the head and of the tail of a stream, each. */
const KEPT_BYTES = 32 * 1024

/** Collects a stream in bounded memory. `onChunk` gets every chunk, kept or not. */
export function collectOutput (stream: Readable, onChunk: (chunk: Buffer) => void) {
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let total = 0

  stream.on('data', (chunk: Buffer) => {
    total += chunk.length
    const start = chunk.subarray(0, KEPT_BYTES - headBytes)
    if (start.length > 0) head.push(start)
    headBytes += start.length
    tail.push(chunk.subarray(start.length))
    tailBytes += chunk.length - start.length
    if (tailBytes > 4 * KEPT_BYTES) {
      // Copied, because a subarray would keep the whole concatenated buffer in memory.
      tail = [Buffer.from(Buffer.concat(tail).subarray(-KEPT_BYTES))]
      tailBytes = KEPT_BYTES
    }
    onChunk(chunk)
  })
  // A broken pipe only ends the output.
  stream.on('error', () => {})

  return {
    /** Resolves when the stream has closed. An empty stream may have closed before this function was called. */
    closed: stream.closed ? Promise.resolve() : new Promise<void>((resolve) => stream.once('close', () => resolve())),
    stop: () => {
      stream.destroy()
    },
    truncated: () => total > 2 * KEPT_BYTES,
    /** Returns the text, with a marker where bytes were left out. */
    text (): string {
      const rest = Buffer.concat(tail)
      const left = total - headBytes - KEPT_BYTES
      if (left <= 0) return Buffer.concat([...head, rest]).toString('utf8')
      return `${decodeWhole(Buffer.concat(head))}\n[… ${left} bytes left out …]\n${decodeWhole(rest.subarray(-KEPT_BYTES))}`
    }
  }
}

/** Decodes a slice of UTF-8; incomplete characters at either end are dropped. */
function decodeWhole (bytes: Buffer): string {
  const continues = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80
  let start = 0
  while (start < 3 && continues(bytes[start])) start++
  // With `stream`, the decoder holds back an incomplete character at the end.
  return new TextDecoder().decode(bytes.subarray(start), { stream: true })
}

/** Bytes of the output of a command that models see, of both streams together. */
const MODEL_BYTES = 32 * 1024

/** Control sequences of terminals: CSI (colours, cursor), OSC (titles, links) and short escapes; ECMA-48. */
// eslint-disable-next-line no-control-regex
const SEQUENCES = /\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|\u001b[ -/]{0,8}[0-~]/g
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

/**
 * Returns what a terminal would show of an output: without control sequences, and of a line that was written over after carriage
 * returns, such as a progress bar, the last state.
 */
function terminalText (output: string): string {
  const plain = output.replace(SEQUENCES, '').replace(/\r+\n/g, '\n')
  const lines = plain.includes('\r') ? plain.split('\n').map(lastState).join('\n') : plain
  return lines.replace(CONTROLS, '')
}

function lastState (line: string): string {
  const states = line.split('\r')
  return states.findLast((state) => state.trim() !== '') ?? ''
}

/** Shortens two outputs at line ends until they fit: each keeps its head and its tail. A small one leaves its room to the other. */
function shortenOutputs (stdout: string, stderr: string): { stdout: string, stderr: string, isShortened: boolean } {
  const size = (text: string) => Buffer.byteLength(text)
  if (size(stdout) + size(stderr) <= MODEL_BYTES) return { stdout, stderr, isShortened: false }
  const half = MODEL_BYTES / 2
  const roomOut = Math.max(half, MODEL_BYTES - size(stderr))
  const roomErr = Math.max(half, MODEL_BYTES - size(stdout))
  return { stdout: shorten(stdout, roomOut), stderr: shorten(stderr, roomErr), isShortened: true }
}

function shorten (text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const lines = text.split('\n')
  const take = (from: string[], room: number): string[] => {
    const taken: string[] = []
    let left = room
    for (const line of from) {
      left -= Buffer.byteLength(line) + 1
      if (left < 0) break
      taken.push(line)
    }
    return taken
  }
  const head = take(lines, bytes / 2)
  const tail = take(lines.slice(head.length).reverse(), bytes / 2).reverse()
  const out = lines.length - head.length - tail.length
  if (head.length + tail.length > 0) return [...head, `[… ${out} lines left out …]`, ...tail].join('\n')
  // One line that is too long.
  const characters = Math.floor(bytes / 8)
  return `${text.slice(0, characters).toWellFormed()}\n[… a part left out …]\n${text.slice(-characters).toWellFormed()}`
}
