import type { RawOp } from './database.ts'
import { StoreBusy } from './store-errors.ts'

interface Waiting {
  ops: RawOp[]
  bytes: number
  resolve: () => void
  reject: (error: Error) => void
}

/** A group is as large as one synced write stays quick. */
const GROUP_BYTES = 4 * 1024 * 1024
/** More than this waiting means a disk that does not keep up. */
const QUEUE_BYTES = 64 * 1024 * 1024
const QUEUE_BATCHES = 20_000
/** What an operation costs beside its value. */
const OP_BYTES = 100

/**
 * Group commit: while one write is on its way others wait, and then go out together, so that many writers share the
 * cost of one sync. A batch is never split. `write` must not reject for a reason of one batch only: it fails its whole
 * group, and everything that waits.
 */
export function createWriter (write: (ops: RawOp[]) => Promise<void>) {
  let queue: Waiting[] = []
  let queuedBytes = 0
  let draining: Promise<void> | undefined

  function takeGroup (): Waiting[] {
    let bytes = queue[0].bytes
    let count = 1
    while (count < queue.length && bytes + queue[count].bytes <= GROUP_BYTES) bytes += queue[count++].bytes
    queuedBytes -= bytes
    return queue.splice(0, count)
  }

  async function drain (): Promise<void> {
    await undefined // what is written in the same turn goes out together
    while (queue.length > 0) {
      const group = takeGroup()
      try {
        await write(group.flatMap(({ ops }) => ops))
        for (const { resolve } of group) resolve()
      } catch (error) {
        const failed = [...group, ...queue]
        queue = []
        queuedBytes = 0
        for (const { reject } of failed) reject(error as Error)
      }
    }
    draining = undefined
  }

  return {
    /** Resolves when `ops` are on disk. */
    push (ops: RawOp[]): Promise<void> {
      const bytes = ops.reduce((sum, op) => sum + OP_BYTES + (op.type === 'put' ? op.value.length : 0), 0)
      const full = queue.length >= QUEUE_BATCHES || (queue.length > 0 && queuedBytes + bytes > QUEUE_BYTES)
      if (full) return Promise.reject(new StoreBusy())
      queuedBytes += bytes
      return new Promise((resolve, reject) => {
        queue.push({ ops, bytes, resolve, reject })
        draining ??= drain()
      })
    },
    /** Resolves when nothing is waiting or on its way. */
    async idle (): Promise<void> {
      await draining
    }
  }
}
