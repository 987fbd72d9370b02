import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { type StoredRecord, emptyIfDamaged } from '../store/index.ts'
import type { ToolHost } from '../tools/index.ts'
import type { ToolServer } from './tool-server.ts'

/**
 * How long the new tools of servers that were started together wait for their names, milliseconds. If two servers want the same name, the
 * first one in config.json should get it, whichever connects first. Shorter than the time that a step waits for tools.
 */
const NAMING_MS = 2_000

export interface MergedSourcesParts {
  /** The servers, in the order of config.json. */
  servers: () => ToolServer[]
  /** The stored names that tools have here. */
  names: StoredRecord<GivenNames>
  host: Pick<ToolHost, 'merge'>
  clock: Clock
  log: Pick<Log, 'warn'>
  /** Resolves when the configured servers have been started. */
  started: () => Promise<void>
}

/** Merges the tools of the servers into the host, each under the name that it keeps. */
export function createMergedSources ({ servers, names: stored, host, clock, log, started }: MergedSourcesParts) {
  const toolNames = createToolNames({ stored, log })
  /** Servers whose new tools have no names yet: see NAMING_MS. */
  const unnamed = new Set<ToolServer>()
  /**
   * The servers that were started together last: the time, and the first connection attempts of those whose tools are not known from
   * earlier.
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
   * Resolves when each of the last started servers whose tools are not known has connected or failed once, or `ms` milliseconds after their
   * start.
   */
  async function settled (ms: number, signal: AbortSignal) {
    await started()
    const left = begunAt + ms - clock.awake()
    if (left <= 0) return
    await settlesWithin({ clock, ms: left, signal }, firstAttempts)
  }

  /** Gives new tools their names after the first attempts of all, or after NAMING_MS. */
  async function nameTogether (begun: ToolServer[], attempts: Promise<unknown>) {
    for (const server of begun) unnamed.add(server)
    await settlesWithin({ clock, ms: NAMING_MS }, attempts)
    for (const server of begun) unnamed.delete(server)
    publish()
  }

  return {
    load: toolNames.load,
    save: toolNames.save,
    /** Forgets the names of all other servers. */
    retain: toolNames.retain,
    /** The names for the agent of a server's tools, by the server's own names. */
    namesOf: (server: string): ReadonlyMap<string, string> => toolNames.of(server),
    publish,

    /** Starts servers together. */
    begin (begun: ToolServer[]): void {
      begunAt = clock.awake()
      const attempts = begun.map((server) => ({ isKnown: server.tools.length > 0, first: server.start() }))
      const named = nameTogether(begun, Promise.allSettled(attempts.map(({ first }) => first)))
      const unknown = attempts.filter(({ isKnown }) => !isKnown)
      firstAttempts = unknown.length === 0 ? Promise.resolve() : Promise.all([named, Promise.allSettled(unknown.map(({ first }) => first))])
    }
  }
}

/** The stored record: for each server, pairs of the name on the server and the name here. */
export interface GivenNames { servers?: Array<{ server: string, names: Array<[string, string]> }> }

/** The most names that are stored of one server, the newest, because a server may invent new tools without end. */
const MOST_NAMES = 1_024

interface Parts {
  stored: StoredRecord<GivenNames>
  log: Pick<Log, 'warn'>
}

/** Stores the names that tools have here, so that a tool keeps its name as long as its server is configured. */
function createToolNames ({ stored, log }: Parts) {
  const known = new Map<string, Map<string, string>>()
  /** The text of the record as it was last read or written; undefined until it is read, so that it is not overwritten unread. */
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
    /** Reads the stored names. A damaged record counts as empty; rejects when the store cannot be read. */
    async load (): Promise<void> {
      const { servers = [] } = await stored.get().catch(emptyIfDamaged) as GivenNames
      for (const { server, names } of servers) known.set(server, new Map(names))
      latest = JSON.stringify(namesGiven())
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
