import type { McpEntry } from '../../schemas/config.ts'
import type { ToolServerView } from '../../schemas/mcp.ts'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { addressesOfInput } from '../lib/find-addresses.ts'
import type { Redactor } from '../lib/secrets.ts'
import { type ResourceServer, ToolFailed, type ToolSource } from '../tools/index.ts'
import type { Permission, SourceTool } from '../contracts/tool.ts'
import { createHash } from 'node:crypto'
import { originOf, leftOutBecause } from './config-entries.ts'
import { withoutStop } from './entry-view.ts'
import { createElicitor } from './elicitation/elicitor.ts'
import type { KnownTools } from './known-tools.ts'
import { CONNECT_MS, openConnection, type CallContext, type Connection } from './connection.ts'
import { claimsToDestroy, claimsToRead, type ToolAcceptance, type ToolDefinition } from './tool-definitions.ts'
import { readResult, withoutSecrets } from './call-result.ts'
import type { ServerAccess } from './oauth/server-access.ts'
import { createServerLog, levelToSend, type Log } from './server-log.ts'
import { NotSent, type ServerTransport, createStderrTail, type StderrTail } from './server-transport.ts'
import { progressIn, withReason } from './stderr-reason.ts'

export type ServerStatus = 'connecting' | 'connected' | 'disconnected' | 'failed' | 'authorizing' | 'disabled'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000
/** A connection that lasted this long resets the backoff; milliseconds. */
const STABLE_MS = 60_000
/** The longest time for which calls wait until a lost server is started again; they then wait for its start, too. Milliseconds. */
const SOON_MS = 4_000
const LONGEST_RESTART_MS = 30_000

interface Parts {
  entry: McpEntry
  /** The descriptions that the server gave when it was connected last. */
  known?: KnownTools
  /** Returns a transport that has not been started. Output of the server outside of the protocol goes to the tail. */
  transport: (entry: McpEntry, tail: StderrTail) => Promise<ServerTransport>
  /** What the user has authorized at a server over HTTP. */
  access?: ServerAccess
  clock: Clock
  /** Redact secrets in results of tools, and in errors and the server's stderr. */
  redactors: { inResults(): Redactor, inStderr(): Redactor }
  log: Log
  /** Returns whether the user has accepted a tool in its present form. */
  acceptanceOf: (tool: ToolDefinition, identity: string) => ToolAcceptance
  /** Called when status, tools or instructions have changed. */
  onChange: () => void
}

/** The addresses in an input. */
const addressTexts = (input: unknown): string[] => addressesOfInput(input).map(({ text }) => text)

const changedText = (tool: string, server: string) =>
  `The tool server ${JSON.stringify(server)} has changed what it says of ${tool} since you accepted it.`

export type ToolServer = ReturnType<typeof createToolServer>

/** Keeps the server of one entry of `mcp` connected: reconnects with exponential backoff whenever the connection is lost. */
export function createToolServer ({ entry, known, transport, access, clock, log, redactors, acceptanceOf, onChange }: Parts) {
  const closing = new AbortController()
  const tail = createStderrTail()
  const elicitor = createElicitor({ server: entry.name, log })
  const logged = createServerLog({ server: entry.name, log, clock, secrets: redactors.inStderr })
  let current = entry
  let status: ServerStatus = entry.enabled === false ? 'disabled' : 'connecting'
  let error: string | undefined
  let connection: Connection | undefined
  let supervision: Promise<void> | undefined
  /** The current, next or last attempt to connect. */
  let attempt = nextAttempt()
  /** Set if the server was lost: calls wait until it is back, or until it is not expected back soon. */
  let restart: PromiseWithResolvers<void> | undefined
  /** The server's descriptions, or the last known ones: its tools stay while it is not connected. */
  let definitions = known?.definitions ?? []
  let instructions = known?.instructions
  let tools = definitions.map(toTool)

  /** `since` is in epoch milliseconds, `at` in the time that this process ran. `over` settles when the attempt has succeeded or failed. */
  function nextAttempt () {
    const { promise, resolve } = Promise.withResolvers<void>()
    return { since: clock.now(), at: clock.awake(), over: promise, end: resolve }
  }

  async function supervise (first: PromiseWithResolvers<void>) {
    for (let failures = 0; ; failures++) {
      Object.assign(attempt, { since: clock.now(), at: clock.awake() })
      tail.mark()
      try {
        if (status !== 'connecting') {
          status = 'connecting'
          onChange()
        }
        connection = await openConnection({
          transport: await transport(current, tail),
          clock,
          signal: closing.signal,
          connectMs: current.connectMs,
          elicitor,
          logs: { take: logged, level: levelToSend(log) },
          onTools: updateTools
        })
        error = undefined
        status = 'connected'
        endRestart()
        instructions = connection.instructions
        updateTools()
        attempt.end()
        first.resolve()
        const since = clock.monotonic()
        const why = await connection.ended
        closing.signal.throwIfAborted()
        if (clock.monotonic() - since > STABLE_MS) failures = 0
        status = 'disconnected'
        error = endedBecause(why)
      } catch (failed) {
        if (!access?.isNeeded) first.reject(failed)
        closing.signal.throwIfAborted()
        status = 'failed'
        error = endedBecause((failed as Error).message)
      }
      connection = undefined
      const { end } = attempt
      attempt = nextAttempt()
      const delay = Math.min(FIRST_WAIT_MS * 2 ** failures, LONGEST_WAIT_MS)
      if (!isBackSoon(delay)) endRestart()
      else if (status === 'disconnected') restart ??= Promise.withResolvers()
      if (access?.isNeeded) status = 'authorizing'
      onChange()
      end()
      if (access?.isNeeded) {
        first.resolve()
        await access.granted(closing.signal)
        failures = -1
      } else await clock.sleep(delay, closing.signal)
    }
  }

  /**
   * True if a lost server may be back after the delay. A server over HTTP is restarted by others, so the first attempts may come too early.
   */
  const isBackSoon = (delay: number) =>
    delay <= SOON_MS && !access?.isNeeded && (status === 'disconnected' || (restart !== undefined && current.url !== undefined))

  function endRestart () {
    restart?.resolve()
    restart = undefined
  }

  /** Settles when the server is connected, or is not expected to be soon; undefined if nobody needs to wait for it. */
  const awaited = () => restart?.promise ?? (status === 'connecting' ? attempt.over : undefined)

  function updateTools () {
    const before = new Map(tools.map((tool) => [tool.identity, tool]))
    definitions = connection!.definitions
    tools = definitions.map((definition) => before.get(identityOf(definition)) ?? toTool(definition))
    onChange()
  }

  /**
   * Returns the identity of a tool, which changes with its definition and with the program that is started: an approval holds for neither
   * another program nor another tool.
   */
  function identityOf ({ digest }: ToolDefinition): string {
    return `${entry.name} ${createHash('sha256').update(`${originOf(entry)} ${digest}`).digest('hex')}`
  }

  function toTool (definition: ToolDefinition): SourceTool {
    const { name, description, inputSchema, title } = definition
    const identity = identityOf(definition)
    return {
      model: { name, description, schema: inputSchema as SourceTool['model']['schema'] },
      policy: {
        // The server's own hint, once its user has accepted it: then calls run without approval by default, side by side, and again after a
        // crash.
        get effect () {
          return claimsToRead(definition) && acceptanceOf(definition, identity) === 'accepted' ? 'read' : 'external'
        },
        get permission () {
          return permissionOf(name)
        },
        get timeLimitMs () {
          return current.timeoutMs
        }
      },
      // A server's tool counts as reaching others, unless the server says that it does not.
      ...definition.annotations?.openWorldHint !== false && { effects: { addresses: addressTexts } },
      title,
      isDestructive: claimsToDestroy(definition),
      get caution () {
        return acceptanceOf(definition, identity) === 'changed' ? changedText(name, entry.name) : undefined
      },
      identity,
      checksInput: true,
      execute: (input, { signal, progress, ...context }) =>
        elicitor.during(context, async () => {
          const result = await asked({ signal, progress }, (shown) =>
            acrossRestart(shown.signal, () => callableAs(identity, name).call(name, input, shown)))
          return readResult(result, redactors.inResults())
        })
    }
  }

  /** The permission from the entry's `approval`; undefined when the tool's effect decides. Read at each merge, because entries change. */
  function permissionOf (tool: string): Permission | undefined {
    const { approval } = current
    if (approval === undefined) return undefined
    return approval === 'always' || (Array.isArray(approval) && approval.includes(tool)) ? 'ask' : 'allow'
  }

  /** Returns the connection if the tool is still the one that the call was made for. */
  function callableAs (identity: string, name: string): Connection {
    const present = connected()
    if (tools.some((tool) => tool.identity === identity)) return present
    throw new ToolFailed(`${changedText(name, entry.name)} The call was not made.`)
  }

  /** Does work that needs the connection. If the server was gone before anything was sent, does it again after the restart. */
  async function acrossRestart<T> (signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const used = connection
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof NotSent)) throw error
      await used?.ended
      // If a start is under way, the call has already waited for it long enough.
      const back = used === undefined ? restart?.promise : awaited()
      if (back !== undefined) await settlesWithin({ clock, ms: LONGEST_RESTART_MS, signal }, back)
      signal.throwIfAborted()
      return work()
    }
  }

  function connected (): Connection {
    if (connection === undefined) throw new NotSent(cause() ?? `The tool server ${JSON.stringify(entry.name)} is not connected.`)
    return connection
  }

  /** Does the work of a call, with secrets redacted in its progress and its error. */
  async function asked<T> ({ signal, progress }: CallContext, work: (context: CallContext) => Promise<T>): Promise<T> {
    try {
      return await work({ signal, progress: progress && redactedProgress(progress) })
    } catch (error) {
      const isTold = error instanceof ToolFailed || error instanceof NotSent
      throw isTold ? new ToolFailed(redactors.inStderr().redact(error.message)) : error
    }
  }

  /** Redacts a progress message only when it is read, because few of many reports are shown. */
  const redactedProgress = (report: (progress: ToolProgress) => void) => ({ message, ...numbers }: ToolProgress) =>
    report({
      ...numbers,
      get message () {
        return message && redactors.inResults().redact(message)
      }
    })

  const notConnectedBecause = (why: string) =>
    redactors.inStderr().redact(`The tool server ${JSON.stringify(entry.name)} is not connected: ${withoutStop(why)}.`)

  /** Redacts secrets before a line is cut, because a part of a secret would not be recognised. */
  const endedBecause = (why: string) => notConnectedBecause(withReason(why, redactors.inStderr().redact(tail.sinceMark())))

  /** Returns the attempt that is under way; undefined for none. */
  function connecting (): ToolServerView['connecting'] {
    if (status !== 'connecting') return undefined
    const said = progressIn(redactors.inStderr().redact(tail.sinceMark()))
    return { since: attempt.since, limitMs: current.connectMs ?? CONNECT_MS, ...said !== undefined && { said } }
  }

  /** Returns why the server cannot be called, a sentence. */
  function cause (): string | undefined {
    if (status === 'authorizing') return notConnectedBecause(access!.reason)
    if (status !== 'connecting') return error
    const { limitMs, said } = connecting()!
    const seconds = Math.round((clock.awake() - attempt.at) / 1000)
    return `The tool server ${JSON.stringify(entry.name)} is still starting, since ${seconds} s of at most ${limitMs / 1000} s` +
      `${said === undefined ? '' : `, and said: ${said}`}. Do something else first, and call it again.`
  }

  return {
    name: entry.name,
    get entry () {
      return current
    },
    get status () {
      return status
    },
    /** Why the server is not connected, a sentence; undefined while it is connected. */
    get error () {
      return status === 'authorizing' ? notConnectedBecause(access!.reason) : error
    },
    connecting,
    /** The page at which the user is to authorize this service. */
    get authorizationUrl () {
      return status === 'authorizing' ? access!.authorizationUrl : undefined
    },
    /** Names of the tools, as the server gives them, or gave them when it was connected last. */
    get tools (): string[] {
      return definitions.map(({ name }) => name)
    },
    get definitions () {
      return definitions
    },
    get instructions () {
      return instructions
    },
    get connection () {
      return connection
    },
    /** Returns the server as a source of resources or prompts; undefined if it has none. */
    offers (what: 'resources' | 'prompts'): ResourceServer | undefined {
      if (status !== 'connected' || connection?.capabilities[what] === undefined) return undefined
      return {
        name: entry.name,
        asksFirst: current.approval === 'always',
        request: async (method, params, context) =>
          withoutSecrets(
            await asked(context, (shown) => acrossRestart(shown.signal, () => connected().ask(method, params, shown))),
            redactors.inResults()
          )
      }
    },
    stderr: () => redactors.inStderr().redact(tail.text()),

    /** Connects, and reconnects until `close`. Resolves or rejects with the first attempt; further attempts follow either way. */
    start (): Promise<void> {
      if (status === 'disabled') return Promise.resolve()
      const first = Promise.withResolvers<void>()
      first.promise.catch(() => {})
      supervision = supervise(first).catch(() => {})
      return first.promise
    },

    /**
     * Returns the page at which the user is to authorize this service; undefined when the server does not wait for that. Rejects with
     * an Error whose message is a clause.
     */
    authorize: async (): Promise<string | undefined> => status === 'authorizing' ? access!.begin() : undefined,
    /** The address that an authorization is valid for; undefined if the server uses none. */
    authorizedUrl: access?.url,
    /** True if the server waits for its user, and the user has not been told the page to open. */
    get isUnasked () {
      return status === 'authorizing' && !access!.wasBegun
    },

    /** Replaces the entry by a version whose differences do not affect the process. */
    updateEntry (entry: McpEntry): void {
      current = entry
    },

    identityOf,

    /** Returns the tools that pass the entry's filter. A disabled server is a source without tools. */
    source: (): ToolSource => ({
      name: entry.name,
      tools: tools.filter(({ model: { name } }) => leftOutBecause(current, name) === undefined),
      instructions,
      available: status === 'connected' || status === 'disabled',
      connecting: awaited(),
      get cause () {
        return cause()
      }
    }),

    /** Disconnects for good; resolves when no process of the server is left. */
    async close (): Promise<void> {
      closing.abort(new Error('it was disconnected'))
      await access?.close()
      await connection?.close()
      await supervision
      endRestart()
      attempt.end()
      if (status !== 'disabled') status = 'disconnected'
    }
  }
}
