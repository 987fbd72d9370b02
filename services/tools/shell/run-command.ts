import { Type, type Static } from '@sinclair/typebox'
import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { shellCommand, spawnGuarded, systemShell } from '../../process/index.ts'
import type { FolderIdentity, Tool, ToolOutput } from '../../contracts/tool.ts'
import { withPathErrors, PathRefused, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFolder, type Folder } from '../files/open-folder.ts'
import { isSameFolder } from '../work-folder.ts'
import { commandEnvironment } from './command-environment.ts'
import { collectOutput } from './command-output.ts'
import { shortenOutputs, terminalText } from './terminal-text.ts'

/** The longest time limit in milliseconds, as documented for the tool. */
const LONGEST_MS = 30_000
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

const Input = Type.Object({
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
      description: `Milliseconds after which the command is ended; ${LONGEST_MS} at most, which is the default.`
    })
  )
}, { additionalProperties: false })

interface Parts {
  paths: PathPolicy
  clock: Clock
  /** The environment of commands, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
}

/**
 * `{exitCode, signal?, stdout, stderr, durationMs, timedOut?, killed?, truncated?}`. A non-zero exit code is a result, not an error. An
 * abort ends the command and every process it started, then throws the signal's reason.
 */
export function createRunCommand ({ paths, clock, environment }: Parts): Tool<Static<typeof Input>> {
  return {
    name: 'runCommand',
    description: `Run a command line in ${systemShell().name}; answers with its exit code and output. For builds, tests, git and ` +
      'programs. ' +
      'Do not use it for what another tool does: searchFiles and findFiles (not grep, find, rg), readFile (not cat, head), ' +
      'editFile (not sed), moveFile and deleteFile (not mv, rm). Ask programs for little output.',
    forModel: cleaned,
    inputSchema: Input,
    effect: 'external',
    isCommand: true,
    timeLimitMs: LIMIT_MS,
    target: ({ command }) => command,
    folder: ({ cwd }) => cwd,
    async execute ({ command, cwd = '.', timeoutMs = LONGEST_MS }, { cwd: base, approvedFolder, signal }) {
      const folder = await withPathErrors(cwd, () => paths.resolve(cwd, base))
      if (command.includes('\0')) throw new ToolFailed('The command holds a NUL character.')
      if (Buffer.byteLength(command) > LONGEST_BYTES) {
        throw new ToolFailed(`The command is longer than ${LONGEST_BYTES} bytes: write it to a file and run that.`)
      }
      signal.throwIfAborted()

      const started = clock.awake()
      const child = await withPathErrors(cwd, () =>
        withFolder(folder, async (held) => {
          if (approvedFolder !== undefined) await assertApproved(held, approvedFolder)
          return spawnGuarded(...shellCommand(command), {
            cwd: held.entry('.'),
            env: commandEnvironment(environment()),
            stdin: 'closed',
            clock
          })
        }))
      let bytes = 0
      const count = (chunk: number) => {
        bytes += chunk
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
      signal.throwIfAborted()
      return {
        exitCode: exit.code,
        ...(exit.signal !== null && { signal: exit.signal }),
        stdout: streams[0].text(),
        stderr: streams[1].text(),
        durationMs: Math.round(clock.awake() - started),
        ...(timedOut &&
          {
            timedOut,
            message: `The command was ended after ${timeoutMs} ms. What it did by then stays done: check before you run it again.`
          }),
        ...(bytes > FLOOD_BYTES && { killed: true, message: `The command was killed for writing more than ${FLOOD_BYTES} bytes.` }),
        ...(streams.some((stream) => stream.truncated()) && { truncated: true })
      }
    }
  }
}

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

/** Throws PathRefused unless the open folder is the approved folder. The command starts in this open folder. */
async function assertApproved ({ path, handle }: Folder, approved: FolderIdentity): Promise<void> {
  const { dev, ino } = await handle.stat({ bigint: true })
  if (isSameFolder({ dev: String(dev), ino: String(ino) }, approved)) return
  throw new PathRefused(`${JSON.stringify(path)} was replaced since the command was approved, which was not run.`)
}

async function waitForOutput (streams: Array<ReturnType<typeof collectOutput>>, clock: Clock): Promise<void> {
  await settlesWithin({ clock, ms: DRAIN_MS }, Promise.all(streams.map(({ closed }) => closed)))
  for (const stream of streams) stream.stop()
}
