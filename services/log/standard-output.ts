import { hostname } from 'node:os'
import { StringDecoder } from 'node:string_decoder'
import type { Clock } from '../lib/clock.ts'
import { createSink, type Sink } from './sink.ts'
import { openTarget } from './sink-target.ts'

/** A write to a file that takes longer when the process exits is taken for one that never ends; milliseconds. */
const HUNG_MS = 200

export type StandardOutput = ReturnType<typeof createStandardOutput>

/** stdout and stderr of this process as sinks, so that neither can block or end it. To be called before anything is written. */
export function createStandardOutput ({ clock }: { clock: Clock }) {
  const open = (fd: 1 | 2, name: string) =>
    createSink({
      target: openTarget(fd),
      clock,
      describeLoss: (lost) =>
        `${
          JSON.stringify({
            level: 40,
            time: clock.now(),
            pid: process.pid,
            hostname: hostname(),
            lost,
            msg: `${name} took no more for a while: ${lost} lines were lost here`
          })
        }\n`
    })
  const stdout = open(1, 'stdout')
  const stderr = open(2, 'stderr')

  return {
    stdout,
    stderr,

    /** Sends what console, Node's warnings and worker threads write the same way, and keeps a hung file from holding up the exit. */
    takeOver (): void {
      redirect(process.stdout, stdout)
      redirect(process.stderr, stderr)
      process.on('exit', (code) => {
        if (stdout.hangs(HUNG_MS) || stderr.hangs(HUNG_MS)) leave(code)
      })
    },

    /** Waits until both have written what they were given, as long as `ms` at most. */
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

/** Ends the process without waiting for its threads, as process.exit would: another program takes its place and exits with `code`. */
function leave (code: number) {
  try {
    process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {})
  } catch {}
  process.kill(process.pid, 'SIGKILL')
}
