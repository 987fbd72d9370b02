import type { Static } from '@sinclair/typebox'
import { MOST_SERVERS, type Config, type McpEntry } from '../../schemas/config.ts'
import type { ApprovalView } from '../../schemas/approvals.ts'
import type { AcceptBody, ConnectBody, ServerSettings, ToolServerDetail, ToolServerView } from '../../schemas/mcp.ts'
import type { ImportBody, ImportedServer } from '../../schemas/mcp-import.ts'
import type { ConfigService } from '../config/index.ts'
import { withDeadline } from '../lib/deadline.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { createRedactor } from '../lib/secrets.ts'
import type { StoredRecord } from '../store/index.ts'
import type { RefusedTool } from '../models/index.ts'
import type { ResourceServer, ToolHost } from '../tools/index.ts'
import { withoutStop } from './entry-view.ts'
import { isSameConnection, takesAuthorization, toEntry, createSavedServers } from './config-entries.ts'
import { createEnvironmentValues, type EnvironmentParts, withoutHidden } from './environment-values.ts'
import { createAuthorizations, type StoredAuthorizations, createSignOut } from './oauth/authorizations.ts'
import type { NetworkRules } from './oauth/oauth-fetch.ts'
import { createServerAccess } from './oauth/server-access.ts'
import { describeServer, viewServer } from './server-view.ts'
import { createAcceptance, type StoredAcceptance } from './acceptance.ts'
import { ToolsChanged, UnknownTools, ToolServerNotFound, toolServerFailed, TooManyToolServers } from './mcp-errors.ts'
import { readImport } from './import.ts'
import { createKnownTools, type StoredTools } from './known-tools.ts'
import { createMergedSources, type MergedSourcesParts } from './merged-sources.ts'
import type { Log } from './server-log.ts'
import { createPrompts } from './prompts.ts'
import { createServerResources } from './server-resources.ts'
import { createToolServer, type ToolServer } from './tool-server.ts'
import { createTransport } from './guarded-transport.ts'
import type { ServerTransport, StderrTail } from './server-transport.ts'

/** The most characters of stderr in the response to a failed connection. */
const STDERR_SHOWN = 4_000
/** The time limit for beginning an authorization while the details of the server are requested, in milliseconds. */
const ASK_MS = 10_000

/** The lock key for imports. No server can have this name. */
const IMPORTING = 'import of servers'

interface Parts extends EnvironmentParts {
  /** The authorizations that users have granted for servers over HTTP. */
  storedAccess: StoredRecord<StoredAuthorizations>
  /** The rules for the network addresses of authorization servers. */
  rules: NetworkRules
  config: Pick<ConfigService, 'current' | 'problem' | 'update' | 'watch'>
  names: MergedSourcesParts['names']
  /** The last known tools of the servers. */
  known: StoredRecord<StoredTools>
  /** The record of the tools that the user has accepted. */
  accepted: StoredRecord<StoredAcceptance>
  host: Pick<ToolHost, 'merge' | 'offered' | 'permission'>
  /** The tools whose definitions model providers refused. */
  refusedTools: () => readonly RefusedTool[]
  log: Log
}

export type ToolServers = ReturnType<typeof createToolServers>

/** Connects the tool servers in the configuration, keeps them connected, and offers their tools to the host. */
export function createToolServers (parts: Parts) {
  const { config, names, known, accepted, rules, host, refusedTools, clock, secrets, log } = parts
  const environments = createEnvironmentValues(parts)
  const authorizations = createAuthorizations(parts.storedAccess)
  const saved = createSavedServers({ config, environments })
  const closing = new AbortController()
  const signOut = createSignOut({ authorizations, rules, clock, signal: closing.signal })
  /** The names of servers that a request is removing. The request itself ends the access to them. */
  const leaving = new Set<string>()
  /** The servers in the order of config.json. If two servers have a new tool of the same name, the first server gets the name. */
  let servers = new Map<string, ToolServer>()
  /** Servers that POST /mcp/connect has connected and is saving now. */
  const candidates = new Map<string, ToolServer>()
  /** Servers that requests are connecting for the first time, and that are not in config.json yet. */
  const unsaved = new Map<string, { server: ToolServer, signal: AbortSignal }>()
  /** Every server that is not closed yet, including servers that are connecting or closing. */
  const all = new Set<ToolServer>()
  const locked = createKeyedLock()
  const sources = createMergedSources({ servers: () => [...servers.values()], names, host, clock, log, started: () => start() })
  const knownTools = createKnownTools({ stored: known, log })
  const acceptance = createAcceptance({
    stored: accepted,
    clock,
    servers: () => servers.values(),
    enable: (name) => saved.configure(name, { enabled: true })
  })
  const view = (server: ToolServer, variables = acceptance.asksOf(server)) =>
    viewServer(server, { agentNames: sources.namesOf(server.name), refused: refusedTools(), variables })
  /** Called when the items that wait for the user might have changed. */
  let onWaiting = (_items: ApprovalView[]): void => {}
  let starting: Promise<void> | undefined
  let isClosing = false

  function create (entry: McpEntry, given?: Record<string, string>): ToolServer {
    const onChange = () => {
      if (servers.get(entry.name) !== server) return
      const { status, error } = server
      if (status === 'connecting') return publish()
      if (status === 'connected') log.info({ server: entry.name, tools: server.tools.length }, 'tool server connected')
      else log.warn({ server: entry.name, status, error }, 'tool server not connected')
      publish()
    }
    const access = takesAuthorization(entry)
      ? createServerAccess({
        name: entry.name,
        url: withoutHidden(entry.url),
        authorizations,
        client: () => ({ ...environments.client(entry, given), metadataUrl: config.current.mcpClientMetadataUrl }),
        rules,
        clock,
        onChange
      })
      : undefined
    /** Creates the transport of an entry: to a child process, or over HTTP. Throws an Error that names a missing value. */
    const transport = async (current: McpEntry, tail: StderrTail): Promise<ServerTransport> => {
      if (current.url === undefined) return createTransport({ spawn: () => environments.spawn(current, given), clock, tail })
      const { url, headers } = environments.address(current, given)
      const { createHttpTransport } = await import('./http/http-transport.ts')
      return createHttpTransport({ url, headers, access, clock, tail })
    }
    const server = createToolServer({
      entry,
      known: entry.enabled === false ? undefined : knownTools.of(entry),
      transport,
      access,
      clock,
      log,
      redactors: {
        inResults: () => createRedactor(secrets()),
        inStderr: () => createRedactor([...secrets(), ...environments.longValues()])
      },
      acceptanceOf: (tool, identity) => acceptance.stateOf(entry.name, tool, identity),
      onChange
    })
    all.add(server)
    return server
  }

  function publish () {
    sources.publish()
    for (const { entry, connection } of servers.values()) if (connection !== undefined) knownTools.note(entry, connection)
    void knownTools.save()
    onWaiting(acceptance.waiting())
  }

  /** Ends the access to a server that was removed or has another address now. Logs what stays valid at the authorization server. */
  async function forgetAccess (name: string, except?: string): Promise<void> {
    const warning = await signOut(name, except)
    if (warning !== undefined) log.warn({ server: name }, warning)
  }

  function retire (server: ToolServer | undefined) {
    return server?.close().finally(() => all.delete(server))
  }

  /** Starts the servers that are new or changed in the configuration, and closes the servers that are no longer in it. */
  function apply ({ mcp = [] }: Config) {
    if (starting === undefined || isClosing) return
    const entries = new Map(mcp.map((entry) => [entry.name, entry]))
    const next = new Map<string, ToolServer>()
    const begun: ToolServer[] = []
    for (const [name, entry] of entries) {
      const present = [candidates.get(name), servers.get(name)].find((each) => each !== undefined && isSameConnection(each.entry, entry))
      const server = present ?? create(entry)
      server.updateEntry(entry)
      next.set(name, server)
      if (present === undefined) begun.push(server)
    }
    for (const [name, server] of servers) if (next.get(name) !== server) void retire(server)
    servers = next
    // If the file could not be read completely, `entries` can lack servers whose records must be kept.
    if (config.problem === undefined) {
      sources.retain(new Set(entries.keys()))
      knownTools.retain(new Set(entries.keys()))
      for (const name of authorizations.names()) {
        if (entries.has(name) || leaving.has(name)) continue
        forgetAccess(name).catch((error) => log.warn({ err: error, server: name }, 'the access to a tool server could not be deleted'))
      }
      acceptance.retain(new Set(entries.keys())).catch((error) => log.warn({ err: error }, 'accepted tools could not be stored'))
    }
    if (begun.length > 0) sources.begin(begun)
    publish()
  }

  function start (): Promise<void> {
    const load = () => Promise.all([environments.load(), authorizations.load(), sources.load(), knownTools.load(), acceptance.load()])
    starting ??= load().then(() => apply(config.current)).catch((error) => {
      // After a failure, the next call reads the store again.
      starting = undefined
      throw error
    })
    return starting
  }
  config.watch(apply)
  sources.publish()

  /** Starts a server for a request. Returns the page for its authorization if it needs one. Throws a 502. An abort closes the server. */
  async function connectFirst (server: ToolServer, signal: AbortSignal) {
    const abandon = () => void retire(server)
    signal.addEventListener('abort', abandon)
    try {
      await server.start()
      const authorizationUrl = await server.authorize()
      signal.throwIfAborted()
      return authorizationUrl
    } catch (error) {
      throw toolServerFailed(
        server.error ?? `The tool server ${JSON.stringify(server.name)} is not connected: ${withoutStop((error as Error).message)}.`,
        server.stderr().slice(-STDERR_SHOWN)
      )
    } finally {
      signal.removeEventListener('abort', abandon)
    }
  }

  /** Saves a connected server. The change of config.json makes `apply` use it in place of an earlier server of that name. */
  async function save (server: ToolServer, entry: McpEntry, given: Record<string, string>) {
    candidates.set(entry.name, server)
    await saved.save(entry, given).finally(() => candidates.delete(entry.name))
    await forgetAccess(entry.name, server.authorizedUrl)
  }

  const offering = (what: 'resources' | 'prompts') => [...servers.values()].flatMap((server) => server.offers(what) ?? [])
  const prompts = createPrompts({ servers: () => offering('prompts'), clock })

  const find = (name: string): ToolServer => {
    const server = servers.get(name)
    if (server === undefined) throw new ToolServerNotFound(name)
    return server
  }

  const resources = createServerResources({ servers: () => offering('resources'), find, clock })
  /** Wraps a function so that it first waits for the start of the servers. */
  const started = <A extends unknown[], R>(verb: (...given: A) => Promise<R>) => async (...given: A): Promise<R> => {
    await start()
    return verb(...given)
  }

  return {
    /** Begins to connect the configured servers, without waiting for the connections. Further calls have no effect. */
    start,

    /** Returns the secret values of tool servers, which no other child process is allowed to get. */
    secrets: (): string[] => [...environments.secrets(), ...authorizations.secrets()],

    /** Returns the connected servers that have resources. */
    resourceServers: (): ResourceServer[] => offering('resources'),

    /** Access to the resources and prompts of connected servers, see `createServerResources` and `createPrompts`. */
    listResources: started(resources.list),
    readResource: started(resources.read),
    listPrompts: started(prompts.list),
    getPrompt: started(prompts.get),

    /** Returns the servers in the order of config.json, followed by the servers that requests are connecting. */
    async list (): Promise<{ servers: ToolServerView[] }> {
      await start()
      const beginning = [...unsaved.values()].filter(({ server, signal }) => !signal.aborted && !servers.has(server.name))
      const views = beginning.map(({ server }) => ({ ...view(server), unsaved: true as const }))
      return { servers: [...[...servers.values()].map((server) => view(server)), ...views] }
    },

    /**
     * Returns the details of one server. If the server waits for an authorization that has not been begun, begins one, so that the details
     * name the page to open; if that fails, the details name no page. Throws ToolServerNotFound.
     */
    async get (name: string, signal: AbortSignal): Promise<ToolServerDetail> {
      await start()
      const server = find(name)
      if (server.isUnasked) await withDeadline({ clock, ms: ASK_MS, signal }, () => server.authorize()).catch(() => {})
      return describeServer(server, { view: view(server), host, acceptance, agentNames: sources.namesOf(name), clock, signal })
    },

    /**
     * Accepts the named tools of a server, or all, in their present state: a tool's claim that it only reads is trusted from now on. If the
     * server waits for agreement to its variables, enables the server instead; its tools then wait in the inbox. Throws ToolServerNotFound
     * (404), UnknownTools (400) if it is not connected or lacks a named tool, or ToolsChanged (409) if `digest` is not that of its tools.
     */
    accept: (name: string, { tools, digest }: Static<typeof AcceptBody>): Promise<ToolServerView> =>
      locked(name, async () => {
        await start()
        const server = find(name)
        const variables = acceptance.asksOf(server)
        if (variables !== undefined) return acceptance.enableAsked(name).then(() => view(find(name), variables))
        const unknown = tools?.filter((tool) => !server.tools.includes(tool)) ?? []
        if (server.connection === undefined) throw new UnknownTools(name, 'it is not connected')
        if (unknown.length > 0) throw new UnknownTools(name, `it has no ${unknown.join(', ')}`)
        if (digest !== undefined && digest !== acceptance.digestOf(server)) throw new ToolsChanged(name)
        await acceptance.accept(server, tools)
        publish()
        return view(server)
      }),

    /** Removes what the user accepted of a server, so that its tools need approvals again. Throws ToolServerNotFound. */
    takeBack: (name: string): Promise<ToolServerView> =>
      locked(name, async () => {
        await start()
        const server = find(name)
        await acceptance.takeBack(name)
        publish()
        return view(server)
      }),

    /** Returns the pending inbox items about servers. */
    waiting: acceptance.waiting,

    /** Sets the function that is called with the pending items whenever these might have changed. */
    watchWaiting (listener: typeof onWaiting): void {
      onWaiting = listener
    },

    /** Records the user's decision about an inbox item, see `Acceptance.decide`. */
    async decide (approvalId: string, approved: boolean): Promise<ApprovalView | undefined> {
      const item = await acceptance.decide(approvalId, approved)
      publish()
      return item
    },

    /**
     * Connects a server and saves it: the values of its variables or headers encrypted, the rest in config.json. A server of the same name
     * is replaced once the new server is connected or waits for an authorization. If the server cannot be connected, throws a 502 and
     * changes nothing.
     */
    connect: (body: ConnectBody, signal: AbortSignal) =>
      locked(body.name, async () => {
        await start()
        // `all` also counts the servers that concurrent requests are connecting.
        if (!servers.has(body.name) && all.size >= MOST_SERVERS) throw new TooManyToolServers(MOST_SERVERS)
        const { entry, given } = toEntry(body)
        const server = create(entry, given)
        unsaved.set(body.name, { server, signal })
        try {
          const authorizationUrl = await connectFirst(server, signal)
          await save(server, entry, given)
          await Promise.all([sources.save(), knownTools.save()])
          if (authorizationUrl !== undefined) return { status: 'authorizing' as const, authorizationUrl }
          return { status: entry.enabled === false ? 'disabled' as const : 'connected' as const, tools: server.tools }
        } catch (error) {
          await retire(server)
          if (!servers.has(body.name)) await parts.box.forgetServer(body.name)
          throw error
        } finally {
          unsaved.delete(body.name)
        }
      }),

    /**
     * Saves the servers in a README's configuration, all at once, and begins to connect them. Returns what happened to each entry. Throws
     * NotServers (400) or an error of saving; then nothing is saved.
     */
    import: (body: ImportBody): Promise<{ servers: ImportedServer[] }> =>
      locked(IMPORTING, async () => {
        await start()
        const read = () =>
          readImport(body, {
            present: (name) => servers.has(name) ? { entry: find(name).entry, given: environments.of(name) } : undefined,
            count: () => Math.max(servers.size, all.size)
          })
        // All names are locked, in a fixed order. Without the locks, disconnecting one of the servers meanwhile would delete its new
        // secrets.
        const names = [...new Set(read().servers.map(({ name }) => name))].sort()
        const save = async () => {
          const { saved: next, servers: answers } = read()
          for (const { entry, asks } of next) await acceptance.ask(entry.name, asks)
          if (next.length > 0) await saved.saveAll(next)
          for (const { entry: { name } } of next) await forgetAccess(name, servers.get(name)?.authorizedUrl)
          return { servers: answers }
        }
        return names.reduce<typeof save>((work, name) => () => locked(name, work), save)()
      }),

    /** Changes settings of a server in config.json; watching the file applies them. Throws ToolServerNotFound. */
    configure: (name: string, settings: ServerSettings): Promise<ToolServerView> =>
      locked(name, async () => {
        await start()
        find(name)
        await saved.configure(name, settings)
        return view(find(name))
      }),

    /** Disconnects a server, deletes its entry and its stored values, and revokes its tokens. Throws ToolServerNotFound. */
    disconnect: (name: string) =>
      locked(name, async () => {
        await start()
        const server = find(name)
        leaving.add(name)
        await saved.remove(name).finally(() => leaving.delete(name))
        await Promise.all([sources.save(), knownTools.save()])
        await retire(server)
        const [warning] = await Promise.all([signOut(name), parts.box.forgetServer(name)])
        return { status: 'disconnected' as const, name, ...warning !== undefined && { warning } }
      }),

    /** Ends every server. Resolves when no process of any server is left. */
    async close (): Promise<void> {
      isClosing = true
      closing.abort(new Error('the service ends'))
      await Promise.all([...all].map(retire))
    }
  }
}
