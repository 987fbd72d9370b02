import type { NamedAgent, AgentBody } from '../../../schemas/agents.ts'
import type { NamedOptions, RunOptions } from '../../../schemas/run-options.ts'
import type { StreamEvent } from '../../../schemas/events.ts'
import type { Clock } from '../../lib/clock.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import { defineError } from '../../lib/service-error.ts'
import type { Registry } from '../../models/index.ts'
import type { StoredRecord } from '../../store/index.ts'
import type { ToolHost } from '../../tools/index.ts'
import { checkRunOptions } from './check-run-options.ts'
import { resolveOptions } from './resolve-options.ts'

/** The stored agents, by name. */
export type StoredAgents = Record<string, Omit<NamedAgent, 'name'>>

/** A conversation or a task that uses an agent. `path` is its path in the HTTP interface, `name` its name for people. */
export interface AgentUser {
  path: string
  kind: 'conversation' | 'task'
  name: string
}

/** The options with which a run starts; undefined if no layer sets any. */
export interface ResolvedOptions {
  options?: RunOptions
  /** The options with only the name of the agent, without the agent's options. */
  given?: RunOptions
}

const AgentNotFound = defineError('ERR_AGENT_NOT_FOUND', 'There is no agent "%s". GET /agents lists them.')
const UnknownAgent = defineError('ERR_INVALID_REQUEST', 'There is no agent "%s". The agents are: %s.')
const AgentInUse = defineError('ERR_AGENT_IN_USE', 'The agent "%s" is used by %s. Give them another agent, or delete them first.')
const TooManyAgents = defineError('ERR_TOO_MANY_AGENTS', 'There is no room for the agent "%s": %s. Delete another one first.')

const MOST_AGENTS = 200
/** The most characters of JSON of all agents together, which are stored in one record. */
const MOST_CHARACTERS = 4 * 1024 * 1024
/** The most users that the error of a refused deletion names. */
const MOST_NAMED = 20

export type Agents = ReturnType<typeof createAgents>

/** Named options, which runs can use as agents. */
export function createAgents ({ record, clock, registry, host, emit, usersOf }: {
  record: StoredRecord<StoredAgents>,
  clock: Clock,
  registry: Pick<Registry, 'requireUsable'>,
  host: Pick<ToolHost, 'names' | 'ready' | 'sources'>,
  emit: (event: StreamEvent) => void,
  /** Returns the conversations and tasks that use the agent. */
  usersOf: (name: string) => Promise<AgentUser[]>
}) {
  const locked = createKeyedLock()
  const find = async (name: string) => {
    const agents = await record.get()
    return Object.hasOwn(agents, name) ? { name, ...agents[name] } : undefined
  }

  /** Returns the agent that a request names. Throws UnknownAgent (400). */
  async function requireUsable (name: string): Promise<NamedAgent> {
    const agent = await find(name)
    if (agent === undefined) throw new UnknownAgent(name, Object.keys(await record.get()).sort().join(', ') || '(none yet)')
    return agent
  }

  /**
   * Returns the functions that map names of tools. A tool of a tool server has two names: the name under which it is offered, and one with
   * the name of its server as prefix. `otherNames` returns the other name, `serversOf` the servers that have a tool with the name.
   */
  function toolNames (): [otherNames: (name: string) => string[], serversOf: (name: string) => string[]] {
    let names: Map<string, string[]> | undefined
    const read = () => {
      const found = new Map<string, string[]>()
      for (const { model: { name }, qualified } of host.sources().flatMap(({ given }) => given)) {
        if (qualified === name) continue
        // A name that two tools have is not mapped.
        found.set(name, found.has(name) ? [] : [qualified])
        found.set(qualified, found.has(qualified) ? [] : [name])
      }
      return found
    }
    const serversOf = (name: string) =>
      host.sources().flatMap(({ name: server, given }) =>
        given.some((tool) => tool.model.name === name || tool.qualified === name) ? [server] : [])
    return [(name) => (names ??= read()).get(name) ?? [], serversOf]
  }

  /**
   * Resolves the options of a run from its layers, the widest first. The options of the agent that the nearest layer names are the widest
   * layer of all. Throws UnknownAgent, ToolTwice or TooMuch (400).
   */
  async function resolve (layers: ReadonlyArray<RunOptions | undefined>): Promise<ResolvedOptions> {
    const present = layers.filter((layer) => layer !== undefined)
    if (present.length === 0) return {}
    const given = resolveOptions(present, ...toolNames())
    if (given.agent === undefined) return { options: given }
    const { options } = await requireUsable(given.agent)
    return { options: resolveOptions([options, given], ...toolNames()), given }
  }

  const change = (name: string, deleted: boolean) => emit({ type: 'agent:changed', name, deleted, at: clock.now() })

  return {
    resolve,

    /**
     * Resolves and checks the options of a request. `stored` are wider layers that were checked when they were stored; they might name
     * tools that do not exist any more. Throws what `resolve` and `checkRunOptions` throw (400).
     */
    async check (options: RunOptions | undefined, stored: ReadonlyArray<RunOptions | undefined> = []): Promise<ResolvedOptions> {
      const resolved = await resolve([...stored, options])
      await checkRunOptions(resolved.options ?? {}, { registry, host }, options ?? {})
      return resolved
    },

    async list (): Promise<{ agents: NamedAgent[] }> {
      const agents = Object.entries(await record.get()).map(([name, agent]) => ({ name, ...agent }))
      return { agents: agents.sort((a, b) => a.name < b.name ? -1 : 1) }
    },

    /** Returns an agent by its name. Throws AgentNotFound (404). */
    async get (name: string): Promise<NamedAgent> {
      const agent = await find(name)
      if (agent === undefined) throw new AgentNotFound(name)
      return agent
    },

    /**
     * Creates or replaces an agent. The agent is on disk when the promise resolves. Throws what `checkRunOptions` throws (400), or
     * TooManyAgents (409).
     */
    async put (name: string, { description = '', options = {} }: AgentBody): Promise<NamedAgent> {
      await checkRunOptions(options, { registry, host })
      const agents = await record.update((before) => {
        const now = clock.now()
        const createdAt = Object.hasOwn(before, name) ? before[name].createdAt : now
        const after = { ...before, [name]: { description, options: options as NamedOptions, createdAt, updatedAt: now } }
        if (Object.keys(after).length > MOST_AGENTS) throw new TooManyAgents(name, `${MOST_AGENTS} is the limit`)
        if (JSON.stringify(after).length > MOST_CHARACTERS) throw new TooManyAgents(name, 'all together are too large')
        return after
      })
      change(name, false)
      return { name, ...agents[name] }
    },

    /**
     * Deletes an agent. Throws AgentNotFound (404), or AgentInUse (409), whose `details` name conversations and tasks that use the agent.
     */
    remove: (name: string): Promise<void> =>
      locked(name, async () => {
        if (await find(name) === undefined) throw new AgentNotFound(name)
        const users = await usersOf(name)
        if (users.length > 0) throw inUse(name, users)
        await record.update(({ [name]: _, ...others }) => others)
        change(name, true)
      }),

    /** Does work that stores a use of the agent. The agent cannot be deleted until `work` is done. Throws UnknownAgent (400). */
    async using<T> (name: string | undefined, work: () => Promise<T>): Promise<T> {
      if (name === undefined) return work()
      return locked(name, async () => {
        await requireUsable(name)
        return work()
      })
    }
  }
}

function inUse (name: string, users: AgentUser[]) {
  const counted = (kind: AgentUser['kind']) => {
    const { length } = users.filter((user) => user.kind === kind)
    return length === 0 ? [] : [`${length} ${kind}${length === 1 ? '' : 's'}`]
  }
  const error = new AgentInUse(name, [...counted('conversation'), ...counted('task')].join(' and '))
  error.details = users.slice(0, MOST_NAMED).map(({ path, kind, name: called }) => ({ path, message: `The ${kind} “${called}” uses it` }))
  return error
}
