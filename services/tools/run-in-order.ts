/** The most calls that read concurrently. Each can hold some megabytes, and a model can request any number. */
const MAX_AT_ONCE = 8

/**
 * Runs calls in their order: consecutive reads run concurrently, any other call runs alone. After a failure no further call begins; rejects
 * with the first failure once no call is running.
 */
export async function runInOrder<C> (calls: C[], isRead: (call: C) => boolean, run: (call: C) => Promise<void>): Promise<void> {
  let reads: C[] = []
  for (const call of calls) {
    if (isRead(call)) {
      reads.push(call)
      continue
    }
    await runConcurrently(reads, run)
    reads = []
    await run(call)
  }
  await runConcurrently(reads, run)
}

/** Waits for every call that has begun, even after a failure, so that no tool still runs when its run has ended. */
async function runConcurrently<C> (calls: C[], run: (call: C) => Promise<void>): Promise<void> {
  const left = [...calls]
  let failed: { reason: unknown } | undefined
  const worker = async () => {
    while (left.length > 0 && failed === undefined) {
      await run(left.shift()!).catch((reason) => {
        failed ??= { reason }
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_AT_ONCE, left.length) }, worker))
  // The compiler does not track the assignment inside the callback.
  if (failed !== undefined) throw (failed as { reason: unknown }).reason
}
