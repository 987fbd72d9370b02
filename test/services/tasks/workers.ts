import { createRequire } from 'node:module'
import type { MessagePort, Worker } from 'node:worker_threads'

const threads = createRequire(import.meta.url)('node:worker_threads')
const Real: typeof Worker = threads.Worker
const BAD = new URL('./bad-worker.ts', import.meta.url)

let does: string | undefined
let keep: ((port: MessagePort) => void) | undefined
const living = new Set<Worker>()
const spare = new Set<Worker>()

// What launches workers takes the class once, when it is first needed: so it is another one from the beginning.
threads.Worker = class extends Real {
  constructor (path: string | URL, options: object) {
    super(does === undefined ? path : BAD, { ...options, env: { ...process.env, WORKER_DOES: does } })
    spare.add(this)
    this.once('exit', () => {
      spare.delete(this)
      living.delete(this)
    })
  }

  override postMessage (message: any, transfer?: any) {
    spare.delete(this)
    living.add(this)
    if (keep === undefined) return super.postMessage(message, transfer)
    keep(message)
    keep = undefined
  }
}

/** The workers of task runs in this process, to be made misbehave. They behave again when the test ends. */
export function misbehavingWorkers (t: { teardown(handler: () => unknown): unknown }) {
  t.teardown(() => {
    does = keep = undefined
  })
  return {
    /** Those that serve a run. */
    living: living as ReadonlySet<Worker>,
    /** Those that were started and serve no run yet. */
    spare: spare as ReadonlySet<Worker>,
    /** What the next workers do; undefined: what they should. The spare is ended, unless it is to stay as it is. */
    let (what: string | undefined, { spareStays = false } = {}) {
      does = what
      if (!spareStays) for (const worker of spare) void worker.terminate()
    },
    /** The next worker never gets its port: it comes here. */
    port: () =>
      new Promise<MessagePort>((resolve) => {
        keep = resolve
      }),
    /** Resolves to the worker that was started ahead. */
    async started (): Promise<Worker> {
      while (spare.size === 0) await new Promise((resolve) => setTimeout(resolve, 2))
      return [...spare][0]
    }
  }
}
