/** The part of a test that this function needs. Programs that are no test have only `teardown`. */
export interface Ending {
  teardown(handler: () => unknown): unknown
  onEOF?(): unknown
}

/**
 * Runs `end` when the test is over, before the test's folders are removed. tap removes folders before it runs a teardown that was
 * registered after they were made, and a process that still runs would go on writing there.
 */
export function atEnd (t: Ending, end: () => unknown) {
  if (t.onEOF === undefined) return t.teardown(end)
  const { onEOF } = t
  t.onEOF = async () => {
    t.onEOF = onEOF
    await end()
    await onEOF()
  }
  return undefined
}
