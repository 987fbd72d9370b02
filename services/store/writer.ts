import type { RawOp } from './database.ts'
import { StoreBusy } from './store-errors.ts'

interface Waiting {
  ops: RawOp[]
  bytes: number
  resolve: () => void
  reject: (error: Error) => void
}

/** Maximum size of a group, so that one synced write stays fast. */
const GROUP_BYTES = 4 * 1024 * 1024
/** Queue limits; a longer queue means that the disk does not keep up. */
const QUEUE_BYTES = 64 * 1024 * 1024
const QUEUE_BATCHES = 20_000
/** Estimated cost of an operation besides its value. */
const OP_BYTES = 100

/**
 * Group commit: while one write runs, others queue up and are then written together, so that many writers share the cost of
 * one sync. A batch is never split. `write` must not reject for a reason of a single batch, because a failure fails its whole
 * group and the whole queue.
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
    await undefined // writes of the same event-loop turn go out together
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
    /** Queues a batch. Resolves when it is on disk. Rejects with StoreBusy when the queue is full. */
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
    /** Resolves when the queue is empty and no write runs. */
    async idle (): Promise<void> {
      await draining
    }
  }
}
