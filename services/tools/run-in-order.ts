/** Reads at once: each may hold some megabytes, and a model may ask for any number. */
const MOST_AT_ONCE = 8

/** Reads run side by side; whatever changes something runs alone, in the order of the calls. Rejects with the first failure, when nothing runs any more. */
export async function runInOrder<C> (calls: C[], isRead: (call: C) => boolean, run: (call: C) => Promise<void>): Promise<void> {
  let reads: C[] = []
  for (const call of calls) {
    if (isRead(call)) {
      reads.push(call)
      continue
    }
    await sideBySide(reads, run)
    reads = []
    await run(call)
  }
  await sideBySide(reads, run)
}

/** Waits for all that have begun even when one fails: no tool runs on behind a run that has ended. */
async function sideBySide<C> (calls: C[], run: (call: C) => Promise<void>): Promise<void> {
  const left = [...calls]
  let failed: { reason: unknown } | undefined
  const oneByOne = async () => {
    while (left.length > 0 && failed === undefined) {
      await run(left.shift()!).catch((reason) => {
        failed ??= { reason }
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, left.length) }, oneByOne))
  // Assigned behind the compiler's back.
  if (failed !== undefined) throw (failed as { reason: unknown }).reason
}
