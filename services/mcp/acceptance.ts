import { createHash } from 'node:crypto'
import type { ApprovalView } from '../../schemas/approvals.ts'
import { SERVER_ITEM } from '../contracts/approval-record.ts'
import type { Clock } from '../lib/clock.ts'
import { canonicalJson } from '../lib/canonical-json.ts'
import { originOf } from './config-entries.ts'
import { type StoredRecord, emptyIfDamaged } from '../store/index.ts'
import { claimsToRead, type ToolAcceptance, type ToolDefinition } from './tool-definitions.ts'
import type { ToolServer } from './tool-server.ts'

/**
 * The stored record: for each server, the identities of the tools that the user accepted, and the digest of the tools that were declined
 * last.
 */
export interface StoredAcceptance {
  servers?: Array<{ server: string, tools: Array<[tool: string, identity: string]>, declined?: string, asks?: string[] }>
}

interface Pins {
  tools: Map<string, string>
  /** The digest of the tools that the user declined to accept. */
  declined?: string
  /** The names of the environment variables that an imported server asks for. The server is not connected before the user agrees. */
  asks?: string[]
}

const DIGEST_CHARS = 16
const MOST_PINS = 1_024

export type Acceptance = ReturnType<typeof createAcceptance>

/**
 * Records which tools of which servers the user accepted, and in which state. A tool's claim that it only reads is trusted for the accepted
 * state alone. A tool that is new or changed needs approvals until it is accepted.
 */
export function createAcceptance ({ stored, clock, servers, enable }: {
  stored: StoredRecord<StoredAcceptance>
  clock: Clock
  servers: () => Iterable<ToolServer>
  /** Enables a server in config.json, durably. */
  enable: (server: string) => Promise<void>
}) {
  const known = new Map<string, Pins>()
  /** The time when the inbox item of a server first appeared, by the id of the item. */
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

  /**
   * Returns the tools that claim that they only read, and are not accepted in their present state: accepting them saves the user approvals.
   * Returns [] for a server whose entry has an `approval` rule.
   */
  function unaccepted ({ name, entry, connection, identityOf }: ToolServer): ToolDefinition[] {
    if (entry.approval !== undefined || connection === undefined) return []
    return connection.definitions.filter((tool) => claimsToRead(tool) && stateOf(name, tool, identityOf(tool)) !== 'accepted')
  }

  /** Returns a digest of tools that does not depend on their order. */
  const digestOf = (server: ToolServer, tools: readonly ToolDefinition[]) => {
    const shown = tools.map((tool) => JSON.stringify([server.identityOf(tool), tool.title])).sort()
    return createHash('sha256').update(shown.join('\n')).digest('hex').slice(0, DIGEST_CHARS)
  }

  /** Returns the pending inbox item about a server; undefined if nothing is to be accepted, or if the user declined these very tools. */
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

  /**
   * Returns the variables that the user must agree to before a server is connected; undefined for none. An enabled server has the user's
   * agreement.
   */
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

  /** Records the names of the variables that the user must agree to before the server is connected; undefined removes the record. */
  async function ask (server: string, asks: string[] | undefined): Promise<void> {
    if (asks === undefined && pinsOf(server).asks === undefined) return
    known.set(server, { ...pinsOf(server), asks })
    await save()
  }

  /** Enables a server after the user agreed to its variables, so that it is connected. */
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
    /** Reads the stored record. A damaged record counts as empty. */
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

    /** Returns a digest of everything that a person is shown about the tools of the server. */
    digestOf: (server: ToolServer): string => digestOf(server, server.definitions),

    /**
     * Removes what the user accepted and declined of a server. Its tools need approvals again, and an item about them waits in the inbox.
     */
    async takeBack (server: string): Promise<void> {
      if (known.delete(server)) await save()
    },

    /** Returns the pending inbox items about servers, in the order of config.json. */
    waiting: (): ApprovalView[] => [...servers()].flatMap((server) => itemOf(server) ?? []),

    /** Records the user's decision about the item with this id, and returns the decided item; undefined if no such item is pending. */
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

    /** Removes the records of all servers but these, and the recorded variables of servers that have been enabled. */
    async retain (names: ReadonlySet<string>): Promise<void> {
      const gone = [...known.keys()].filter((name) => !names.has(name))
      for (const name of gone) known.delete(name)
      const enabled = [...servers()].filter(({ name, entry }) => entry.enabled !== false && pinsOf(name).asks !== undefined)
      for (const { name } of enabled) known.set(name, { ...pinsOf(name), asks: undefined })
      if (gone.length + enabled.length > 0 && isLoaded) await save()
    }
  }
}
