import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { GuardedChild } from '../../process/index.ts'
import type { ToolContext } from '../../contracts/tool.ts'
import { collectOutput, decodeWhole, terminalText, waitForOutput } from './command-output.ts'

/** A command that writes more bytes than this, on both streams together, is killed. */
export const FLOOD_BYTES = 10 * 1024 * 1024
/** Milliseconds between TERM and KILL at shutdown, for which the service itself has 5 s. */
const SHUTDOWN_MS = 1_000
/** Characters of output that readers are shown while the command runs. */
const SHOWN = 400

/** Waits for the end of a command, for `ms` milliseconds at most, and ends it with all that it started. Collects what it writes. */
export async function commandEnd (
  child: GuardedChild,
  { clock, ms, signal, progress }: { clock: Clock, ms: number, signal: AbortSignal, progress?: ToolContext['progress'] }
) {
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
  const hasExited = await settlesWithin({ clock, ms, signal }, child.exited)
  const timedOut = !hasExited && !signal.aborted
  if (!hasExited) void child.end(abortKind(signal.reason) === 'shutdown' ? SHUTDOWN_MS : undefined)
  const exit = await child.exited
  await child.end()
  await waitForOutput(streams, clock)
  return { exit, streams, timedOut, isFlood: bytes > FLOOD_BYTES }
}

const TAKEN_SHOWN = 20

/** Says to a model what its command has lost. */
export const takenAwayText = (taken: string[]): string =>
  'Programs outside the box would obey what the command has put there, so it was taken away: ' +
  `${taken.slice(0, TAKEN_SHOWN).join(' ')} If the user wants it, run the command with "outside": true and a reason.`
