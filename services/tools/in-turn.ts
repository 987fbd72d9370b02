/** Reads run side by side; whatever changes something runs alone, in the order of the calls. Rejects with the first failure, when nothing runs any more. */
export async function inTurn<C> (calls: C[], isRead: (call: C) => boolean, run: (call: C) => Promise<void>): Promise<void> {
  let reads: Array<Promise<void>> = []
  for (const call of calls) {
    if (isRead(call)) {
      reads.push(run(call))
      continue
    }
    await allOf(reads)
    reads = []
    await run(call)
  }
  await allOf(reads)
}

/** Waits for all of them even when one fails: no tool runs on behind a run that has ended. */
async function allOf (running: Array<Promise<void>>) {
  const failed = (await Promise.allSettled(running)).find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
}
