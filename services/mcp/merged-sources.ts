import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { type StoredRecord, emptyIfDamaged } from '../store/index.ts'
import type { ToolHost } from '../tools/index.ts'
import type { ToolServer } from './tool-server.ts'

/**
 * How long new tools of servers that were started together wait for their names, in milliseconds. If two servers want the same name, the
 * first server in config.json should get it, whichever connects first. Shorter than the time that a step waits for tools.
 */
const NAMING_MS = 2_000

export interface MergedSourcesParts {
  /** The servers, in the order of config.json. */
  servers: () => ToolServer[]
  /** The stored record of the names under which the agent knows tools. */
  names: StoredRecord<GivenNames>
  host: Pick<ToolHost, 'merge'>
  clock: Clock
  log: Pick<Log, 'warn'>
  /** Resolves when the configured servers have been started. */
  started: () => Promise<void>
}

/** Merges the tools of the servers into the host, each under its given name. */
export function createMergedSources ({ servers, names: stored, host, clock, log, started }: MergedSourcesParts) {
  const toolNames = createToolNames({ stored, log })
  /** Servers whose new tools wait for their names: see NAMING_MS. */
  const unnamed = new Set<ToolServer>()
  /**
   * The time when the last group of servers was started, and the first connection attempts of the servers in the group that had no known
   * tools.
   */
  let begunAt = 0
  let firstAttempts: Promise<unknown> = Promise.resolve()

  function publish () {
    const sources = servers().map((server) => {
      const source = server.source()
      const names = toolNames.of(server.name)
      return { ...source, names, tools: unnamed.has(server) ? source.tools.filter(({ model: { name } }) => names.has(name)) : source.tools }
    })
    host.merge(sources, settled)
    void toolNames.save()
  }

  /**
   * Resolves when each server of the last started group without known tools has connected or failed once, or `ms` milliseconds after the
   * start of the group.
   */
  async function settled (ms: number, signal: AbortSignal) {
    await started()
    const left = begunAt + ms - clock.awake()
    if (left <= 0) return
    await settlesWithin({ clock, ms: left, signal }, firstAttempts)
  }

  /** Gives the new tools of a group their names after the first connection attempts of all its servers, or after NAMING_MS. */
  async function nameTogether (begun: ToolServer[], attempts: Promise<unknown>) {
    for (const server of begun) unnamed.add(server)
    await settlesWithin({ clock, ms: NAMING_MS }, attempts)
    for (const server of begun) unnamed.delete(server)
    publish()
  }

  return {
    load: toolNames.load,
    save: toolNames.save,
    /** Removes the given names of all servers but these. */
    retain: toolNames.retain,
    /** Returns the given names of a server's tools, by the names on the server. */
    namesOf: (server: string): ReadonlyMap<string, string> => toolNames.of(server),
    publish,

    /** Starts a group of servers, whose new tools get their names together. */
    begin (begun: ToolServer[]): void {
      begunAt = clock.awake()
      const attempts = begun.map((server) => ({ isKnown: server.tools.length > 0, first: server.start() }))
      const named = nameTogether(begun, Promise.allSettled(attempts.map(({ first }) => first)))
      const unknown = attempts.filter(({ isKnown }) => !isKnown)
      firstAttempts = unknown.length === 0 ? Promise.resolve() : Promise.all([named, Promise.allSettled(unknown.map(({ first }) => first))])
    }
  }
}

/** The stored record: for each server, pairs of the tool's name on the server and its given name. */
export interface GivenNames { servers?: Array<{ server: string, names: Array<[string, string]> }> }

/** The most given names stored for one server. The newest are kept. A server could invent new tools endlessly. */
const MOST_NAMES = 1_024

interface Parts {
  stored: StoredRecord<GivenNames>
  log: Pick<Log, 'warn'>
}

/** Stores the given names of tools, so that a tool keeps its name as long as its server is configured. */
function createToolNames ({ stored, log }: Parts) {
  const known = new Map<string, Map<string, string>>()
  /**
   * The JSON of the record as it was last read or written; undefined until the record has been read: an unread record must not be
   * overwritten.
   */
  let latest: string | undefined
  let writing: Promise<void> = Promise.resolve()

  function of (server: string): Map<string, string> {
    const names = known.get(server) ?? new Map<string, string>()
    known.set(server, names)
    return names
  }

  const namesGiven = (): GivenNames => ({
    servers: [...known].filter(([, { size }]) => size > 0).map(([server, names]) => ({ server, names: [...names] }))
  })

  return {
    /** Reads the stored names. A damaged record counts as empty. Rejects if the store cannot be read. */
    async load (): Promise<void> {
      const { servers = [] } = await stored.get().catch(emptyIfDamaged) as GivenNames
      for (const { server, names } of servers) known.set(server, new Map(names))
      latest = JSON.stringify(namesGiven())
    },

    /** Returns the given names of a server's tools, by the names on the server. The host's merge adds new names to this map. */
    of,

    /** Removes the given names of all servers but these. */
    retain (servers: ReadonlySet<string>): void {
      for (const server of known.keys()) if (!servers.has(server)) known.delete(server)
    },

    /** Stores the changes since the last save. A failure is logged; the names are still used until the service ends. */
    save (): Promise<void> {
      for (const names of known.values()) for (const tool of [...names.keys()].slice(0, -MOST_NAMES)) names.delete(tool)
      const next = namesGiven()
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
