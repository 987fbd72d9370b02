import { Aborted } from '../abort.ts'
import type { Clock } from '../clock/clock.ts'
import type { Tool, ToolOutput } from './contract.ts'
import { ToolFailed } from './errors.ts'
import type { Fence } from './fence.ts'
import { toModelOutput } from './model-content.ts'
import { createPermissions, type Permission, type Permissions } from './permissions.ts'
import { createValidator } from './validate.ts'

interface HostParts {
  /** The built-in tools, in the order they are offered. */
  tools: Tool[]
  /** The current config.permissions; read at every decision. */
  permissions: () => Permissions
  clock: Clock
  fence: Fence
}

export interface ToolCall {
  name: string
  input: unknown
  runId: string
  /** What the fence gave out when the run was entered. */
  attempt: number
  callId: string
  cwd: string
  signal: AbortSignal
}

export type ToolResult =
  | { status: 'complete', output: ToolOutput, durationMs: number }
  | { status: 'error', errorText: string, durationMs: number }

export type Validation = { ok: true, input: unknown } | { ok: false, error: string }

export type ToolHost = ReturnType<typeof createToolHost>

const LIMIT_MS = 60_000
/** How long a tool that was told to stop may take for it. */
const SETTLE_MS = 5000

/** The one place where tools run, for interactive runs and for tasks. */
export function createToolHost ({ tools, permissions, clock, fence }: HostParts) {
  const builtin = new Map(tools.map((tool) => [tool.name, tool]))
  const registered = new Map<string, Tool>()
  const permission = createPermissions(permissions)
  const invalid = createValidator()

  // Maps: a call of "constructor" finds nothing.
  const find = (name: string): Tool | undefined => builtin.get(name) ?? registered.get(name)
  const all = () => {
    const later = [...registered.values()].filter(({ name }) => !builtin.has(name))
    return [...builtin.values(), ...later.sort((a, b) => a.name < b.name ? -1 : 1)]
  }
  const offered = () => all().filter(({ name }) => permission(name) !== 'deny')

  function validate (name: string, input: unknown): Validation {
    const tool = find(name)
    if (tool === undefined || permission(name) === 'deny') {
      const known = offered().map((tool) => tool.name).join(', ')
      return { ok: false, error: `There is no tool named ${JSON.stringify(name)}. The tools are: ${known}.` }
    }
    const error = invalid(tool, input)
    return error === undefined ? { ok: true, input } : { ok: false, error }
  }

  /** Runs the tool until it settles, its time is up or the caller's signal aborts, and a little longer to let it clean up. */
  async function run (tool: Tool, { input, runId, callId, cwd, signal }: ToolCall): Promise<ToolOutput> {
    const limitMs = tool.timeLimitMs ?? LIMIT_MS
    const limit = new AbortController()
    const settled = new AbortController()
    const stop = AbortSignal.any([signal, limit.signal])
    const deadline = async () => {
      await clock.sleep(limitMs, AbortSignal.any([signal, settled.signal])).catch(() => {})
      if (settled.signal.aborted) return
      limit.abort(new Aborted('timeout', `${tool.name} took longer than ${limitMs} ms and was stopped.`))
      await clock.sleep(SETTLE_MS, settled.signal)
      throw stop.reason
    }
    try {
      const outcome = Promise.resolve().then(() => tool.execute(input, { signal: stop, runId, callId, cwd }))
      const output = await Promise.race([outcome, deadline() as Promise<never>])
      stop.throwIfAborted()
      return asObject(tool.name, output)
    } catch (error) {
      throw stop.aborted ? stop.reason : error
    } finally {
      settled.abort()
    }
  }

  return {
    find,
    permission: (name: string): Permission => permission(name),
    forModel: toModelOutput,
    validate,

    /** The tools that are not denied, always in the same order, so that a prompt which lists them can be cached. */
    offered,

    /** Adds a tool of a tool server, or replaces it. False when a built-in has the name and keeps it. */
    register (tool: Tool): boolean {
      if (builtin.has(tool.name)) return false
      registered.set(tool.name, tool)
      return true
    },

    unregister (name: string): void {
      registered.delete(name)
    },

    /**
     * Runs one call. Every failure is a result, that of a stale attempt too. Rejects only when the call's signal aborted,
     * with its reason, once the tool settled or 5 s passed. Whether a human agreed is for the caller to know.
     */
    async execute (call: ToolCall): Promise<ToolResult> {
      const started = clock.monotonic()
      const took = () => Math.round(clock.monotonic() - started)
      call.signal.throwIfAborted()
      try {
        fence.check(call.runId, call.attempt)
        const valid = validate(call.name, call.input)
        if (!valid.ok) return { status: 'error', errorText: valid.error, durationMs: took() }
        const output = await run(find(call.name)!, call)
        return { status: 'complete', output, durationMs: took() }
      } catch (error) {
        if (call.signal.aborted) throw call.signal.reason
        return { status: 'error', errorText: error instanceof Error ? error.message : String(error), durationMs: took() }
      }
    }
  }
}

/** Tools answer objects that can be written as JSON; what a tool that does not know this answers becomes one. */
function asObject (name: string, output: unknown): ToolOutput {
  try {
    JSON.stringify(output)
  } catch {
    throw new ToolFailed(`${name} answered with something that cannot be written as JSON.`)
  }
  if (output === undefined || output === null) return {}
  return typeof output === 'object' && !Array.isArray(output) ? output as ToolOutput : { result: output }
}
