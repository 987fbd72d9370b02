import { Type, type Static } from '@sinclair/typebox'
import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { spawnGuarded } from '../../process/spawn-guarded.ts'
import { shellCommand } from '../../process/shell.ts'
import type { FolderIdentity, Tool } from '../tool.ts'
import { about, PathRefused, ToolFailed } from '../tool-errors.ts'
import type { PathPolicy } from '../path-policy.ts'
import { withFolder, type Folder } from '../files/open-folder.ts'
import { isSameFolder } from '../work-folder.ts'
import { collect } from './command-output.ts'

/** Limit of the interface. */
const LONGEST_MS = 30_000
/** Linux takes 128 KiB an argument (MAX_ARG_STRLEN). */
const LONGEST_BYTES = 120_000
/** Beyond this much output, both streams together, the command is killed. */
const FLOOD_BYTES = 10 * 1024 * 1024
/** Between TERM and KILL when the service ends, which itself has 5 s. */
const SHUTDOWN_MS = 1_000
/** How long output is awaited when everything ended; only what could not be found and ended still holds it then. */
const DRAIN_MS = 500
/** The tool's own limit, TERM and KILL included. */
const LIMIT_MS = LONGEST_MS + 15_000

const Input = Type.Object({
  command: Type.String({
    minLength: 1,
    maxLength: 100_000,
    description:
      'Command line for the shell (/bin/sh). There is no input and no terminal; what is left in the background is ended with the command.'
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
  /** Environment of the commands, without secrets: see childEnvironment. */
  environment: () => NodeJS.ProcessEnv
}

/**
 * `{exitCode, signal?, stdout, stderr, durationMs, timedOut?, killed?, truncated?}`. A command that fails has run: its exit code is
 * an answer. An abort ends the command and all it started, then throws the signal's reason.
 */
export function createRunCommand ({ paths, clock, environment }: Parts): Tool<Static<typeof Input>> {
  return {
    name: 'runCommand',
    description: 'Run a command line in the shell and answer with its exit code and output. It is ended after 30 seconds at most.',
    inputSchema: Input,
    effect: 'external',
    timeLimitMs: LIMIT_MS,
    folder: ({ cwd }) => cwd,
    async execute ({ command, cwd = '.', timeoutMs = LONGEST_MS }, { cwd: base, approvedFolder, signal }) {
      const folder = await about(cwd, () => paths.resolve(cwd, base))
      if (command.includes('\0')) throw new ToolFailed('The command holds a NUL character.')
      if (Buffer.byteLength(command) > LONGEST_BYTES) {
        throw new ToolFailed(`The command is longer than ${LONGEST_BYTES} bytes: write it to a file and run that.`)
      }
      signal.throwIfAborted()

      const started = clock.awake()
      const child = await about(cwd, () =>
        withFolder(folder, async (held) => {
          if (approvedFolder !== undefined) await assertApproved(held, approvedFolder)
          return spawnGuarded(...shellCommand(command), { cwd: held.entry('.'), env: environment(), stdin: 'closed', clock })
        }))
      let timedOut = false as boolean
      let bytes = 0
      const count = (chunk: number) => {
        bytes += chunk
        if (bytes <= FLOOD_BYTES) return
        // Killed before its pipes break, or it might end by that and look as if it had run.
        child.kill('SIGKILL')
        for (const stream of streams) stream.stop()
        void child.end(0)
      }
      const streams = [collect(child.stdout, count), collect(child.stderr, count)]
      const finished = new AbortController()
      clock.timeout(timeoutMs, AbortSignal.any([finished.signal, signal])).then(
        () => {
          timedOut = true
          return child.end()
        },
        () => {
          if (signal.aborted) void child.end(abortKind(signal.reason) === 'shutdown' ? SHUTDOWN_MS : undefined)
        }
      )

      const exit = await child.exited
      finished.abort()
      await child.end()
      await settle(streams, clock)
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

/** The folder is held open: what is checked here is where the command starts. */
async function assertApproved ({ path, handle }: Folder, approved: FolderIdentity): Promise<void> {
  const { dev, ino } = await handle.stat({ bigint: true })
  if (isSameFolder({ dev: String(dev), ino: String(ino) }, approved)) return
  throw new PathRefused(`${JSON.stringify(path)} was replaced since the command was approved, which was not run.`)
}

async function settle (streams: Array<ReturnType<typeof collect>>, clock: Clock): Promise<void> {
  const waited = new AbortController()
  await Promise.race([
    Promise.all(streams.map(({ closed }) => closed)),
    clock.timeout(DRAIN_MS, waited.signal).catch(() => {})
  ])
  waited.abort()
  for (const stream of streams) stream.stop()
}
