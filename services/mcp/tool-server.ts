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

type ServerStatus = 'connecting' | 'connected' | 'disconnected' | 'failed' | 'authorizing' | 'disabled'

const FIRST_WAIT_MS = 1_000
const LONGEST_WAIT_MS = 60_000
/** A connection that lasted longer than this resets the backoff, in milliseconds. */
const STABLE_MS = 60_000
/**
 * If a lost server is reconnected within this time, in milliseconds, calls wait for it. They then also wait for its start, at most
 * LONGEST_RESTART_MS.
 */
const SOON_MS = 4_000
const LONGEST_RESTART_MS = 30_000

interface Parts {
  entry: McpEntry
  /** The tools and instructions that the server gave when it was last connected. */
  known?: KnownTools
  /** Returns a transport that has not been started. What the server writes outside of the protocol goes to `tail`. */
  transport: (entry: McpEntry, tail: StderrTail) => Promise<ServerTransport>
  /** The access that the user has authorized, for a server over HTTP. */
  access?: ServerAccess
  clock: Clock
  /** Redactors of secrets: in results of tools, and in errors and stderr. */
  redactors: { inResults(): Redactor, inStderr(): Redactor }
  log: Log
  /** Returns whether the user has accepted a tool in its present state. */
  acceptanceOf: (tool: ToolDefinition, identity: string) => ToolAcceptance
  /** Called when the status, the tools or the instructions have changed. */
  onChange: () => void
}

/** Returns the addresses in an input, as the input writes them. */
const addressTexts = (input: unknown): string[] => addressesOfInput(input).map(({ text }) => text)

const changedText = (tool: string, server: string) =>
  `The tool server ${JSON.stringify(server)} has changed what it says of ${tool} since you accepted it.`

export type ToolServer = ReturnType<typeof createToolServer>

/** Keeps the server of one `mcp` entry connected: whenever the connection is lost, reconnects with exponential backoff. */
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
  /** The present attempt to connect, else the next one or, after `close`, the last one. */
  let attempt = nextAttempt()
  /**
   * The promise that calls wait for, set while a lost server is expected back soon. It resolves when the server is back or no longer
   * expected soon.
   */
  let restart: PromiseWithResolvers<void> | undefined
  /** The server's present tool definitions, else the last known ones: tools stay while the server is not connected. */
  let definitions = known?.definitions ?? []
  let instructions = known?.instructions
  let tools = definitions.map(toTool)

  /**
   * `since` is in epoch milliseconds, `at` in milliseconds of the clock's awake time. `over` resolves when the attempt has succeeded or
   * failed.
   */
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
   * True if calls should wait for a lost server that is reconnected after `delay` milliseconds. A server over HTTP is restarted by others,
   * so a failed attempt to reconnect to it might just have come too early.
   */
  const isBackSoon = (delay: number) =>
    delay <= SOON_MS && !access?.isNeeded && (status === 'disconnected' || (restart !== undefined && current.url !== undefined))

  function endRestart () {
    restart?.resolve()
    restart = undefined
  }

  /** Returns a promise that settles when the server is connected, or is not expected soon; undefined if calls need not wait. */
  const awaited = () => restart?.promise ?? (status === 'connecting' ? attempt.over : undefined)

  function updateTools () {
    const before = new Map(tools.map((tool) => [tool.identity, tool]))
    definitions = connection!.definitions
    tools = definitions.map((definition) => before.get(identityOf(definition)) ?? toTool(definition))
    onChange()
  }

  /**
   * Returns the identity of a tool. It changes with the tool's definition and with the origin of the server, so that no approval applies to
   * another tool or another program.
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
        // The server's claim that the tool only reads counts once the user has accepted the tool. Then calls need no approval by default,
        // run in parallel, and are repeated after a crash.
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
      // A server's tool counts as reaching other parties unless the server declares that it does not.
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

  /**
   * Returns the permission from the entry's `approval`; undefined if the tool's effect decides. Read at each merge, because the entry can
   * change.
   */
  function permissionOf (tool: string): Permission | undefined {
    const { approval } = current
    if (approval === undefined) return undefined
    return approval === 'always' || (Array.isArray(approval) && approval.includes(tool)) ? 'ask' : 'allow'
  }

  /**
   * Returns the connection if the server still has the tool with this identity. Throws ToolFailed, or NotSent if there is no connection.
   */
  function callableAs (identity: string, name: string): Connection {
    const present = connected()
    if (tools.some((tool) => tool.identity === identity)) return present
    throw new ToolFailed(`${changedText(name, entry.name)} The call was not made.`)
  }

  /** Runs work that needs the connection. If the work fails with NotSent, waits for the server to be back and runs the work once more. */
  async function acrossRestart<T> (signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const used = connection
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof NotSent)) throw error
      await used?.ended
      // If the server was not connected at the beginning, the call has already waited for a start that is under way.
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

  /** Runs the work of a call. Secrets are redacted in the call's progress and its error. */
  async function asked<T> ({ signal, progress }: CallContext, work: (context: CallContext) => Promise<T>): Promise<T> {
    try {
      return await work({ signal, progress: progress && redactedProgress(progress) })
    } catch (error) {
      const isTold = error instanceof ToolFailed || error instanceof NotSent
      throw isTold ? new ToolFailed(redactors.inStderr().redact(error.message)) : error
    }
  }

  /** Redacts a progress message only when it is read, because most reports are never shown. */
  const redactedProgress = (report: (progress: ToolProgress) => void) => ({ message, ...numbers }: ToolProgress) =>
    report({
      ...numbers,
      get message () {
        return message && redactors.inResults().redact(message)
      }
    })

  const notConnectedBecause = (why: string) =>
    redactors.inStderr().redact(`The tool server ${JSON.stringify(entry.name)} is not connected: ${withoutStop(why)}.`)

  /** Secrets are redacted before a line is cut, because a part of a secret would not be recognised. */
  const endedBecause = (why: string) => notConnectedBecause(withReason(why, redactors.inStderr().redact(tail.sinceMark())))

  /** Returns the present attempt to connect; undefined if there is none. */
  function connecting (): ToolServerView['connecting'] {
    if (status !== 'connecting') return undefined
    const said = progressIn(redactors.inStderr().redact(tail.sinceMark()))
    return { since: attempt.since, limitMs: current.connectMs ?? CONNECT_MS, ...said !== undefined && { said } }
  }

  /** Returns a sentence that says why the server cannot be called; undefined while it is connected. */
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
    /** A sentence that says why the server is not connected; undefined while it is connected. */
    get error () {
      return status === 'authorizing' ? notConnectedBecause(access!.reason) : error
    },
    connecting,
    /** The page at which the user must authorize this service; undefined if there is none. */
    get authorizationUrl () {
      return status === 'authorizing' ? access!.authorizationUrl : undefined
    },
    /** The names of the tools on the server, now or when it was last connected. */
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
    /** Returns the server as a source of resources or prompts; undefined if it is not connected or does not offer any. */
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

    /** Connects, and reconnects until `close`. The promise settles with the first attempt; further attempts follow either way. */
    start (): Promise<void> {
      if (status === 'disabled') return Promise.resolve()
      const first = Promise.withResolvers<void>()
      first.promise.catch(() => {})
      supervision = supervise(first).catch(() => {})
      return first.promise
    },

    /**
     * Begins an authorization if the server waits for one. Returns the page at which the user must authorize this service; undefined if the
     * server does not wait for that. Rejects with an Error whose message is a clause.
     */
    authorize: async (): Promise<string | undefined> => status === 'authorizing' ? access!.begin() : undefined,
    /** The address that an authorization of the server is for; undefined if the server uses no authorization. */
    authorizedUrl: access?.url,
    /** True if the server waits for an authorization that has not been begun, so that the user has no page to open. */
    get isUnasked () {
      return status === 'authorizing' && !access!.wasBegun
    },

    /** Replaces the entry by a version that describes the same connection (see `isSameConnection`). */
    updateEntry (entry: McpEntry): void {
      current = entry
    },

    identityOf,

    /** Returns the server as a source of the tools that pass the entry's filter. A disabled server has no tools. */
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

    /** Disconnects for good. Resolves when no process of the server is left. */
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
