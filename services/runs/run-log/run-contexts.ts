import type { RunContext, RunEvent } from '../../contracts/run-events.ts'
import { newId, timeOfId } from '../../lib/ids.ts'
import {
  CONTEXT_USES,
  contextKey,
  CONTEXTS,
  contextsPrefix,
  contextUseKey,
  contextUsesPrefix,
  type Op,
  type OwnerKind,
  RecordDamaged,
  runEventsPrefix,
  type Store
} from '../../store/index.ts'

/**
 * A context in the stored form of an event. The tools of the context, and the rest of it, are stored once for all runs in which they are
 * equal; the event contains their ids.
 */
export interface StoredContext {
  own: Pick<RunContext, 'at' | 'cwd' | 'earlier'>
  tools: string
  rest: string
}

/** An event in its stored form. */
export type StoredEvent = Exclude<RunEvent, { type: 'context' }> | { type: 'context', context: StoredContext }

interface NamedEvents {
  stored: StoredEvent[]
  ops: Op[]
  ids: string[]
  written: () => void
}

/** The number of stored parts whose ids are remembered. */
const REMEMBERED = 8
/** The most parts that are remembered as being removed. If there are more, the removal of the oldest is long done. */
const LEAVING = 1_000
/** The uses by runs that began within this time are not swept yet, milliseconds. */
const FRESH_MS = 24 * 60 * 60 * 1000
/**
 * How long the contexts of a conversation's runs are kept, milliseconds. The time is limited because contexts contain memory of the user.
 */
const TOLD_MS = 7 * FRESH_MS

type Tools = RunContext['tools']
type Rest = Omit<RunContext, keyof StoredContext['own'] | 'tools'>
/** Whether two lists of tools are equal. The description of a tool is the same object in all runs until the tool changes. */
const isSame = (one: Tools, other: Tools) => one.length === other.length && one.every((tool, n) => tool === other[n])

type ContextStore = Pick<Store, 'get' | 'keys' | 'digest' | 'transact'>

async function isUsed (store: Pick<Store, 'keys'>, id: string, butBy: ReadonlySet<string> = new Set()): Promise<boolean> {
  for await (const key of store.keys(contextUsesPrefix(id))) if (!butBy.has(key)) return true
  return false
}

/** Stores parts of contexts, and decides which parts are kept while runs begin and are removed at the same time. */
function createContextParts (store: ContextStore) {
  /** The ids of parts to which a write in progress refers. These parts are kept. */
  const named: string[] = []
  /** The ids of parts that are being removed. No run refers to them, and a run with an equal part stores it again. */
  const leaving = new Set<string>()
  /** The parts for which a search for uses is in progress. The search does not see a run that begins meanwhile, so `isNamed` records it. */
  const checks = new Set<{ id: string, isNamed: boolean }>()
  const known = new Map<string, string>()

  async function findId (digest: string): Promise<string | undefined> {
    const remembered = known.get(digest)
    if (remembered !== undefined) return remembered
    for await (const key of store.keys(contextsPrefix(digest))) {
      const id = key.slice(CONTEXTS.length)
      if (!leaving.has(id)) return id
    }
    return undefined
  }

  function remove (id: string): Op {
    if (leaving.size >= LEAVING) leaving.delete(leaving.values().next().value!)
    leaving.add(id)
    for (const [digest, each] of known) if (each === id) known.delete(digest)
    return { type: 'del', key: contextKey(id) }
  }

  return {
    /**
     * Returns the id of a part, and the operations that store the part if it is not stored yet. The part is kept until `written` is called
     * with the id.
     */
    async name (part: unknown, digest: string): Promise<{ id: string, ops: Op[] }> {
      const found = await findId(digest)
      if (found !== undefined && !leaving.has(found)) {
        named.push(found)
        for (const check of checks) check.isNamed ||= check.id === found
        if (known.size >= REMEMBERED) known.clear()
        known.set(digest, found)
        return { id: found, ops: [] }
      }
      const id = `${digest}-${newId()}`
      named.push(id)
      return { id, ops: [{ type: 'put', key: contextKey(id), value: part }] }
    },

    written (id: string) {
      named.splice(named.indexOf(id), 1)
    },

    /** Returns the operation that removes a part; none if a run refers to the part. */
    async removal (id: string, goneUses?: ReadonlySet<string>): Promise<Op[]> {
      const check = { id, isNamed: named.includes(id) }
      checks.add(check)
      try {
        return await isUsed(store, id, goneUses) || check.isNamed ? [] : [remove(id)]
      } finally {
        checks.delete(check)
      }
    }
  }
}

/**
 * Stores the parts of contexts, each once under a keyed digest, with a key for each run that refers to the part. A part is removed in the
 * same transaction as the last of these keys, because it can contain memory of the user.
 */
export function createRunContexts (store: ContextStore) {
  const parts = createContextParts(store)
  let lastTools: { tools: Tools, digest: string } | undefined

  const digestOf = (part: unknown) => store.digest(`context ${JSON.stringify(part)}`)

  function digestOfTools (tools: Tools): string {
    if (lastTools === undefined || !isSame(lastTools.tools, tools)) lastTools = { tools, digest: digestOf(tools) }
    return lastTools.digest
  }

  /** Returns the operations that remove the uses of parts by runs that are removed together, and the parts that no other run uses. */
  async function release (uses: ReadonlyArray<{ runId: string, contexts: readonly string[] }>): Promise<Op[]> {
    const ops: Op[] = []
    for (const id of new Set(uses.flatMap(({ contexts }) => contexts))) {
      const gone = new Set(uses.filter(({ contexts }) => contexts.includes(id)).map(({ runId }) => contextUseKey(id, runId)))
      for (const key of gone) ops.push({ type: 'del', key })
      ops.push(...await parts.removal(id, gone))
    }
    return ops
  }

  return {
    release,

    /**
     * Returns events in their stored form, the ids of the parts that they refer to, and the operations that store these parts. `written`
     * must be called when the write of the events has ended.
     */
    async name (runId: string, events: readonly RunEvent[]): Promise<NamedEvents> {
      const stored: StoredEvent[] = []
      const ops: Op[] = []
      const ids: string[] = []
      for (const event of events) {
        if (event.type !== 'context') {
          stored.push(event)
          continue
        }
        const { at, cwd, earlier, tools, ...rest } = event.context
        const named = [await parts.name(tools, digestOfTools(tools)), await parts.name(rest, digestOf(rest))]
        for (const { id, ops: put } of named) ops.push(...put, { type: 'put', key: contextUseKey(id, runId), value: {} })
        ids.push(...named.map(({ id }) => id))
        stored.push({ type: 'context', context: { own: { at, cwd, earlier }, tools: named[0].id, rest: named[1].id } })
      }
      return { stored, ops, ids, written: () => ids.forEach(parts.written) }
    },

    /**
     * Returns an event in its original form; undefined for a context of a conversation that was removed because of its age. Throws
     * RecordDamaged if a part of any other context is missing.
     */
    async read (kind: OwnerKind, event: StoredEvent): Promise<RunEvent | undefined> {
      if (event.type !== 'context') return event
      const { own, tools, rest } = event.context
      const keys = [contextKey(rest), contextKey(tools)]
      const parts = await Promise.all(keys.map((key) => store.get<object>(key)))
      const missing = parts.indexOf(undefined)
      if (missing === -1) return { type: 'context', context: { ...own, ...parts[0] as Rest, tools: parts[1] as Tools } }
      if (kind === 'thread') return undefined
      throw new RecordDamaged(keys[missing])
    },

    /**
     * Removes the uses by runs that have no events any more and by old runs of conversations, and the parts that no run uses. `now` is in
     * milliseconds since the Unix epoch.
     */
    async sweep (now: number, signal?: AbortSignal): Promise<void> {
      for await (const key of store.keys(CONTEXT_USES)) {
        signal?.throwIfAborted()
        const [id, runId] = key.slice(CONTEXT_USES.length).split('/')
        const began = timeOfId(runId)
        if (began > now - FRESH_MS || await hasEvents(store, runId, began > now - TOLD_MS ? ['thread', 'task'] : ['task'])) continue
        await store.transact(await release([{ runId, contexts: [id] }]))
      }
      for await (const key of store.keys(CONTEXTS)) await store.transact(await parts.removal(key.slice(CONTEXTS.length)))
    }
  }
}

async function hasEvents (store: Pick<Store, 'keys'>, runId: string, kinds: OwnerKind[]): Promise<boolean> {
  for (const kind of kinds) {
    for await (const key of store.keys(runEventsPrefix(kind, runId), { limit: 1 })) if (key !== '') return true
  }
  return false
}
