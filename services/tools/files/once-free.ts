import type { Clock } from '../../lib/clock.ts'

const IN_USE = new Set(['EBUSY', 'EPERM', 'EACCES'])
/** Pauses before further tries, milliseconds. */
const PAUSES_MS = [20, 50, 100, 200, 400, 400]

/**
 * Tries work again for a second while Windows refuses it: virus scanners and indexers hold a file for a moment after it was written, and as
 * long as any program has it open it cannot be replaced. Throws the last refusal.
 */
export async function onceFree<T> (
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
  work: () => T | Promise<T>,
  platform: NodeJS.Platform = process.platform
): Promise<T> {
  for (const pause of platform === 'win32' ? PAUSES_MS : []) {
    try {
      return await work()
    } catch (error) {
      if (!IN_USE.has((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
    await clock.sleep(pause, signal)
  }
  return work()
}
