import { awaitedAttachmentKey, attachmentOfKey, attachmentsOfPrefix, attachmentUseKey, type Op, type Store } from '../store/index.ts'

// Which messages of which threads name an attachment. Threads are named by their digests; positions count from 0.

interface Use {
  /** The position of the message in its thread. */
  seq: number
  digest: string
}

/** Returns the attachments that messages of a thread name from position `from` on. */
export async function usesOf (store: Pick<Store, 'keys'>, thread: string, from = 0): Promise<Use[]> {
  const prefix = attachmentsOfPrefix(thread)
  const uses: Use[] = []
  for await (const key of store.keys(prefix)) {
    const [seq, digest] = key.slice(prefix.length).split('/')
    if (Number(seq) >= from) uses.push({ seq: Number(seq), digest })
  }
  return uses
}

/** Returns the operations for messages that replace those of a thread from position `from` on; `named` are the attachments of each. */
export async function changeUses (
  store: Pick<Store, 'keys'>,
  thread: string,
  { from, named }: { from: number, named: readonly string[][] }
): Promise<Op[]> {
  const ops = new Map<string, Op>()
  const keysOf = ({ seq, digest }: Use) => [attachmentUseKey(digest, thread, seq), attachmentOfKey(thread, seq, digest)]
  for (const use of await usesOf(store, thread, from)) for (const key of keysOf(use)) ops.set(key, { type: 'del', key })
  for (const [n, digests] of named.entries()) {
    for (const digest of digests) {
      for (const key of keysOf({ seq: from + n, digest })) ops.set(key, { type: 'put', key, value: {} })
      const awaited = awaitedAttachmentKey(digest)
      ops.set(awaited, { type: 'del', key: awaited })
    }
  }
  return [...ops.values()]
}
