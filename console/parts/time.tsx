import { sayExactTime, sayTime, useNow } from '../lib/time.ts'

/** A time as people say it, with the exact one when the pointer rests on it. Milliseconds since the Unix epoch. */
export function Time ({ at }: { at: number }) {
  const now = useNow()
  return <time dateTime={new Date(at).toISOString()} title={sayExactTime(at)}>{sayTime(at, now)}</time>
}
