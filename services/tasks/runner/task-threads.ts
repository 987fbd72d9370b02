import { fileURLToPath } from 'node:url'
import type { Worker } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { workerProgram } from '../../process/index.ts'

/** A spare that no run has taken for this long is ended, because it holds some megabytes; milliseconds. */
const IDLE_MS = 10 * 60_000
/** Memory limits of a worker, which holds little more than the events of its run; mebibytes. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }

export interface TaskThread {
  worker: Worker
  /** Resolves to the reason in words when the worker has exited. */
  exited: Promise<string>
  isSpare: boolean
}

/**
 * Starts worker threads with Bree, which only launches them. A thread serves one run. One spare thread is started ahead of its
 * run, because the start of a thread takes longer than all that the loop of a short run does.
 */
export function createTaskThreads ({ clock }: { clock: Clock }) {
  let loading: Promise<any> | undefined
  let started = 0
  let spare: Promise<TaskThread> | undefined
  let closed = false

  async function start (isSpare = false): Promise<TaskThread> {
    const bree = await (loading ??= load())
    const name = `task-run-${++started}`
    // Bree takes a path with an unusual character, such as "(" or "&", for code, unless it is told what it is.
    const { program, eval: isCode } = workerProgram('task')
    await bree.add({
      name,
      path: isCode ? program : fileURLToPath(program),
      worker: { eval: isCode, resourceLimits: LIMITS, stdin: false, execArgv: [] }
    })
    await bree.run(name)
    const worker = bree.workers.get(name) as Worker
    let cause = 'it ended by itself'
    worker.on('error', (error: NodeJS.ErrnoException) => {
      cause = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it ran out of memory' : error.message
    })
    const exited = new Promise<string>((resolve) => {
      worker.once('exit', (code) => {
        bree.config.jobs = bree.config.jobs.filter((job: { name: string }) => job.name !== name)
        resolve(`(exit code ${code}): ${cause}`)
      })
    })
    return { worker, exited, isSpare }
  }

  async function end (thread: Promise<TaskThread>) {
    const { worker, exited } = await thread
    await worker.terminate()
    await exited
  }

  return {
    /** Starts a thread for a run. */
    start: () => start(),

    /** Returns the spare thread for a run, or starts a thread. */
    async take (): Promise<TaskThread> {
      const taken = spare
      spare = undefined
      return await taken?.catch(() => undefined) ?? start()
    },

    /** Starts a spare thread unless there is one. A spare that exits, or is not taken in IDLE_MS, is not replaced before the next call. */
    prepare () {
      if (spare !== undefined || closed) return
      const started = start(true)
      spare = started
      const forget = () => {
        idle.stop()
        if (spare === started) spare = undefined
      }
      const idle = startDeadline({ clock, ms: IDLE_MS }, () => {
        if (spare !== started) return
        spare = undefined
        end(started).catch(() => {})
      })
      started.then(({ exited }) => exited).then(forget, forget)
    },

    /** Ends the spare thread; none is started any more. */
    async close () {
      closed = true
      const left = spare
      spare = undefined
      if (left !== undefined) await end(left).catch(() => {})
    }
  }
}

async function load () {
  const { default: Bree } = await import('bree')
  // Bree's types lack init, workers and config. Its error handler does nothing, because `exited` tells how a worker ended.
  const bree: any = new Bree(
    { root: false, doRootCheck: false, logger: false, acceptedExtensions: ['.js', '.ts'], errorHandler: () => {} } as never
  )
  await bree.init()
  return bree
}
