import { createHash } from 'node:crypto'
import type { McpEntry } from '../../schemas/config.ts'
import type { Log } from '../lib/log.ts'
import { type StoredRecord, emptyIfDamaged } from '../store/index.ts'
import { originOf } from './config-entries.ts'
import type { ToolDefinition } from './tool-definitions.ts'

/** The descriptions that a server gave when it was connected last. */
export interface KnownTools {
  definitions: ToolDefinition[]
  instructions?: string
}

/** The stored record: the descriptions of each server, and a digest of the program or address that they belong to. */
export interface StoredTools { servers?: Array<KnownTools & { server: string, origin: string }> }

/** The most characters of JSON that are stored of one server. Further definitions are known only until the service ends. */
const MOST_KEPT = 4 * 1_048_576

interface Parts {
  stored: StoredRecord<StoredTools>
  log: Pick<Log, 'warn'>
}

type Entry = NonNullable<StoredTools['servers']>[number]

/**
 * Stores the tools of servers over restarts, so that models are told of the same tools while a server starts, is down or waits for its
 * user. They hold for the program or address that they came from.
 */
export function createKnownTools ({ stored, log }: Parts) {
  const known = new Map<string, Entry>()
  /** Whether the record was read, so that it is not overwritten unread; and whether something has changed since it was written. */
  let isLoaded = false
  let isChanged = false
  let writing: Promise<void> = Promise.resolve()

  const digestOf = (entry: McpEntry) => createHash('sha256').update(originOf(entry)).digest('hex')
  const fingerprint = ({ definitions, instructions }: KnownTools) =>
    JSON.stringify([instructions, definitions.map(({ digest, title }) => [digest, title])])

  return {
    /** Reads what is stored. A damaged record counts as empty; rejects when the store cannot be read. */
    async load (): Promise<void> {
      const { servers = [] } = await stored.get().catch(emptyIfDamaged) as StoredTools
      for (const each of servers) known.set(each.server, each)
      isLoaded = true
    },

    /** Returns the last known tools of an entry's server; undefined if it never had any. */
    of (entry: McpEntry): KnownTools | undefined {
      const found = known.get(entry.name)
      return found?.origin === digestOf(entry) ? found : undefined
    },

    /** Records the descriptions of a connected server. */
    note (entry: McpEntry, { definitions, instructions }: KnownTools): void {
      const next = { server: entry.name, origin: digestOf(entry), definitions, ...instructions !== undefined && { instructions } }
      const before = known.get(entry.name)
      if (before?.origin === next.origin && fingerprint(before) === fingerprint(next)) return
      known.set(entry.name, next)
      isChanged = true
    },

    /** Forgets all other servers. */
    retain (names: ReadonlySet<string>): void {
      for (const name of known.keys()) if (!names.has(name)) isChanged = known.delete(name) || isChanged
    },

    /** Stores what has changed since the last time. A failure is logged, and the next change is stored with it. */
    save (): Promise<void> {
      if (!isLoaded || !isChanged) return writing
      isChanged = false
      const servers = [...known.values()].filter((each) => JSON.stringify(each).length <= MOST_KEPT)
      writing = stored.replace({ servers }).then(() => {}, (error) => {
        isChanged = true
        log.warn({ err: error }, 'the tools of tool servers could not be stored')
      })
      return writing
    }
  }
}
