import { createHash } from 'node:crypto'
import type { ApprovalView } from '../../schemas/approvals.ts'
import { SERVER_ITEM } from '../contracts/approval-record.ts'
import type { Clock } from '../lib/clock.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { originOf } from './config-entries.ts'
import { type StoredRecord, emptyIfDamaged } from '../store/index.ts'
import { claimsToRead, type ToolAcceptance, type ToolDefinition } from './tool-definitions.ts'
import type { ToolServer } from './tool-server.ts'

/** The stored record: for each server the identities of its tools as the user accepted them, and the digest that was declined last. */
export interface StoredAcceptance {
  servers?: Array<{ server: string, tools: Array<[tool: string, identity: string]>, declined?: string, asks?: string[] }>
}

interface Pins {
  tools: Map<string, string>
  /** The digest of the tools that the user declined to accept. */
  declined?: string
  /** The variables that an imported server gets after the user's yes. It is not connected before. */
  asks?: string[]
}

const DIGEST_CHARS = 16
const MOST_PINS = 1_024

export type Acceptance = ReturnType<typeof createAcceptance>

/**
 * Records the state in which the user accepted the tools of servers. The word of a tool that it only reads counts for that state alone. A
 * tool that is new or changed asks until it is accepted.
 */
export function createAcceptance ({ stored, clock, servers, enable }: {
  stored: StoredRecord<StoredAcceptance>
  clock: Clock
  servers: () => Iterable<ToolServer>
  /** Enables a server in config.json, durably. */
  enable: (server: string) => Promise<void>
}) {
  const known = new Map<string, Pins>()
  /** When a server first had tools to accept, by the id of its item. */
  const since = new Map<string, number>()
  let isLoaded = false

  const pinsOf = (server: string): Pins => known.get(server) ?? { tools: new Map() }
  const save = () => stored.replace({
    servers: [...known].map(([server, { tools, declined, asks }]) => ({
      ...{ server, tools: [...tools].slice(-MOST_PINS) },
      ...declined !== undefined && { declined },
      ...asks !== undefined && { asks }
    }))
  })

  const stateOf = (server: string, { name }: Pick<ToolDefinition, 'name'>, identity: string): ToolAcceptance => {
    const pinned = pinsOf(server).tools.get(name)
    return pinned === undefined ? 'new' : pinned === identity ? 'accepted' : 'changed'
  }

  /** Returns the tools whose calls would ask less once they are accepted. For a server with its own `approval` rule there are none. */
  function unaccepted ({ name, entry, connection, identityOf }: ToolServer): ToolDefinition[] {
    if (entry.approval !== undefined || connection === undefined) return []
    return connection.definitions.filter((tool) => claimsToRead(tool) && stateOf(name, tool, identityOf(tool)) !== 'accepted')
  }

  /** Returns a digest of tools that does not depend on their order. */
  const digestOf = (server: ToolServer, tools: readonly ToolDefinition[]) => {
    const shown = tools.map((tool) => JSON.stringify([server.identityOf(tool), tool.title])).sort()
    return createHash('sha256').update(shown.join('\n')).digest('hex').slice(0, DIGEST_CHARS)
  }

  /** Returns the open item about a server; undefined if there is none, or if it was declined. */
  function itemOf (server: ToolServer): ApprovalView | undefined {
    const asks = asksOf(server)
    if (asks !== undefined) return variablesItem(server, asks)
    const tools = unaccepted(server)
    const digest = digestOf(server, tools)
    if (tools.length === 0 || pinsOf(server.name).declined === digest) return undefined
    const approvalId = `${SERVER_ITEM}${server.name}-${digest}`
    const createdAt = firstSeen(approvalId)
    const serverTools = tools.map((tool) => ({
      name: tool.name,
      description: tool.description,
      state: stateOf(server.name, tool, server.identityOf(tool)) as 'new' | 'changed'
    }))
    const isKnown = pinsOf(server.name).tools.size > 0
    return {
      ...{ approvalId, kind: 'server', state: 'pending', server: server.name, serverTools, createdAt },
      note: `${isKnown ? 'Since you accepted this server, some of its tools are new or were changed. ' : ''}` +
        `Accepted, its reading tools run unasked: ${tools.length}.`
    }
  }

  function firstSeen (approvalId: string): number {
    const createdAt = since.get(approvalId) ?? clock.now()
    since.set(approvalId, createdAt)
    return createdAt
  }

  /** Returns the variables that a server waits for; undefined if it waits for none. A server that was enabled has its yes. */
  const asksOf = ({ name, entry }: ToolServer): string[] | undefined => entry.enabled === false ? pinsOf(name).asks : undefined

  function variablesItem (server: ToolServer, variables: string[]): ApprovalView {
    const shown = createHash('sha256').update(canonicalJson([originOf(server.entry), variables])).digest('hex').slice(0, DIGEST_CHARS)
    const approvalId = `${SERVER_ITEM}${server.name}-${shown}`
    return {
      ...{ approvalId, kind: 'server', state: 'pending', server: server.name, serverTools: [], variables },
      createdAt: firstSeen(approvalId),
      note: `It was imported, and is connected once you accept it. It asks for ${variables.join(', ')} of the environment of this service.`
    }
  }

  /** Records the variables to ask about before a server is connected; undefined removes them. */
  async function ask (server: string, asks: string[] | undefined): Promise<void> {
    if (asks === undefined && pinsOf(server).asks === undefined) return
    known.set(server, { ...pinsOf(server), asks })
    await save()
  }

  /** Connects a server that waited for the user's yes to its variables. */
  async function enableAsked (server: string): Promise<void> {
    await enable(server)
    await ask(server, undefined)
  }

  async function accept (server: ToolServer, names?: readonly string[]): Promise<void> {
    const tools = server.connection?.definitions.filter(({ name }) => names?.includes(name) ?? true) ?? []
    const { tools: before, asks } = pinsOf(server.name)
    known.set(server.name, { asks, tools: new Map([...before, ...tools.map((tool) => [tool.name, server.identityOf(tool)] as const)]) })
    await save()
  }

  return {
    /** Reads what was accepted. A damaged record counts as empty. */
    async load (): Promise<void> {
      const { servers: read = [] } = await stored.get().catch(emptyIfDamaged) as StoredAcceptance
      for (const { server, tools, declined, asks } of read) known.set(server, { tools: new Map(tools), declined, asks })
      isLoaded = true
    },

    stateOf,
    accept,
    ask,
    asksOf,
    enableAsked,

    /** Returns a digest of everything that a person is shown about the tools of a server. */
    digestOf: (server: ToolServer): string => digestOf(server, server.definitions),

    /** Takes back what the user accepted or declined: the tools of the server ask again, and wait for the user in the inbox. */
    async takeBack (server: string): Promise<void> {
      if (known.delete(server)) await save()
    },

    /** Returns the items of servers that wait for the user, in the order of config.json. */
    waiting: (): ApprovalView[] => [...servers()].flatMap((server) => itemOf(server) ?? []),

    /** Records the user's decision about the item with this id; undefined if there is none, or none any more. */
    async decide (approvalId: string, approved: boolean): Promise<ApprovalView | undefined> {
      for (const server of servers()) {
        const item = itemOf(server)
        if (item?.approvalId !== approvalId) continue
        const tools = unaccepted(server)
        if (item.variables !== undefined) await (approved ? enableAsked(server.name) : ask(server.name, undefined))
        else if (approved) await accept(server, tools.map(({ name }) => name))
        else {
          known.set(server.name, { ...pinsOf(server.name), declined: digestOf(server, tools) })
          await save()
        }
        return { ...item, state: approved ? 'approved' : 'denied' }
      }
      return undefined
    },

    /** Forgets all other servers, and the variables of servers that have been enabled. */
    async retain (names: ReadonlySet<string>): Promise<void> {
      const gone = [...known.keys()].filter((name) => !names.has(name))
      for (const name of gone) known.delete(name)
      const enabled = [...servers()].filter(({ name, entry }) => entry.enabled !== false && pinsOf(name).asks !== undefined)
      for (const { name } of enabled) known.set(name, { ...pinsOf(name), asks: undefined })
      if (gone.length + enabled.length > 0 && isLoaded) await save()
    }
  }
}
