/** What of a test this needs; who starts the same outside of one has no more than a teardown. */
export interface Ending {
  teardown(handler: () => unknown): unknown
  onEOF?(): unknown
}

/**
 * Has `end` run when the test is over, before its folders go: tap removes them before it runs a teardown that was asked for
 * after they were made, and what still runs would go on writing there.
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
