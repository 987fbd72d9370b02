import { createHash } from 'node:crypto'
import type { McpEntry } from '../../schemas/config.ts'
import type { Log } from '../lib/log.ts'
import { type StoredRecord, emptyIfDamaged } from '../store/index.ts'
import { originOf } from './config-entries.ts'
import type { ToolDefinition } from './tool-definitions.ts'

/** The tool definitions and instructions that a server gave when it was last connected. */
export interface KnownTools {
  definitions: ToolDefinition[]
  instructions?: string
}

/** The stored record: the tools of each server, and a digest of the origin (program or address) that they belong to. */
export interface StoredTools { servers?: Array<KnownTools & { server: string, origin: string }> }

/** The most characters of JSON stored for one server. The tools of a server with more are known only until the service ends. */
const MOST_KEPT = 4 * 1_048_576

interface Parts {
  stored: StoredRecord<StoredTools>
  log: Pick<Log, 'warn'>
}

type Entry = NonNullable<StoredTools['servers']>[number]

/**
 * Stores the tools of servers across restarts, so that models get the same tools while a server starts, is down or waits for its user.
 * Stored tools are used only for the program or address that they came from.
 */
export function createKnownTools ({ stored, log }: Parts) {
  const known = new Map<string, Entry>()
  /**
   * True once the record was read: an unread record must not be overwritten. `isChanged` is true if something has changed since the last
   * write.
   */
  let isLoaded = false
  let isChanged = false
  let writing: Promise<void> = Promise.resolve()

  const digestOf = (entry: McpEntry) => createHash('sha256').update(originOf(entry)).digest('hex')
  const fingerprint = ({ definitions, instructions }: KnownTools) =>
    JSON.stringify([instructions, definitions.map(({ digest, title }) => [digest, title])])

  return {
    /** Reads the stored record. A damaged record counts as empty. Rejects if the store cannot be read. */
    async load (): Promise<void> {
      const { servers = [] } = await stored.get().catch(emptyIfDamaged) as StoredTools
      for (const each of servers) known.set(each.server, each)
      isLoaded = true
    },

    /** Returns the last known tools of an entry's server; undefined if there are none for the entry's program or address. */
    of (entry: McpEntry): KnownTools | undefined {
      const found = known.get(entry.name)
      return found?.origin === digestOf(entry) ? found : undefined
    },

    /** Records the tools and instructions of a connected server, without storing them yet. */
    note (entry: McpEntry, { definitions, instructions }: KnownTools): void {
      const next = { server: entry.name, origin: digestOf(entry), definitions, ...instructions !== undefined && { instructions } }
      const before = known.get(entry.name)
      if (before?.origin === next.origin && fingerprint(before) === fingerprint(next)) return
      known.set(entry.name, next)
      isChanged = true
    },

    /** Removes the records of all servers but these. */
    retain (names: ReadonlySet<string>): void {
      for (const name of known.keys()) if (!names.has(name)) isChanged = known.delete(name) || isChanged
    },

    /** Stores the changes since the last save. A failure is logged, and the changes are stored with the next save. */
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
