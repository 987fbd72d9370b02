import { emptyIfDamaged, type StoredRecord } from '../store/index.ts'

/** What is stored: of each server, the names its tools were given, as [name on the server, name for the agent]. */
export interface GivenNames { servers?: Array<{ server: string, names: Array<[string, string]> }> }

/** Names that are kept of one server: its newest, as a server may invent new tools without end. */
const MOST_NAMES = 1_024

interface Parts {
  stored: StoredRecord<GivenNames>
  log: { warn(details: object, message: string): void }
}

/** Keeps the names that tools of servers were given, so that a tool has the same one as long as its server is configured. */
export function createToolNames ({ stored, log }: Parts) {
  const known = new Map<string, Map<string, string>>()
  /** The text of the record as it was last read or written; undefined until it is read, so that nothing overwrites it unread. */
  let latest: string | undefined
  let writing: Promise<void> = Promise.resolve()

  function of (server: string): Map<string, string> {
    const names = known.get(server) ?? new Map<string, string>()
    known.set(server, names)
    return names
  }

  const given = (): GivenNames => ({
    servers: [...known].filter(([, { size }]) => size > 0).map(([server, names]) => ({ server, names: [...names] }))
  })

  return {
    /** Reads the stored names. A damaged record counts as empty; rejects when the store cannot be read. */
    async load (): Promise<void> {
      const { servers = [] } = await stored.get().catch(emptyIfDamaged) as GivenNames
      for (const { server, names } of servers) known.set(server, new Map(names))
      latest = JSON.stringify(given())
    },

    /** The names given to the tools of a server, by its own; merging adds to it. */
    of,

    /** Forgets the names of all other servers. */
    retain (servers: ReadonlySet<string>): void {
      for (const server of known.keys()) if (!servers.has(server)) known.delete(server)
    },

    /** Stores what was given or forgotten since the last time. A failure is logged: the names hold until the service ends. */
    save (): Promise<void> {
      for (const names of known.values()) for (const tool of [...names.keys()].slice(0, -MOST_NAMES)) names.delete(tool)
      const next = given()
      const text = JSON.stringify(next)
      if (latest === undefined || text === latest) return writing
      latest = text
      writing = stored.replace(next).then(() => {}, (error) => {
        latest = ''
        log.warn({ err: error }, 'the names of the tools of tool servers could not be stored')
      })
      return writing
    }
  }
}
