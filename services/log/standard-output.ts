import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../lib/clock.ts'
import { lossLine, createSink, type Sink, openTarget } from './sink.ts'

/** A write to a file that takes longer when the process exits counts as hung; milliseconds. */
const HUNG_MS = 200

export type StandardOutput = ReturnType<typeof createStandardOutput>

/** Creates sinks for stdout and stderr of this process, so that neither can block or end it. Call it before anything is written. */
export function createStandardOutput ({ clock }: { clock: Clock }) {
  const open = (fd: 1 | 2, name: string) =>
    createSink({
      target: openTarget(fd),
      clock,
      describeLoss: lossLine(clock, name)
    })
  const stdout = open(1, 'stdout')
  const stderr = open(2, 'stderr')

  return {
    stdout,
    stderr,

    /**
     * Redirects the output of console, Node's warnings and worker threads to the sinks, and prevents a hung file from delaying
     * the exit; `fileHangs` tells whether one of the log does.
     */
    takeOver (fileHangs: (ms: number) => boolean = () => false): void {
      redirect(process.stdout, stdout)
      redirect(process.stderr, stderr)
      process.on('exit', (code) => {
        if (stdout.hangs(HUNG_MS) || stderr.hangs(HUNG_MS) || fileHangs(HUNG_MS)) exitNow(code)
      })
    },

    /** Waits up to `ms` until both sinks have written their lines. */
    async flush (ms: number): Promise<void> {
      await Promise.all([stdout.flush(ms), stderr.flush(ms)])
    }
  }
}

function redirect (stream: NodeJS.WriteStream, sink: Sink) {
  const decoder = new StringDecoder()
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]) => {
    sink.write(typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk)))
    const done = rest.find((argument) => typeof argument === 'function')
    if (done) process.nextTick(done as () => void)
    return true
  }
}

/** Ends the process without waiting for its threads, unlike process.exit: it executes another program, which exits with `code`. */
function exitNow (code: number) {
  try {
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {})
  } catch {}
  process.kill(process.pid, 'SIGKILL')
}
