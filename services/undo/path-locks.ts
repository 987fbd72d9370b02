import { sep } from 'node:path'

const within = (path: string, folder: string) => path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
const overlap = (a: string[], b: string[]) => a.some((one) => b.some((other) => within(one, other) || within(other, one)))

export type AcquirePaths = ReturnType<typeof createPathLock>

/** Creates the lock that lets one call at a time change a path, the folders above it and what is below it. */
export function createPathLock () {
  const held = new Map<string[], Promise<void>>()

  /** Waits for the paths. Returns the function that releases them. Rejects with the reason of an abort. */
  return async function acquire (paths: string[], signal?: AbortSignal): Promise<() => void> {
    for (;;) {
      signal?.throwIfAborted()
      const other = [...held].find(([theirs]) => overlap(paths, theirs))
      if (other === undefined) break
      await untilAborted(other[1], signal)
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    held.set(paths, promise)
    return () => {
      held.delete(paths)
      resolve()
    }
  }
}

async function untilAborted (promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise
  const aborted = Promise.withResolvers<void>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await Promise.race([promise, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
