import { createKeyedLock } from '../lib/keyed-lock.ts'
import type { Op, Store } from '../store/store-types.ts'
import { unlessDamaged } from '../store/store-errors.ts'
import { metadataKey } from './thread-head.ts'

/** What a thread is called, and the fields that its client keeps with it. */
export interface Metadata {
  title?: string
  by?: 'user' | 'model'
  fields?: Record<string, unknown>
}

/** Fields that the service answers itself; a client that sends back what it got keeps none of them. */
const OWN = ['id', 'createdAt', 'updatedAt', 'status', 'messageCount', 'lastMessage', 'messages', 'nextCursor']

/** The faces of threads, apart from what is exchanged in them: they may change while a run is under way. */
export function createThreadMetadata (store: Pick<Store, 'get' | 'transact' | 'digest'>) {
  const key = (id: string) => metadataKey(store.digest(id))
  const get = async (id: string): Promise<Metadata> => await unlessDamaged(store.get<Metadata>(key(id))) ?? {}
  const put = (id: string, face: Metadata): Op => ({ type: 'put', key: key(id), value: face })
  const locked = createKeyedLock()

  return {
    get,
    put,
    remove: (id: string): Op => ({ type: 'del', key: key(id) }),

    /** A face once a body was applied to it. An empty title leaves the title to the service again. */
    changed (face: Metadata, { title, ...body }: { title?: string, [field: string]: unknown }): Metadata {
      const given = Object.entries(body).filter(([name]) => !OWN.includes(name))
      const { title: old, by, fields, ...rest } = face
      const titled = title === undefined
        ? { ...(old !== undefined && { title: old, by }) }
        : title.trim() === ''
          ? {}
          : { title: title.trim(), by: 'user' as const }
      return { ...rest, ...titled, fields: { ...fields, ...Object.fromEntries(given) } }
    },

    /** Changes a face, together with `ops`. */
    update: (id: string, change: (face: Metadata) => Metadata, ops: Op[] = []): Promise<void> =>
      locked(id, async () => store.transact([...ops, put(id, change(await get(id)))]))
  }
}
