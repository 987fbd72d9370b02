/** Milliseconds after which a search ends with what it has found, before the deadline of the worker. */
const SEARCH_MS = 8_000

/** Starts the time of a search. The function that it returns tells whether the time is up. */
export function startSearch (): () => boolean {
  const started = performance.now()
  return () => performance.now() - started > SEARCH_MS
}
