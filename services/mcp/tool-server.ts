import type { McpEntry } from '../../schemas/config.ts'
import type { Clock } from '../lib/clock.ts'
import type { GuardedChild } from '../process/spawn-guarded.ts'
import type { Redactor } from '../lib/secrets.ts'
import { ToolFailed } from '../tools/tool-errors.ts'
import type { Permission } from '../tools/tool.ts'
import type { SourceTool, ToolSource } from '../tools/sources.ts'
import { openConnection, type Connection } from './connection.ts'
import type { Definition } from './tool-definitions.ts'
import { readResult } from './call-result.ts'
import { createTail } from './stderr-tail.ts'

export type ServerStatus = 'connecting' | 'connected' | 'disconnected' | 'failed'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000
/** A connection that held so long was a good one: the next wait is a short one again. */
const STABLE_MS = 60_000

interface Parts {
  entry: McpEntry
  /** Starts the server's process; rejects with a clause that says why it cannot. */
  spawn: (entry: McpEntry) => Promise<GuardedChild>
  clock: Clock
  /** What is struck out of a tool's result, and out of what is shown of the server's stderr. */
  hidden: { inResults(): Redactor, inStderr(): Redactor }
  /** Status, tools or words have changed. */
  onChange: () => void
}

export type ToolServer = ReturnType<typeof createToolServer>

/** One entry of `mcp`: its connection, opened again with growing waits whenever it is lost. */
export function createToolServer ({ entry, spawn, clock, hidden, onChange }: Parts) {
  const closing = new AbortController()
  const tail = createTail()
  let current = entry
  let status: ServerStatus = 'connecting'
  let error: string | undefined
  let connection: Connection | undefined
  let over: Promise<void> | undefined
  /** The last ones known: while the server is gone they keep their names. */
  let tools: SourceTool[] = []

  async function supervise (first: PromiseWithResolvers<void>) {
    for (let failures = 0; ; failures++) {
      try {
        status = 'connecting'
        connection = await openConnection({
          spawn: () => spawn(current),
          clock,
          tail,
          signal: closing.signal,
          onTools: () => {
            offer()
          }
        })
        error = undefined
        status = 'connected'
        offer()
        first.resolve()
        const since = clock.monotonic()
        const why = await connection.ended
        closing.signal.throwIfAborted()
        if (clock.monotonic() - since > STABLE_MS) failures = 0
        status = 'disconnected'
        error = sentence(why)
      } catch (failed) {
        first.reject(failed)
        closing.signal.throwIfAborted()
        status = 'failed'
        error = sentence((failed as Error).message)
      }
      connection = undefined
      onChange()
      await clock.sleep(Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS), closing.signal)
    }
  }

  function offer () {
    const before = new Map(tools.map((tool) => [tool.identity, tool]))
    tools = connection!.definitions.map((definition) => before.get(identityOf(definition)) ?? toTool(definition))
    onChange()
  }

  const identityOf = ({ digest }: Definition) => `${entry.name} ${digest}`

  function toTool (definition: Definition): SourceTool {
    const { name, description, inputSchema, annotations } = definition
    return {
      name,
      description,
      inputSchema: inputSchema as SourceTool['inputSchema'],
      // The server's own word: whether it runs unasked by default, side by side with others, and again after a crash.
      effect: annotations?.readOnlyHint === true ? 'read' : 'external',
      identity: identityOf(definition),
      get permission () {
        return permissionOf(name)
      },
      async execute (input, { signal }) {
        if (connection === undefined) throw new ToolFailed(`The tool server ${entry.name} is not connected.`)
        return readResult(await connection.call(name, input, signal), hidden.inResults())
      }
    }
  }

  /** What the entry says of the tool; undefined where its effect decides. Read at each merge, as entries change. */
  function permissionOf (tool: string): Permission | undefined {
    const { approval } = current
    if (approval === undefined) return undefined
    return approval === 'always' || (Array.isArray(approval) && approval.includes(tool)) ? 'ask' : 'allow'
  }

  const sentence = (why: string) => hidden.inStderr().redact(`The tool server ${JSON.stringify(entry.name)} is not connected: ${why}.`)

  return {
    name: entry.name,
    get entry () {
      return current
    },
    get status () {
      return status
    },
    /** Why it is not connected; undefined while it is. */
    get error () {
      return error
    },
    /** The tools' own names. */
    get tools (): string[] {
      return connection?.definitions.map(({ name }) => name) ?? []
    },
    get connection () {
      return connection
    },
    stderr: () => hidden.inStderr().redact(tail.text()),

    /** Connects, and stays connected from then on. Rejects when the first attempt fails; later ones follow even so. */
    start (): Promise<void> {
      const first = Promise.withResolvers<void>()
      first.promise.catch(() => {})
      over = supervise(first).catch(() => {})
      return first.promise
    },

    /** Takes another form of its entry that needs no other process. */
    adopt (entry: McpEntry): void {
      current = entry
    },

    source: (): ToolSource => ({ name: entry.name, tools, words: connection?.words, available: status === 'connected' }),

    /** Ends it for good; resolves when nothing of it is left. */
    async close (): Promise<void> {
      closing.abort(new Error('it was disconnected'))
      await connection?.close()
      await over
      status = 'disconnected'
    }
  }
}
