import { Aborted, abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import type { GuardedChild } from '../process/spawn-guarded.ts'
import { ToolFailed } from '../tools/tool-errors.ts'
import { VERSION } from '../lib/version.ts'
import { MOST_TOOLS, readDefinitions, type Definition } from './tool-definitions.ts'
import type { Tail } from './stderr-tail.ts'
import { createTransport } from './guarded-transport.ts'

type Json = Record<string, unknown>

const CONNECT_MS = 30_000
/** Whether a server that let a call run out of time still lives is asked once, and answered soon. */
const PING_MS = 10_000
/** Lists of tools follow each other no faster. */
const RELIST_MS = 1_000
const MOST_PAGES = 32
const LONGEST_WORDS = 8 * 1024
/** The SDK's own timers are not used: time is the clock's. Milliseconds, the longest a timer takes. */
const NEVER_MS = 2_147_483_647

export interface Connection {
  readonly definitions: Definition[]
  readonly warnings: string[]
  /** What the server says of itself. */
  words?: string
  capabilities: Json
  version?: Json
  /** The raw result of a tool. Throws ToolFailed, or the signal's reason. */
  call(tool: string, input: unknown, signal: AbortSignal): Promise<Json>
  /** The entries of a list of the server, its first page; [] when it has none. */
  list(what: 'resources' | 'prompts', signal: AbortSignal): Promise<Json[]>
  /** Resolves when nothing of it is left, to why: see GuardedTransport. */
  ended: Promise<string>
  close(): Promise<void>
}

interface Parts {
  spawn: () => Promise<GuardedChild>
  clock: Clock
  tail: Tail
  signal: AbortSignal
  /** The server has announced other tools, and they are here. */
  onTools: () => void
}

/** Starts a server and shakes hands with it. Rejects with a clause about it that says why not. */
export async function openConnection ({ spawn, clock, tail, signal, onTools }: Parts): Promise<Connection> {
  const [{ Client }, { ResultSchema, ToolListChangedNotificationSchema }] = await Promise.all([
    import('@modelcontextprotocol/sdk/client/index.js'),
    import('@modelcontextprotocol/sdk/types.js')
  ])
  const transport = createTransport({ spawn, clock, tail })
  const client = new Client({ name: 'local-agent-service', version: VERSION }, {
    // Results are taken as they come: a server that breaks its own promise about them still answered.
    jsonSchemaValidator: { getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }) }
  })
  let current: ReturnType<typeof readDefinitions> = { definitions: [], warnings: [] }
  let relisting: Promise<void> | undefined
  let isStale = false

  /** The SDK says that a request was cancelled whenever its signal aborts later on: this one ends with the request. */
  async function request (method: string, params: Json, limit: AbortSignal): Promise<Json> {
    limit.throwIfAborted()
    const own = new AbortController()
    const cancel = () => own.abort(limit.reason)
    limit.addEventListener('abort', cancel, { once: true })
    try {
      return await client.request({ method, params }, ResultSchema, { signal: own.signal, timeout: NEVER_MS })
    } catch (error) {
      throw limit.aborted ? limit.reason : error
    } finally {
      limit.removeEventListener('abort', cancel)
    }
  }

  /** Does work that must be done in a while, or rejects with a time-out. */
  async function within<T> (ms: number, what: string, work: (limit: AbortSignal) => Promise<T>, outer = signal): Promise<T> {
    const late = new AbortController()
    const done = new AbortController()
    clock.timeout(ms, done.signal).then(() => late.abort(new Aborted('timeout', what)), () => {})
    try {
      return await work(AbortSignal.any([outer, late.signal]))
    } finally {
      done.abort()
    }
  }

  async function listTools (limit: AbortSignal) {
    if (client.getServerCapabilities()?.tools === undefined) return readDefinitions([])
    const listed: unknown[] = []
    let cursor: unknown
    for (let page = 0; page < MOST_PAGES && listed.length <= MOST_TOOLS; page++) {
      const { tools, nextCursor } = await request('tools/list', cursor === undefined ? {} : { cursor }, limit)
      if (Array.isArray(tools)) listed.push(...tools)
      if (typeof nextCursor !== 'string' || nextCursor === cursor) break
      cursor = nextCursor
    }
    return readDefinitions(listed)
  }

  async function relist () {
    while (isStale) {
      isStale = false
      try {
        current = await within(CONNECT_MS, 'it did not list its tools in time', listTools)
        onTools()
      } catch {
        // The tools stay as they were; a server that has ended is noticed elsewhere.
      }
      await clock.sleep(RELIST_MS, signal).catch(() => {})
    }
    relisting = undefined
  }

  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    isStale = true
    relisting ??= relist()
  })

  /** Why it is gone; undefined while it is not. */
  const end = (): Promise<string | undefined> =>
    Promise.race([transport.ended, new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)))])

  try {
    await within(CONNECT_MS, `it did not answer within ${CONNECT_MS / 1000} s`, async (limit) => {
      // Not the SDK's: its wait for an answer that was given up keeps the reason to itself.
      const ended = transport.ended.then((why) => {
        throw new Error(why)
      })
      ended.catch(() => {})
      const aborted = new Promise<never>((_resolve, reject) => limit.addEventListener('abort', () => reject(limit.reason), { once: true }))
      aborted.catch(() => {})
      await Promise.race([client.connect(transport, { signal: limit, timeout: NEVER_MS }), ended, aborted])
      current = await Promise.race([listTools(limit), ended])
    })
  } catch (error) {
    const why = (abortKind(error) === undefined ? await end() : undefined) ?? plain((error as Error).message)
    await transport.close()
    throw signal.aborted ? signal.reason : new Error(why)
  }

  /** A server that answers nothing at all any more is ended, to be started anew. */
  function probe () {
    within(PING_MS, 'ping', (limit) => request('ping', {}, limit))
      .catch((error) => {
        if (abortKind(error) === 'timeout') transport.stop('it did not answer any more')
      })
  }

  return {
    get definitions () {
      return current.definitions
    },
    get warnings () {
      return current.warnings
    },
    words: client.getInstructions()?.slice(0, LONGEST_WORDS),
    capabilities: client.getServerCapabilities() as Json,
    version: client.getServerVersion() as Json | undefined,
    ended: transport.ended,
    close: () => transport.close(),

    async call (tool, input, limit) {
      try {
        return await request('tools/call', { name: tool, arguments: input }, limit)
      } catch (error) {
        if (abortKind(error) === 'timeout') probe()
        if (limit.aborted) throw error
        const why = await end()
        throw new ToolFailed(
          why === undefined
            ? plain((error as Error).message)
            : `The tool server was lost during the call: ${why}. What the call did by then is not known.`
        )
      }
    },

    async list (what, limit) {
      if (client.getServerCapabilities()?.[what] === undefined) return []
      const { [what]: entries } = await request(`${what}/list`, {}, limit)
      return Array.isArray(entries) ? entries.filter((entry) => typeof entry === 'object' && entry !== null) : []
    }
  }
}

const LONGEST_MESSAGE = 4_000

/** The SDK's messages without what they begin with. */
const plain = (message: string) => message.replace(/^MCP error -?\d+: /, '').slice(0, LONGEST_MESSAGE)
