import { createHash } from 'node:crypto'
import type { ApprovalView } from '../../schemas/approvals.ts'
import { SERVER_ITEM } from '../contracts/approval-record.ts'
import type { Clock } from '../lib/clock.ts'
import { type StoredRecord, emptyIfDamaged } from '../store/index.ts'
import { claimsToRead, type ToolAcceptance, type ToolDefinition } from './tool-definitions.ts'
import type { ToolServer } from './tool-server.ts'

/** What is stored: of each server the identities of its tools as the user accepted them, and what was declined last. */
export interface StoredAcceptance {
  servers?: Array<{ server: string, tools: Array<[tool: string, identity: string]>, declined?: string }>
}

interface Pins {
  tools: Map<string, string>
  /** The digest of the tools that the user declined to accept. */
  declined?: string
}

const DIGEST_CHARS = 16
const MOST_PINS = 1_024

export type Acceptance = ReturnType<typeof createAcceptance>

/**
 * Keeps what the tools of servers were when the user accepted them: a tool's own word that it only reads counts for that alone, and one
 * that is new or was changed asks until it is accepted.
 */
export function createAcceptance ({ stored, clock, servers }: {
  stored: StoredRecord<StoredAcceptance>
  clock: Clock
  servers: () => Iterable<ToolServer>
}) {
  const known = new Map<string, Pins>()
  /** When a server was first seen with tools to accept, by the id of its item. */
  const since = new Map<string, number>()
  let isLoaded = false

  const pinsOf = (server: string): Pins => known.get(server) ?? { tools: new Map() }
  const save = () => stored.replace({
    servers: [...known].map(([server, { tools, declined }]) => {
      const pinned = { server, tools: [...tools].slice(-MOST_PINS) }
      return declined === undefined ? pinned : { ...pinned, declined }
    })
  })

  const stateOf = (server: string, { name }: Pick<ToolDefinition, 'name'>, identity: string): ToolAcceptance => {
    const pinned = pinsOf(server).tools.get(name)
    return pinned === undefined ? 'new' : pinned === identity ? 'accepted' : 'changed'
  }

  /** The tools whose calls would ask less once they are accepted. Of a server that the user gave a rule for, none. */
  function unaccepted ({ name, entry, connection, identityOf }: ToolServer): ToolDefinition[] {
    if (entry.approval !== undefined || connection === undefined) return []
    return connection.definitions.filter((tool) => claimsToRead(tool) && stateOf(name, tool, identityOf(tool)) !== 'accepted')
  }

  /** The order in which a server lists its tools does not count. */
  const digestOf = (server: ToolServer, tools: readonly ToolDefinition[]) => {
    const shown = tools.map((tool) => JSON.stringify([server.identityOf(tool), tool.title])).sort()
    return createHash('sha256').update(shown.join('\n')).digest('hex').slice(0, DIGEST_CHARS)
  }

  /** Returns what waits for the user's word about a server; undefined for nothing, or for what was declined. */
  function itemOf (server: ToolServer): ApprovalView | undefined {
    const tools = unaccepted(server)
    const digest = digestOf(server, tools)
    if (tools.length === 0 || pinsOf(server.name).declined === digest) return undefined
    const approvalId = `${SERVER_ITEM}${server.name}-${digest}`
    const createdAt = since.get(approvalId) ?? clock.now()
    since.set(approvalId, createdAt)
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

  async function accept (server: ToolServer, names?: readonly string[]): Promise<void> {
    const tools = server.connection?.definitions.filter(({ name }) => names?.includes(name) ?? true) ?? []
    const { tools: before } = pinsOf(server.name)
    known.set(server.name, { tools: new Map([...before, ...tools.map((tool) => [tool.name, server.identityOf(tool)] as const)]) })
    await save()
  }

  return {
    /** Reads what was accepted. A damaged record counts as empty. */
    async load (): Promise<void> {
      const { servers: read = [] } = await stored.get().catch(emptyIfDamaged) as StoredAcceptance
      for (const { server, tools, declined } of read) known.set(server, { tools: new Map(tools), declined })
      isLoaded = true
    },

    stateOf,
    accept,

    /** A digest of all that a person is shown of the tools of a server. */
    digestOf: (server: ToolServer): string => digestOf(server, server.definitions),

    /** Takes back what the user accepted or declined: the tools of the server ask, and wait for the user's word anew. */
    async takeBack (server: string): Promise<void> {
      if (known.delete(server)) await save()
    },

    /** The servers that wait for the user's word, in the order of config.json. */
    waiting: (): ApprovalView[] => [...servers()].flatMap((server) => itemOf(server) ?? []),

    /** Records the user's word about what waits under this id; undefined when nothing does, or no longer. */
    async decide (approvalId: string, approved: boolean): Promise<ApprovalView | undefined> {
      for (const server of servers()) {
        const item = itemOf(server)
        if (item?.approvalId !== approvalId) continue
        const tools = unaccepted(server)
        if (approved) await accept(server, tools.map(({ name }) => name))
        else {
          known.set(server.name, { ...pinsOf(server.name), declined: digestOf(server, tools) })
          await save()
        }
        return { ...item, state: approved ? 'approved' : 'denied' }
      }
      return undefined
    },

    /** Forgets all other servers. */
    async retain (names: ReadonlySet<string>): Promise<void> {
      const gone = [...known.keys()].filter((name) => !names.has(name))
      for (const name of gone) known.delete(name)
      if (gone.length > 0 && isLoaded) await save()
    }
  }
}
