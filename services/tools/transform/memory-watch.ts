import type { Worker } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'

const INTERVAL_MS = 50

/**
 * Calls `exceeded` once the buffers of a worker take more than `limitMb` megabytes. The resource limits of a worker bound its objects
 * only: a small compressed document could otherwise fill the memory of the machine. Returns a function that ends the watch.
 */
export function watchMemory (worker: Worker, clock: Clock, limitMb: number, exceeded: (error: Error) => void): () => void {
  const stopped = new AbortController()
  const watch = async () => {
    for (;;) {
      await clock.sleep(INTERVAL_MS, stopped.signal)
      // The worker answers while its code runs.
      const { external_memory: bytes } = await worker.getHeapStatistics()
      if (bytes > limitMb * 1024 * 1024) return exceeded(new Error('it took too much memory'))
    }
  }
  // Rejects when the watch or the worker ended.
  watch().catch(() => {})
  return () => stopped.abort()
}
