import { Check } from '@sinclair/typebox/value'
import { ConfigKeys, type Config, type McpEntry } from '../../schemas/config.ts'
import type { ConnectBody, ToolServerDetail, ToolServerView } from '../../schemas/mcp.ts'
import type { Clock } from '../lib/clock.ts'
import type { ConfigService } from '../config/config.ts'
import { emptyIfDamaged } from '../store/damaged-record.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { childEnvironment } from '../process/child-environment.ts'
import { spawnGuarded } from '../process/spawn-guarded.ts'
import { createRedactor } from '../lib/secrets.ts'
import type { StoredRecord } from '../store/store-types.ts'
import type { ToolHost } from '../tools/host.ts'
import { isSameProcess, replaced } from './config-entries.ts'
import { ofServer, resolveEnvironment, secretsIn, toReferences, withoutServer } from './server-environment.ts'
import { describeServer, viewServer } from './server-view.ts'
import { ToolServerNotFound, ToolServersInvalid, toolServerFailed, TooManyToolServers } from './mcp-errors.ts'
import { createToolServer, type ToolServer } from './tool-server.ts'

const MOST_SERVERS = 64
const STDERR_SHOWN = 4_000

interface Parts {
  config: Pick<ConfigService, 'current' | 'update' | 'watch'>
  /** Values of environments that POST /mcp/connect was given; encrypted, the only place they are kept. */
  stored: StoredRecord<Record<string, string>>
  host: Pick<ToolHost, 'merge' | 'offered'>
  clock: Clock
  variables: NodeJS.ProcessEnv
  /** Of the whole service. */
  secrets: () => string[]
  cwd: () => string
  log: { info(details: object, message: string): void, warn(details: object, message: string): void }
}

export type ToolServers = ReturnType<typeof createToolServers>

/** The tool servers that the configuration names, as far as they can be connected. */
export function createToolServers ({ config, stored, host, clock, variables, secrets, cwd, log }: Parts) {
  /** In the order of config.json, which is the order in which they may choose names for their tools. */
  let servers = new Map<string, ToolServer>()
  /** Connected by a request that has still to save them. */
  const candidates = new Map<string, ToolServer>()
  const all = new Set<ToolServer>()
  const locked = createKeyedLock()
  /** Every value of an environment so far, and of them those that are secret for sure. */
  const seen = new Set<string>()
  const secretValues = new Set<string>()
  let values: Record<string, string> = {}
  let starting: Promise<void> | undefined
  let startedAt = 0
  let first: Promise<unknown> = Promise.resolve()
  let isClosing = false

  async function spawn (entry: McpEntry, given: Record<string, string> = {}) {
    const env = resolveEnvironment(entry, { ...values, ...given }, variables)
    for (const value of Object.values(env)) seen.add(value)
    for (const value of secretsIn(env)) secretValues.add(value)
    const { command, args = [] } = entry
    return spawnGuarded(command, args, { cwd: cwd(), env: { ...childEnvironment(variables, secrets()), ...env }, stdin: 'pipe', clock })
  }
  /** What is struck out of errors and of stderr: there it costs little to hide too much. */
  const longValues = () => [...seen].filter((value) => value.length >= 8 && !/^[./~]|^[a-z]+$/i.test(value))

  function create (entry: McpEntry, given?: Record<string, string>): ToolServer {
    const server = createToolServer({
      entry,
      spawn: (current) => spawn(current, given),
      clock,
      hidden: {
        inResults: () => createRedactor(secrets()),
        inStderr: () => createRedactor([...secrets(), ...longValues()])
      },
      onChange () {
        if (servers.get(entry.name) !== server) return
        const { status, error } = server
        if (status === 'connected') log.info({ server: entry.name, tools: server.tools.length }, 'tool server connected')
        else log.warn({ server: entry.name, status, error }, 'tool server not connected')
        publish()
      }
    })
    all.add(server)
    return server
  }

  function retire (server: ToolServer | undefined) {
    return server?.close().finally(() => all.delete(server))
  }

  const publish = () => host.merge([...servers.values()].map((server) => server.source()), settled)

  /** Makes the servers those that the configuration names. */
  function apply ({ mcp = [] }: Config) {
    if (starting === undefined || isClosing) return
    const wanted = new Map(mcp.map((entry) => [entry.name, entry]))
    const next = new Map<string, ToolServer>()
    const begun: Array<Promise<void>> = []
    for (const [name, entry] of wanted) {
      const present = [candidates.get(name), servers.get(name)].find((server) => server !== undefined && isSameProcess(server.entry, entry))
      const server = present ?? create(entry)
      server.adopt(entry)
      next.set(name, server)
      if (present === undefined) begun.push(server.start().catch(() => {}))
    }
    for (const [name, server] of servers) if (next.get(name) !== server) void retire(server)
    servers = next
    if (begun.length > 0) {
      startedAt = clock.awake()
      first = Promise.all(begun)
    }
    publish()
  }

  /** Resolves when the servers that were begun together have each connected or failed once, or `ms` after they were begun. */
  async function settled (ms: number, signal: AbortSignal) {
    await start()
    const left = startedAt + ms - clock.awake()
    if (left <= 0) return
    const done = new AbortController()
    await Promise.race([first, clock.timeout(left, AbortSignal.any([signal, done.signal])).catch(() => {})])
    done.abort()
  }

  function start (): Promise<void> {
    starting ??= stored.get().catch(emptyIfDamaged).then((found) => {
      values = found
      apply(config.current)
    }).catch((error) => {
      // A store that could not be read is asked again.
      starting = undefined
      throw error
    })
    return starting
  }
  config.watch(apply)
  publish()

  async function change (mcp: (entries: McpEntry[]) => McpEntry[]) {
    await config.update((current) => {
      const before = current.mcp ?? []
      if (!Check(ConfigKeys.mcp, before)) throw new ToolServersInvalid('"mcp" does not hold')
      return { ...current, mcp: mcp(before) }
    })
  }

  const keep = async (next: (before: Record<string, string>) => Record<string, string>) => {
    values = await stored.update(next).catch((error) => stored.replace(next(emptyIfDamaged(error))))
  }

  /** The first attempt of a server that a request waits for. Throws a 502. */
  async function attempt (server: ToolServer, signal: AbortSignal) {
    const leave = () => {
      void retire(server)
    }
    signal.addEventListener('abort', leave)
    try {
      await server.start()
      signal.throwIfAborted()
    } catch (error) {
      throw toolServerFailed(
        server.error ?? `The tool server ${JSON.stringify(server.name)} is not connected: ${(error as Error).message}.`,
        server.stderr().slice(-STDERR_SHOWN)
      )
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }

  /** Saves a connected server; by that it takes its place. */
  async function save (server: ToolServer, entry: McpEntry, given: Record<string, string>) {
    const { name } = entry
    const before = ofServer(values, name)
    candidates.set(name, server)
    try {
      await keep((all) => ({ ...withoutServer(all, name), ...given }))
      await change((entries) => replaced(entries, entry))
    } catch (error) {
      await keep((all) => ({ ...withoutServer(all, name), ...before }))
      throw error
    } finally {
      candidates.delete(name)
    }
  }

  const find = (name: string): ToolServer => {
    const server = servers.get(name)
    if (server === undefined) throw new ToolServerNotFound(name)
    return server
  }

  return {
    /** Begins to connect what the configuration names; may be called again. Waits for no server. */
    start,

    /** Values that no other child may see. */
    secrets: (): string[] => [...secretValues],

    async list (): Promise<{ servers: ToolServerView[] }> {
      await start()
      return { servers: [...servers.values()].map(viewServer) }
    },

    /** All about one server. Throws ToolServerNotFound. */
    async get (name: string, signal: AbortSignal): Promise<ToolServerDetail> {
      await start()
      return describeServer(find(name), { host, clock, signal })
    },

    /**
     * Connects a server and saves it: its environment encrypted, the rest in config.json. One of that name is replaced
     * once the new one is connected. Throws a 502 when it cannot be connected, and then nothing has changed.
     */
    connect: ({ name, command, args, env = {}, approval }: ConnectBody, signal: AbortSignal) =>
      locked(name, async () => {
        await start()
        // Those that others are just connecting count as well.
        if (!servers.has(name) && all.size >= MOST_SERVERS) throw new TooManyToolServers(MOST_SERVERS)
        const { references, values: given } = toReferences(name, env)
        const entry: McpEntry = {
          name,
          command,
          ...args && { args },
          ...Object.keys(env).length > 0 && { env: references },
          ...approval !== undefined && { approval }
        }
        const server = create(entry, given)
        try {
          await attempt(server, signal)
          await save(server, entry, given)
          return { status: 'connected' as const, tools: server.tools }
        } catch (error) {
          await retire(server)
          throw error
        }
      }),

    /** Disconnects a server, and forgets it and its secrets. Throws ToolServerNotFound. */
    disconnect: (name: string) =>
      locked(name, async () => {
        await start()
        const server = find(name)
        await change((entries) => entries.filter((entry) => entry.name !== name))
        await keep((stored) => withoutServer(stored, name))
        await retire(server)
        return { status: 'disconnected' as const, name }
      }),

    /** Ends every server; resolves when nothing of them is left. */
    async close (): Promise<void> {
      isClosing = true
      await Promise.all([...all].map(retire))
    }
  }
}
