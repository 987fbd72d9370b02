import type { Readable } from 'node:stream'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { decodeWhole, terminalText } from './command-output.ts'

/** Bytes that are kept of what nobody has read yet: the newest. */
const KEPT_BYTES = 32 * 1024
/** Milliseconds to wait for the end of the streams after the processes ended. */
const DRAIN_MS = 500

export type NewOutput = ReturnType<typeof collectNew>

/** Collects what streams write, in the order in which it comes, until it is taken. What is too much loses its oldest part. */
export function collectNew (streams: Readable[]) {
  let kept: Buffer[] = []
  let bytes = 0
  let left = 0
  let isEnded = false
  let changed = Promise.withResolvers<void>()
  const closed = Promise.all(streams.map((stream) =>
    stream.closed ? undefined : new Promise<void>((resolve) => stream.once('close', () => resolve()))
  ))
  for (const stream of streams) {
    // A broken pipe only ends the output.
    stream.on('error', () => {}).on('data', (chunk: Buffer) => {
      kept.push(chunk)
      bytes += chunk.length
      if (bytes > 2 * KEPT_BYTES) {
        // Copied, because a subarray would keep the whole concatenated buffer in memory.
        const newest = Buffer.from(Buffer.concat(kept).subarray(-KEPT_BYTES))
        left += bytes - newest.length
        kept = [newest]
        bytes = newest.length
      }
      changed.resolve()
    })
  }
  void closed.then(() => {
    isEnded = true
    changed.resolve()
  })

  return {
    /** Resolves when there is something that was not taken, or nothing more comes. */
    some: (): Promise<void> => changed.promise,
    isEnded: () => isEnded,
    /** Waits for the end of the streams, whose processes have ended. */
    async closed (clock: Clock): Promise<void> {
      await settlesWithin({ clock, ms: DRAIN_MS }, closed)
      for (const stream of streams) stream.destroy()
    },
    /** Takes what is new, as a terminal shows it. `left` counts the bytes before it that are lost. */
    take (): { output: string, left: number } {
      const all = Buffer.concat(kept)
      const shown = all.subarray(-KEPT_BYTES)
      const taken = { output: terminalText(decodeWhole(shown)), left: left + all.length - shown.length }
      kept = []
      bytes = left = 0
      if (!isEnded) changed = Promise.withResolvers()
      return taken
    }
  }
}
