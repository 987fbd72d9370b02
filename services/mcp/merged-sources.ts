import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import type { StoredRecord } from '../store/index.ts'
import type { ToolHost } from '../tools/index.ts'
import { createToolNames, type GivenNames } from './tool-names.ts'
import type { ToolServer } from './tool-server.ts'

/**
 * How long new tools of servers that were begun together wait for their names, milliseconds: so that the first server in config.json gets
 * a name that two want, whichever connects first. Shorter than a step waits for tools.
 */
const NAMING_MS = 2_000

export interface MergedSourcesParts {
  /** The servers, in the order of config.json. */
  servers: () => ToolServer[]
  /** The names that tools were given. */
  names: StoredRecord<GivenNames>
  host: Pick<ToolHost, 'merge'>
  clock: Clock
  log: { warn(details: object, message: string): void }
  /** Resolves once the configured servers have been begun. */
  started: () => Promise<void>
}

/** Merges the tools of the servers into the host, each under the name that it keeps. */
export function createMergedSources ({ servers, names: stored, host, clock, log, started }: MergedSourcesParts) {
  const toolNames = createToolNames({ stored, log })
  /** Servers whose new tools have no names yet: see NAMING_MS. */
  const unnamed = new Set<ToolServer>()
  /** The servers begun together last: when, and their first attempts. */
  let begunAt = 0
  let firstAttempts: Promise<unknown> = Promise.resolve()

  function publish () {
    const sources = servers().map((server) => {
      const source = server.source()
      const names = toolNames.of(server.name)
      return { ...source, names, tools: unnamed.has(server) ? source.tools.filter(({ name }) => names.has(name)) : source.tools }
    })
    host.merge(sources, settled)
    void toolNames.save()
  }

  /** Resolves when each server begun last has connected or failed once, at the latest `ms` milliseconds after they were begun. */
  async function settled (ms: number, signal: AbortSignal) {
    await started()
    const left = begunAt + ms - clock.awake()
    if (left <= 0) return
    await settlesWithin({ clock, ms: left, signal }, firstAttempts)
  }

  /** Lets new tools get their names after the first attempts of all, or after NAMING_MS. */
  async function nameTogether (begun: ToolServer[], attempts: Promise<unknown>) {
    for (const server of begun) unnamed.add(server)
    await settlesWithin({ clock, ms: NAMING_MS }, attempts)
    for (const server of begun) unnamed.delete(server)
    publish()
    await attempts
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
      firstAttempts = nameTogether(begun, Promise.allSettled(begun.map((server) => server.start())))
    }
  }
}
