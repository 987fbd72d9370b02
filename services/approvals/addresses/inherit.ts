import { type Op, provenanceKey, type Store, unlessDamaged } from '../../store/index.ts'
import type { Origin, StoredProvenance } from './provenance.ts'

/**
 * Returns the operations that let a task know what a conversation knows of addresses, and of what it has read, beside what the task knows
 * itself. `from` is the digest of the thread.
 */
export async function inheritProvenance (store: Store, from: string, taskId: string): Promise<Op[]> {
  const [given, own] = await Promise.all(
    [from, taskId].map((place) => unlessDamaged(store.get<StoredProvenance>(provenanceKey(place))))
  )
  if (given === undefined) return []
  return [{ type: 'put', key: provenanceKey(taskId), value: own === undefined ? forTask(given) : joined(own, forTask(given)) }]
}

/** The calls of a conversation mean nothing in the runs of a task; their tools do. */
const forTask = ({ private: secret, foreign, ...rest }: StoredProvenance): StoredProvenance =>
  ({ ...rest, private: withoutCalls(secret), foreign: withoutCalls(foreign) })
const withoutCalls = (origins: Origin[] = []) => uniqueOrigins(origins.map(({ toolName }) => ({ toolName })))
const uniqueOrigins = (origins: Origin[]) => [...new Map(origins.map((origin) => [JSON.stringify(origin), origin])).values()]

/** The first source of an address counts, except that the user's own words always do. */
function joined (own: StoredProvenance, given: StoredProvenance): StoredProvenance {
  const addresses = new Map(own.addresses)
  for (const [key, source] of given.addresses) if (source === 'user' || !addresses.has(key)) addresses.set(key, source)
  const written = [...new Set([...own.written ?? [], ...given.written ?? []])]
  return {
    addresses: [...addresses],
    private: uniqueOrigins([...own.private ?? [], ...given.private ?? []]),
    foreign: uniqueOrigins([...own.foreign ?? [], ...given.foreign ?? []]),
    since: Math.min(own.since, given.since),
    ...(written.length > 0 && { written }),
    ...((own.hasRun ?? given.hasRun) && { hasRun: true as const })
  }
}
