import { Aborted } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import type { Permission, Tool, ToolContext, ToolOutput } from './tool.ts'
import { ToolFailed } from './tool-errors.ts'
import type { Fence } from './fence.ts'
import { toModelOutput } from './model-content.ts'
import { createPermissions, type Permissions } from './permissions.ts'
import { createMerge, describeSources, type MergedTool, type ToolSource } from './sources.ts'
import { createValidator } from './input-validator.ts'
import { createWorkFolders, type WorkFolder } from './work-folder.ts'

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
  /** As the run was given it; where it leads is found out for each call. */
  cwd: string
  /** The folder that a person was shown when they agreed: the call works in it or not at all. */
  folder?: WorkFolder
  signal: AbortSignal
  /** Of the tool that a person or the permissions agreed to: another one of its name is not run. See `identity`. */
  identity?: string
}

export type ToolResult =
  | { status: 'complete', output: ToolOutput, durationMs: number }
  | { status: 'error', errorText: string, durationMs: number }

export type Validation = { ok: true, input: unknown } | { ok: false, error: string }

export type ToolHost = ReturnType<typeof createToolHost>

const LIMIT_MS = 60_000
/** How long a tool that was told to stop may take for it. */
const SETTLE_MS = 5000
/** How long a step waits for tools that are on their way since the start, and how long a call of one that is not there. */
const STEP_WAIT_MS = 3_000
const CALL_WAIT_MS = 30_000

/** The one place where tools run, for interactive runs and for tasks. */
export function createToolHost ({ tools, permissions, clock, fence }: HostParts) {
  const builtin = new Map(tools.map((tool) => [tool.name, tool]))
  const mergeAll = createMerge((name) => builtin.has(name))
  let sources: ToolSource[] = []
  let merged = new Map<string, MergedTool>()
  let settled = async (_ms: number, _signal: AbortSignal): Promise<void> => {}
  const decide = createPermissions(permissions)
  const invalid = createValidator()

  // Maps: a call of "constructor" finds nothing.
  const foreign = (name: string): MergedTool | undefined => builtin.has(name) ? undefined : merged.get(name)
  const find = (name: string): Tool | undefined => {
    const other = foreign(name)
    return other === undefined ? builtin.get(name) : other.available ? other : undefined
  }
  const folders = createWorkFolders(find)
  const unavailable = (name: string): string | undefined => builtin.get(name)?.unavailable?.()
  const permission = (name: string): Permission => decide(name, builtin.get(name) ?? foreign(name))
  const offered = () =>
    [...builtin.values(), ...[...merged.values()].filter(({ available }) => available)].filter(({ name }) =>
      permission(name) !== 'deny' && unavailable(name) === undefined
    )

  function validate (name: string, input: unknown): Validation {
    const tool = find(name)
    const gone = tool === undefined ? foreign(name) : undefined
    if (gone !== undefined) {
      return { ok: false, error: `${name} cannot be called at the moment: its tool server ${gone.source} is not connected.` }
    }
    if (tool === undefined || permission(name) === 'deny') {
      const known = offered().map((tool) => tool.name).join(', ')
      return { ok: false, error: `There is no tool named ${JSON.stringify(name)}. The tools are: ${known}.` }
    }
    const why = unavailable(name)
    if (why !== undefined) return { ok: false, error: `${name} cannot be used here. ${why}` }
    const error = invalid(tool, input)
    return error === undefined ? { ok: true, input } : { ok: false, error }
  }

  /** Where the call works. Throws ToolFailed unless that is the folder it was approved for. */
  async function startOf (
    { name }: Tool,
    { input, cwd, folder }: ToolCall
  ): Promise<Pick<ToolContext, 'cwd' | 'givenCwd' | 'approvedFolder'>> {
    if (folder !== undefined && (await folders.whereabouts(name, input, cwd, folder)).is !== 'same') {
      throw new ToolFailed(
        `The folder ${JSON.stringify(folder.path)}, which ${name} was approved for, was moved or replaced, and the call was ` +
          'not run. Call it again to have the user asked anew.'
      )
    }
    const start = await folders.start(name, input, cwd, folder)
    return { cwd: start, givenCwd: cwd, ...(folder && !folder.isStart && { approvedFolder: folder }) }
  }

  /** Runs the tool until it settles, its time is up or the caller's signal aborts, and a little longer to let it clean up. */
  async function run (tool: Tool, call: ToolCall): Promise<ToolOutput> {
    const { input, runId, callId, signal } = call
    const limitMs = tool.timeLimitMs ?? LIMIT_MS
    const limit = new AbortController()
    const settled = new AbortController()
    const stop = AbortSignal.any([signal, limit.signal])
    const deadline = async () => {
      await clock.timeout(limitMs, AbortSignal.any([signal, settled.signal])).catch(() => {})
      if (settled.signal.aborted) return
      limit.abort(
        new Aborted(
          'timeout',
          `${tool.name} took longer than ${limitMs} ms and was stopped.${
            tool.effect === 'read' ? '' : ' What it did by then is not known: check before you repeat it.'
          }`
        )
      )
      await clock.timeout(SETTLE_MS, settled.signal)
      throw stop.reason
    }
    try {
      const start = await startOf(tool, call)
      signal.throwIfAborted()
      const outcome = Promise.resolve().then(() => tool.execute(input, { signal: stop, runId, callId, ...start }))
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
    permission,
    /** What a model sees of the output of the tool of that name. */
    forModel: (output: ToolOutput, name: string) => toModelOutput(output, builtin.get(name)?.forModel),
    validate,

    /** The tools that are not denied, always in the same order, so that a prompt which lists them can be cached. */
    offered,

    /**
     * Takes the sources of further tools, in the order in which they may choose names, in place of those before. `wait`
     * resolves when those that are on their way are there, or after `ms`.
     */
    merge (all: ToolSource[], wait: typeof settled = settled): void {
      sources = all
      merged = mergeAll(all)
      settled = wait
    },

    /** What a system prompt says of the sources; '' when there is none. */
    describe: (): string => describeSources(sources, offered()),

    /** What an approval of a call is bound to; see `ToolCall.identity`. */
    identity: (name: string): string | undefined => foreign(name)?.identity,

    /** The folders that calls work in, which approvals are bound to. */
    folders,

    /** Resolves when the tools that were to be there from the start are there, or at the latest soon. */
    ready: (signal: AbortSignal): Promise<void> => settled(STEP_WAIT_MS, signal),

    /**
     * Runs one call. Every failure is a result, that of a stale attempt too. Rejects only when the call's signal aborted,
     * with its reason, once the tool settled or 5 s passed. Whether a human agreed is for the caller to know.
     */
    async execute (call: ToolCall): Promise<ToolResult> {
      const started = clock.awake()
      const took = () => Math.round(clock.awake() - started)
      call.signal.throwIfAborted()
      try {
        fence.check(call.runId, call.attempt)
        if (find(call.name) === undefined) await settled(CALL_WAIT_MS, call.signal)
        if (call.identity !== undefined && foreign(call.name)?.identity !== call.identity) {
          throw new ToolFailed(
            `${call.name} is not, or no more, the tool that was agreed to, and was not run. Call it again, and the user is asked where that is needed.`
          )
        }
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
