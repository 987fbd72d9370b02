import { Type, type Static } from '@sinclair/typebox'
import { BoxHost } from '../../../schemas/config.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { ServiceError } from '../../lib/service-error.ts'
import { commandEnvironment, lineProblem, shellCommand, spawnGuarded, systemShell } from '../../process/index.ts'
import type { Boundary } from '../../contracts/boundary.ts'
import type { FolderIdentity, BuiltinTool, ToolContext, ToolOutput, WorkFolder } from '../../contracts/tool.ts'
import type { Sandbox, SharedNetwork } from '../../sandbox/index.ts'
import { withPathErrors, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { PathRefused, withFolder, type Folder } from '../../workspace/index.ts'
import { isSameFolder } from '../work-folder.ts'
import { cleaned, commandEnd, commandInWords, FLOOD_BYTES, takenAwayText } from './command-output.ts'
import type { BackgroundCommands, Started } from './background-commands.ts'
import { stateOutput } from './read-command.ts'
import { createTryCommand } from './try-command.ts'

/** The default and the longest time limit of a command, in milliseconds. */
const DEFAULT_MS = 30_000
const LONGEST_MS = 600_000
/** How long a background command is watched after its start, in milliseconds. */
const FIRST_MS = 1_500
/** The most bytes of a command. Linux limits an argument to 128 KiB (MAX_ARG_STRLEN). */
const LONGEST_BYTES = 120_000
/** The time limit of the tool call in milliseconds. It includes the time between TERM and KILL. */
const LIMIT_MS = LONGEST_MS + 15_000

const PlainInput = Type.Object({
  command: Type.String({
    minLength: 1,
    maxLength: 100_000,
    description: 'It has no input and no terminal; what it leaves running is ended'
  }),
  cwd: Type.Optional(Type.String({ minLength: 1 })),
  timeoutMs: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: LONGEST_MS,
      description: `Default ${DEFAULT_MS}; more for builds and tests`
    })
  ),
  background: Type.Optional(Type.Boolean({
    description: 'Keep it running, such as a server; readCommand and stopCommand take its commandId'
  }))
}, { additionalProperties: false })

const network = {
  network: Type.Optional(
    Type.Array(BoxHost, {
      minItems: 1,
      maxItems: 20,
      description: 'Hosts it must reach, by the HTTP proxy in its environment: "host" or "host:port"'
    })
  )
}
const outside = {
  outside: Type.Optional(Type.Boolean({
    description: 'Run outside the box, for files elsewhere or servers here. The user is asked'
  })),
  reason: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Why outside, for the user' }))
}
const ports = {
  ports: Type.Optional(Type.Array(Type.Integer({ minimum: 1024, maximum: 65_535 }), {
    minItems: 1,
    maxItems: 10,
    uniqueItems: true,
    description: 'With background: ports that the user and fetchUrl reach at 127.0.0.1'
  }))
}
/** Returns the web origin of an app whose pages would be served at one of the ports; undefined for none. */
const originOf = (ports: readonly number[] | undefined, origins: readonly string[]): string | undefined =>
  origins.find((origin) => ports?.includes(Number(URL.parse(origin)?.port)))

const closed = { additionalProperties: false }
/** The inputs on a computer that can make a box (a sandbox): with `outside` only, with `network` and `outside`, and with `network` only. */
const BoxedInput = Type.Object({ ...PlainInput.properties, ...outside }, closed)
const NetworkedInput = Type.Object({ ...PlainInput.properties, ...network, ...ports, ...outside }, closed)
const StrictInput = Type.Object({ ...PlainInput.properties, ...network, ...ports }, closed)
type Input = Static<typeof NetworkedInput>
type Allowed = Exclude<Boundary, { is: 'refused' }>

const BOX = ' It runs in a box: it writes in the working directory alone, sees no other files of the user, has no network.'
/** The description of the box for models with a small context window. */
const COMPACT_BOX = ' It writes in the working folder alone, and has no network'

interface Parts {
  paths: PathPolicy
  clock: Clock
  /** The environment of commands, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
  sandbox: Sandbox
  background: BackgroundCommands
  /** The web origins of apps whose pages are allowed to call the service. */
  allowedOrigins: () => string[]
}

/**
 * Output: `{exitCode, signal?, stdout, stderr, durationMs, timedOut?, killed?, truncated?}`; for a background command `{commandId, output,
 * running}` with the fields of `readCommand`. A non-zero exit code is a result, not an error. An abort ends the command and all its child
 * processes, and throws the signal's abort reason.
 */
export function createRunCommand ({ paths, clock, environment, sandbox, background, allowedOrigins }: Parts): BuiltinTool<Input> {
  const hasBox = () => sandbox.mode() !== 'off' && (sandbox.kind() ?? { is: 'none' }).is !== 'none'
  const inputSchema = () => {
    if (!hasBox()) return PlainInput
    if (sandbox.kind()?.is !== 'bubblewrap') return sandbox.mode() === 'required' ? PlainInput : BoxedInput
    return sandbox.mode() === 'required' ? StrictInput : NetworkedInput
  }

  /** Starts a command in an open folder, in the box or outside. `shared` is the network of the conversation's background commands. */
  async function start (
    { command, runId }: { command: string, runId: string },
    held: Folder,
    boundary: Allowed,
    shared?: SharedNetwork
  ): Promise<Started> {
    try {
      if (boundary.is === 'outside') return { child: await startOutside(command, held) }
      const hosts = boundary.is === 'networked' && boundary.hosts.length > 0 ? boundary.hosts : undefined
      return await withFolder(boundary.folder.path, async (folder) => {
        await assertSame(folder, boundary.folder)
        return sandbox.start(command, { folder, cwd: held.path, hosts, shared, owner: background.ownerKey(runId) })
      })
    } catch (error) {
      // Other errors would be taken as errors about the command's folder.
      throw error instanceof ServiceError ? error : new ToolFailed(`The command could not be started: ${(error as Error).message}`)
    }
  }

  const startOutside = (command: string, held: Folder) =>
    spawnGuarded(...shellCommand(command), {
      cwd: held.entry('.'),
      env: commandEnvironment(environment()),
      stdin: 'closed',
      isLine: true,
      clock
    })

  /** Starts a command in the background, and waits FIRST_MS, because it might fail at once. */
  async function stay ({ command, ports }: Input, held: Folder, boundary: Allowed, context: ToolContext): Promise<ToolOutput> {
    const { runId, signal, stays, sandbox: narrowed } = context
    const boxed = boundary.is === 'outside' ? undefined : { hosts: boundary.is === 'networked' ? boundary.hosts : [] }
    const { commandId, ended } = await background.start({ runId, command, ports, boxed }, (shared) =>
      start({ command, runId }, held, boundary, shared))
    stays?.(ended)
    await settlesWithin({ clock, ms: FIRST_MS, signal }, ended)
    // The model does not get the id of the command, so nobody could end it later.
    if (signal.aborted) await background.stop(runId, commandId)
    signal.throwIfAborted()
    return { commandId, ...stateOutput(await background.read(runId, commandId, { ms: 0 }), sandbox.mayAsk(narrowed)) }
  }

  const tryCommand = createTryCommand({ paths, clock, sandbox })
  return {
    model: {
      name: 'runCommand',
      get description () {
        return `Run a command line in ${systemShell().name}. For builds, tests, git and programs, not for what other tools do: no ` +
          `grep, find, cat, head, sed, mv, rm. Ask for little output.${hasBox() ? BOX : ''}`
      },
      get compact () {
        const mayLeave = Object.hasOwn(inputSchema().properties, 'outside')
        return {
          description: `Run a command line.${hasBox() ? `${COMPACT_BOX}${mayLeave ? ', but with outside and a reason' : ''}.` : ''}`,
          schema: Type.Object({
            command: Type.String(),
            timeoutMs: Type.Optional(Type.Integer()),
            ...mayLeave && { outside: Type.Optional(Type.Boolean()), reason: Type.Optional(Type.String()) }
          })
        }
      },
      get schema () {
        return inputSchema()
      },
      output: cleaned,
      use: 'always',
      findMistake ({ command, outside, network, reason, background, ports, timeoutMs }) {
        if (outside && reason === undefined) return 'A command outside the box needs a "reason", which the user is shown.'
        if (background && timeoutMs !== undefined) return 'A command in the background has no time limit: leave out "timeoutMs".'
        if (ports !== undefined && !background) return '"ports" are for commands with "background": true.'
        const origin = originOf(ports, allowedOrigins())
        if (origin !== undefined) return `Pages of ${origin} may call this service, so no command may serve them: use another port.`
        if (outside && ports !== undefined) return 'A command outside the box has every port: leave out "ports".'
        if (outside && network !== undefined) return 'A command outside the box has every network: leave out "network".'
        return lineProblem(command)
      }
    },
    says: {
      en: { label: 'Run a command', does: 'run the command', verb: 'run', result: commandInWords },
      about: ['command'],
      otherNames: [
        'bash', 'shell', 'sh', 'powershell', 'terminal', 'exec',
        'execute', 'executecommand', 'runterminalcmd', 'runshellcommand', 'runbash'
      ]
    },
    policy: { effect: 'external', timeLimitMs: LIMIT_MS },
    effects: {
      source: 'command',
      command: (input) => ({
        folder: input.cwd,
        mayStay: input.background === true,
        boundary: (context) => sandbox.boundary({ network: input.network, ports: input.ports, outside: input.outside }, context),
        tryOut: (context) => tryCommand(input, context)
      })
    },
    async execute (input, context) {
      const { cwd: base, approvedFolder, confinedTo, sandbox: narrowed, runId, signal, progress } = context
      const { command, cwd = '.', timeoutMs = DEFAULT_MS } = input
      const folder = await withPathErrors(cwd, () => paths.resolve(cwd, base))
      if (process.platform === 'win32' && folder.startsWith('\\\\')) {
        throw new ToolFailed(`cmd.exe cannot work in a network folder: the user must map ${folder} to a drive letter first.`)
      }
      if (command.includes('\0')) throw new ToolFailed('The command holds a NUL character.')
      if (Buffer.byteLength(command) > LONGEST_BYTES) {
        throw new ToolFailed(`The command is longer than ${LONGEST_BYTES} bytes: write it to a file and run that.`)
      }
      signal.throwIfAborted()
      const started = clock.awake()
      const begun = await withPathErrors(cwd, () =>
        withFolder(folder, async (held) => {
          if (approvedFolder !== undefined) await assertSame(held, approvedFolder)
          const boundary = await sandbox.boundary(input, { folder: await identityOf(held), base, narrowed })
          if (boundary.is === 'refused') throw new ToolFailed(boundary.why)
          if (confinedTo !== undefined && !(boundary.is === 'confined' && isSamePlace(boundary.folder, confinedTo))) {
            throw new ToolFailed(
              'The command was approved for a box that is not there any more. It was not run. Call it again: the user is asked if needed.'
            )
          }
          if (input.background) return { output: await stay(input, held, boundary, context) }
          return boundary.is === 'confined'
            ? background.besideOthers(runId, (shared) => start({ command, runId }, held, boundary, shared))
            : start({ command, runId }, held, boundary)
        }))
      if ('output' in begun) return begun.output
      const { child, finish, explain } = begun
      const { exit, streams, timedOut, isFlood } = await commandEnd(child, { clock, ms: timeoutMs, signal, progress })
      const { takenAway, notes } = await finish?.() ?? { takenAway: [], notes: [] }
      signal.throwIfAborted()
      const [stdout, stderr] = streams.map((stream) => stream.text())
      const messages = [
        timedOut && `The command was ended after ${timeoutMs} ms. What it did by then stays done: check before you run it again.`,
        isFlood && `The command was killed for writing more than ${FLOOD_BYTES} bytes.`,
        ...explain?.({ stdout, stderr, hasFailed: exit.code !== 0, mayAsk: sandbox.mayAsk(narrowed) }) ?? [],
        ...notes,
        takenAway.length > 0 && takenAwayText(takenAway)
      ].filter((text) => text !== false)
      return {
        exitCode: exit.code,
        ...(exit.signal !== null && { signal: exit.signal }),
        stdout,
        stderr,
        durationMs: Math.round(clock.awake() - started),
        ...(timedOut && { timedOut }),
        ...(isFlood && { killed: true }),
        ...(messages.length > 0 && { message: messages.join(' ') }),
        ...(streams.some((stream) => stream.truncated()) && { truncated: true })
      }
    }
  }
}

/** Throws PathRefused unless the open folder, in which the command starts, is the approved one. */
async function assertSame (held: Folder, approved: FolderIdentity): Promise<void> {
  if (isSameFolder(await identityOf(held), approved)) return
  throw new PathRefused(`${JSON.stringify(held.path)} was replaced since the command was approved. The command was not run.`)
}

async function identityOf ({ path, handle }: Folder): Promise<WorkFolder> {
  const { dev, ino } = await handle.stat({ bigint: true })
  return { path, dev: String(dev), ino: String(ino) }
}

const isSamePlace = (a: WorkFolder, b: WorkFolder): boolean => a.path === b.path && isSameFolder(a, b)
