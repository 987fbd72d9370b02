import { sayExactTime, sayTime, sayTimeShort, useNow } from '../lib/time.ts'

/** A time in relative words, with the exact time as a tooltip. `at` is in milliseconds since the Unix epoch. */
export function Time ({ at, isShort = false }: { at: number, isShort?: boolean }) {
  const now = useNow()
  return <time dateTime={new Date(at).toISOString()} title={sayExactTime(at)}>{isShort ? sayTimeShort(at, now) : sayTime(at, now)}</time>
}
