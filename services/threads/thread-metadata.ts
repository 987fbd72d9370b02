import type { ThreadSettings } from '../../schemas/threads.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { metadataKey, type Op, type Store, unlessDamaged } from '../store/index.ts'
import { searchAgain } from './search/due-threads.ts'

/** The title of a thread and who gave it (`by`), the settings for its runs, and the fields that clients store with the thread. */
export interface Metadata {
  title?: string
  by?: 'user' | 'model'
  settings?: ThreadSettings
  fields?: Record<string, unknown>
}

/** Fields that the service sets itself. If a client sends them back, they are ignored. */
const RESERVED = [
  ...['id', 'createdAt', 'updatedAt', 'status', 'messageCount', 'lastMessage', 'messages', 'nextCursor', 'usage'],
  ...['deletedAt', 'restore']
]

/**
 * Stores the metadata of threads in a record of its own, apart from their messages, so that it can change while a run is active. Damaged
 * metadata counts as empty.
 */
export function createThreadMetadata (store: Pick<Store, 'get' | 'transact' | 'digest'>) {
  const key = (id: string) => metadataKey(store.digest(id))
  const get = async (id: string): Promise<Metadata> => await unlessDamaged(store.get<Metadata>(key(id))) ?? {}
  const put = (id: string, metadata: Metadata): Op => ({ type: 'put', key: key(id), value: metadata })
  const locked = createKeyedLock()

  return {
    get,
    put,
    remove: (id: string): Op => ({ type: 'del', key: key(id) }),

    /**
     * Returns the metadata with the fields of a request body applied. An empty title removes the title, so that a model can suggest a new
     * one.
     */
    changed (
      metadata: Metadata,
      { title, settings, ...body }: { title?: string, settings?: ThreadSettings, [field: string]: unknown }
    ): Metadata {
      const newFields = Object.entries(body).filter(([name]) => !RESERVED.includes(name))
      const { title: old, by, settings: set, fields, ...rest } = metadata
      const chosen = settings ?? set
      const titled = title === undefined
        ? { ...(old !== undefined && { title: old, by }) }
        : title.trim() === ''
          ? {}
          : { title: title.trim(), by: 'user' as const }
      const settled = chosen === undefined || Object.keys(chosen).length === 0 ? {} : { settings: chosen }
      return { ...rest, ...titled, ...settled, fields: { ...fields, ...Object.fromEntries(newFields) } }
    },

    /** Updates the metadata of a thread in one transaction with `ops`. */
    update: (id: string, change: (metadata: Metadata) => Metadata, ops: Op[] = []): Promise<void> =>
      locked(id, async () => {
        const before = await get(id)
        const after = change(before)
        const again = searchAgain(store.digest(id), { from: 0, removes: before.title !== undefined })
        await store.transact([...ops, put(id, after), ...after.title === before.title ? [] : [again]])
      })
  }
}
