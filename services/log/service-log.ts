import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../lib/clock.ts'
import { lossLine, createSink, type Sink } from './sink.ts'
import { rotatingFile, type LogFile } from './rotating-file.ts'

export type ServiceLog = ReturnType<typeof createServiceLog>

/**
 * Creates the destination of the log: stderr and, if one is configured, a file. `format` converts a line for
 * stderr; the file always gets JSON. Writing never blocks and never throws.
 */
export function createServiceLog ({ stderr, clock, format }: { stderr: Sink, clock: Clock, format?: (line: string) => string }) {
  let file: { options: LogFile, sink: Sink, target: ReturnType<typeof rotatingFile> } | undefined

  return {
    /** Queues one line of JSON, including its line feed. */
    write (line: string): void {
      stderr.write(format === undefined ? line : format(line))
      file?.sink.write(line)
    },

    /** From now on, writes each line to this file as well; undefined stops writing to a file. */
    useFile (options: LogFile | undefined): void {
      if (isDeepStrictEqual(options, file?.options)) return
      const old = file
      if (old !== undefined) old.sink.flush(LAST_LINES_MS).then(() => old.target.close()).catch(() => {})
      const target = options && rotatingFile(options)
      file = options && target && { options, target, sink: createSink({ target, clock, describeLoss: lossLine(clock, 'the log file') }) }
    },

    /** Waits up to `ms` milliseconds until all lines are written to the file. */
    flushFile: async (ms: number): Promise<void> => {
      await file?.sink.flush(ms)
    },

    /** Whether a write to the file has hung for `ms` milliseconds, which might make process.exit hang as well. */
    fileHangs: (ms: number): boolean => file?.sink.hangs(ms) ?? false
  }
}

/** How long the last lines may take to be written to a file that is no longer used; milliseconds. */
const LAST_LINES_MS = 5_000
