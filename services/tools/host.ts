import type { ShownToolServer } from '../../schemas/grants.ts'
import type { ToolProgress } from '../../schemas/tool-progress.ts'
import type { Clock } from '../lib/clock.ts'
import { withCallLimit } from './call-limit.ts'
import {
  aboutOf,
  type ChangedPath,
  type FileChange,
  type FileChanges,
  type ShownPlace,
  type Tool,
  type ToolContext,
  type ToolNeed,
  type ToolOutput,
  type ToolPreview,
  type TriedOut,
  type WorkFolder
} from '../contracts/tool.ts'
import { ToolFailed } from './tool-errors.ts'
import type { Fence } from './fence.ts'
import { type OpenEditors, refuseUnsaved } from './files/open-editors.ts'
import { lookAtPlaces } from './files/place-state.ts'
import { type CopiedFolder, type CopyView, type PathPolicy, within } from './path-policy.ts'
import { toModelOutput } from './model-output.ts'
import { describeSources, type MergedTool, type ToldSources, type ToolSource, createMergedTools } from './sources.ts'
import type { Permissions } from './permissions.ts'
import { createRunTools, type RunTools } from './run-tools.ts'
import { type SaidCall, sayCall } from './say-call.ts'
import { createWorkFolders } from './work-folder.ts'
import type { TracedToolCall } from '../contracts/traced.ts'
import type { Boundary } from '../contracts/boundary.ts'
import { isKept, NOTHING_KEPT, reachOf, type KeepCall, type KeptCall } from './kept-call.ts'

interface HostParts {
  /** The built-in tools, in the order in which models get them. */
  tools: Tool[]
  /** Returns the current config.permissions. Called for every decision. */
  permissions: () => Permissions
  clock: Clock
  fence: Fence
  paths: Pick<PathPolicy, 'owns' | 'meant'>
  /** Keeps copies of files that calls are about to change. */
  undo?: {
    keep(call: KeepCall): Promise<KeptCall>
    outlook(command: NonNullable<KeepCall['command']>, signal: AbortSignal): Promise<string>
  }
  /** The user's open editors. A file with unsaved changes in one of them is not changed. */
  editors?: OpenEditors
  /** The copies of folders in which runs work. Models see the paths of the original folders. */
  copies?: CopyView
  /** For replays of recordings: `perform` executes calls in place of the tools, and `wasOffered` says which tools the recorded run had. */
  replay?: { perform: Perform, wasOffered?: (name: string) => boolean }
  /**
   * For each need of tools, a function that returns a sentence if the need is not met on this computer. Tools with an unmet need are not
   * offered.
   */
  missing?: Partial<Record<ToolNeed, () => string | undefined>>
  /** Finds out what the tools can do on this computer. Awaited before a model gets its tools. */
  prepare?: () => Promise<unknown>
  /** `ended` is called when a call has ended, also after an abort. `wrote` is called before it, with the files that the call changed. */
  ended?: (call: TracedToolCall) => void
  wrote?: (changes: readonly FileChange[]) => Promise<void>
}

export type Perform = (tool: Tool, input: unknown, context: ToolContext) => Promise<ToolOutput>

type CallStatus = ToolResult['status'] | 'aborted'

/** Fields of the context that are passed to the call unchanged. */
type Given = Pick<ToolContext, 'paths' | 'confinedTo' | 'shown' | 'ask' | 'deferred' | 'mayRedirect' | 'innerAddresses'>

interface ToolCall extends Given {
  name: string
  input: unknown
  runId: string
  /** The number of the run's present execution (its attempt), from `fence.enter`; see fence.ts. */
  attempt: number
  callId: string
  /** The working folder of the run. It is resolved again for each call. */
  cwd: string
  /** The folder that the approval showed. The call is refused if it would work in another folder. */
  folder?: WorkFolder
  signal: AbortSignal
  /** The identity of the approved tool. The call is refused if another tool has the name now. See `identity`. */
  identity?: string
  /** Called at intervals with the newest progress that the tool reported. */
  progress?: (progress: ToolProgress) => void
}

/** The result of a call, and the file changes that its tool recorded. `stays` settles when the work that the call has left running ends. */
type ToolResult =
  & ({ status: 'completed', output: ToolOutput } | { status: 'error', errorText: string })
  & { durationMs: number, changes?: FileChange[], stays?: Promise<void> }

/** The changes that a call would make to files, determined before it runs. */
interface Foreseen {
  places: ChangedPath[]
  /** The present state of the paths. An approval is bound to it. */
  shown: ShownPlace[]
  preview?: ToolPreview
  refused?: string
}

/** The tools of the service, or of one run. */
export interface ToolHost extends ReturnType<typeof openTools> {
  /** Returns the host with the additions and limits of a run. Fields that are left out keep their present values. */
  forRun(more: RunTools): ToolHost
}

/** The most file changes of one call that are recorded. */
const MOST_CHANGES = 100

/** Creates the host, which offers and runs all tools, built-in ones and those of other sources, for interactive runs and for tasks. */
export function createToolHost (parts: HostParts): ToolHost {
  const { tools, permissions, clock, replay, missing = {} } = parts
  const builtin = new Map(tools.map((tool) => [tool.model.name, tool]))
  const merged = createMergedTools({ builtin: [...builtin.keys()], clock })

  function unavailable ({ model: { name }, policy: { needs = [] } }: Tool): string | undefined {
    const why = needs.map((need) => missing[need]).find((each) => each !== undefined)
    if (why === undefined || replay?.wasOffered === undefined) return why?.()
    return replay.wasOffered(name) ? undefined : 'It could not be used when the run was recorded.'
  }

  const toolsOf = createRunTools({ builtin, merged, permissions, unavailable })
  const make = (run: RunTools): ToolHost =>
    ({ ...openTools(toolsOf(run), run, { ...parts, builtin, merged }), forRun: (more) => make({ ...run, ...more }) })
  return make({})
}

interface Base extends HostParts {
  builtin: ReadonlyMap<string, Tool>
  merged: ReturnType<typeof createMergedTools>
}

function openTools (
  own: ReturnType<ReturnType<typeof createRunTools>>,
  { sandbox, ofRun }: RunTools,
  { builtin, merged, clock, fence, paths, undo, editors, copies, replay, prepare, ended = () => {}, wrote }: Base
) {
  const { known, ...tools } = own
  const { find, offered, identity, validate } = tools
  const folders = createWorkFolders(find, paths)
  const shown = <T>(value: T): T => copies === undefined ? value : copies.shown(value)

  /** Returns the folder that a call works in. Throws ToolFailed if it is not the approved folder. */
  async function startOf (
    { model: { name } }: Tool,
    { input, cwd, folder }: Pick<ToolCall, 'input' | 'cwd' | 'folder'>
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

  /** Returns where a command of this tool would run if it worked in `folder`; undefined if the tool runs no commands. */
  async function boundaryOf (
    { name, input, cwd, folder }: Pick<ToolCall, 'name' | 'input' | 'cwd'> & { folder: WorkFolder }
  ): Promise<Boundary | undefined> {
    return find(name)?.effects?.command?.(input).boundary({ folder, base: await folders.start(name, input, cwd), narrowed: sandbox })
  }

  /** Returns the folder whose files a command can change, and what it can reach outside of it; undefined if it would not run. */
  async function commandPlace (call: Pick<ToolCall, 'name' | 'input' | 'cwd'>): Promise<KeepCall['command']> {
    const folder = await folders.of(call.name, call.input, call.cwd)
    const boundary = folder && await boundaryOf({ ...call, folder })
    if (boundary === undefined || boundary.is === 'refused') return undefined
    const reach = reachOf(boundary, find(call.name)?.effects?.command?.(call.input).mayStay)
    if (boundary.is !== 'outside') return { folder: boundary.folder.path, gitDirectory: boundary.gitDirectory, ...reach }
    const base = await folders.start(call.name, call.input, call.cwd)
    return { folder: within(folder!.path, base) ? base : folder!.path, ...reach }
  }

  async function run (tool: Tool, call: ToolCall, { changed, stays }: Pick<ToolContext, 'changed' | 'stays'>): Promise<ToolOutput> {
    const { input, runId, callId, attempt, signal, paths, shown, mayRedirect, innerAddresses, ask, progress: report = () => {} } = call
    const { confinedTo, deferred } = call
    const start = await startOf(tool, call)
    return withCallLimit(tool, { clock, signal, report }, async (context) => {
      const given: ToolContext = {
        ...{ ...context, runId, callId, attempt, paths, shown, confinedTo, sandbox, deferred, mayRedirect, innerAddresses, ask },
        ...tool.effects?.files !== undefined && { changed },
        ...tool.effects?.command !== undefined && { stays },
        ...start
      }
      const { model: { name }, execute } = tool
      if (replay !== undefined && tool !== ofRun) return asObject(name, await replay.perform(tool, input, given))
      if (execute.by !== undefined) throw new ToolFailed(`${name} is answered by the ${execute.by}; it is not executed here.`)
      return asObject(name, await execute(input, given))
    })
  }

  return {
    /**
     * `offered` returns the tools that are not denied, including those of sources that cannot be called now: a prompt that lists them stays
     * the same, and can be cached, while sources come and go. `finders` returns the tools through which a model finds and calls deferred
     * tools.
     */
    ...tools,

    /** Converts the output of a tool to the form that models get. */
    forModel: (output: ToolOutput, name: string) => toModelOutput(output, known(name)?.model.output),

    /**
     * Replaces the sources of further tools. If names clash, the earlier source gets the name. `wait` resolves when the sources that are
     * still connecting have settled, or after `ms` milliseconds.
     */
    merge: merged.merge,

    /** Calls the listener when the sources of further tools might have changed. */
    watch: merged.watch,

    /** Returns the sources of further tools, and as `given` their tools under the given names. */
    sources: (): Array<ToolSource & { given: MergedTool[] }> =>
      merged.sources().map((source) => ({ ...source, given: merged.all().filter((tool) => tool.source === source.name) })),

    /**
     * Returns the names of all tools, including those that cannot be called now. `isWhole` is false while an unavailable source might still
     * add tools.
     */
    names: (): { known: string[], isWhole: boolean } => ({
      known: [...builtin.keys(), ...new Set(merged.all().flatMap(({ model, qualified }) => [model.name, qualified]))],
      isWhole: merged.sources().every(({ available }) => available)
    }),

    /** Returns the part of a system prompt that describes the sources of `tools`, see `describeSources`; '' if there are none. */
    describe: (tools: Tool[] = offered(), told?: ToldSources): string => describeSources(merged.sources(), tools, told),

    /** Describes a call in words for people, see `sayCall`. */
    say: (call: { toolName: string, input: unknown }): SaidCall => {
      const tool = known(call.toolName)
      return sayCall(call, { tool, server: tool?.source })
    },

    /** Returns the tool server of a tool, and what people are shown about the tool; undefined for other tools. */
    toolServer (name: string): ShownToolServer | undefined {
      const { source, title, isDestructive } = known(name) ?? {}
      if (source === undefined) return undefined
      return { name: source, ...title && { title }, ...isDestructive && { destructive: true } }
    },

    /** Finds the folders that calls work in. Approvals are bound to these folders. */
    folders,

    boundary: boundaryOf,

    /** Returns the copy whose folder contains this folder, or is the same; undefined if there is none. */
    copyAt: (folder: string): CopiedFolder | undefined => copies?.copyAt(folder),

    /** Returns a value with the paths of copies replaced by the paths of the original folders. */
    shown,

    /** Returns sentences for the user about which changes of a command could be undone; undefined for other tools. */
    async outlook (call: Pick<ToolCall, 'name' | 'input' | 'cwd' | 'signal'>): Promise<string | undefined> {
      if (undo === undefined || find(call.name)?.effects?.command === undefined) return undefined
      const command = await commandPlace(call)
      if (command === undefined) return undefined
      return [await undo.outlook(command, call.signal), command.reach].filter((sentence) => sentence !== undefined).join(' ')
    },

    /** Tries out a command for a person, without lasting effects. Returns undefined for tools that cannot be tried out. */
    async tryOut ({ name, input, cwd, signal }: Pick<ToolCall, 'name' | 'input' | 'cwd' | 'signal'>): Promise<TriedOut | undefined> {
      return find(name)?.effects?.command?.(input).tryOut({ cwd: await folders.start(name, input, cwd), narrowed: sandbox, signal })
    },

    /** Resolves when the tools are prepared and the connecting sources have settled. Waits only a few seconds for the sources. */
    async ready (signal: AbortSignal): Promise<void> {
      await Promise.all([merged.settled(signal), prepare?.()])
    },

    /**
     * Determines what a call would change. Returns the present state of the paths and, if `ahead` (the changes of earlier calls in the
     * step) is given, a preview. `refused` says why the call would fail. Returns undefined for a tool that does not declare its changes.
     * Rejects if the signal aborts.
     */
    async foresee (
      { name, input, cwd, folder, signal }: Pick<ToolCall, 'name' | 'input' | 'cwd' | 'folder' | 'signal'>,
      ahead?: FileChanges
    ): Promise<Foreseen | undefined> {
      const tool = find(name)
      if (tool?.effects?.files === undefined) return undefined
      const seen: Foreseen = { places: [], shown: [] }
      try {
        const start = await startOf(tool, { input, cwd, folder })
        const files = await tool.effects.files(input, start)
        seen.places = files.changed
        seen.shown = await lookAtPlaces(seen.places, { paths, ahead, signal })
        if (ahead !== undefined) seen.preview = await files.preview({ ahead, signal })
      } catch (error) {
        signal.throwIfAborted()
        seen.refused = shown(messageOf(error))
      }
      return seen
    },

    /**
     * Keeps copies of the files that a call is about to change, and records a call whose effects on files are not known. The call can start
     * once `ops` are durable. Returns `errorText` if the call must not start. Rejects with the signal's abort reason.
     */
    async keep (
      call: Omit<ToolCall, 'attempt' | 'paths'> & { owner: string }
    ): Promise<typeof NOTHING_KEPT | { errorText: string }> {
      const { name, input, cwd, runId, callId, owner, signal } = call
      const tool = find(name)
      if (undo === undefined || tool === undefined || !isKept(tool)) return NOTHING_KEPT
      try {
        const start = await startOf(tool, call)
        const places = (await tool.effects?.files?.(input, start))?.changed
        await refuseUnsaved(places ?? [], { editors, runId, signal })
        const by = tool.execute.by === 'app' ? { app: tool.execute.app } : { server: known(name)?.source }
        const place = { runId, owner, toolCallId: callId, toolName: name, cwd: start.cwd ?? cwd }
        const command = tool.effects?.command !== undefined ? await commandPlace(call) : undefined
        const uncovered = places === undefined && { uncovered: { target: aboutOf(tool, input), ...by } }
        const kept = await undo.keep({ ...place, places, ...uncovered, ...command && { command }, signal })
        return { ...kept, ...(places && { paths: places.map(({ path }) => path) }) }
      } catch (error) {
        if (signal.aborted) throw signal.reason
        return { errorText: shown(messageOf(error)) }
      }
    },

    /**
     * Runs one call. Every failure, also of a stale attempt, is a result with the status `error`. Rejects only if the call's signal aborts,
     * with the abort reason, once the tool has settled or 5 s have passed. The caller is responsible for approvals.
     */
    async execute (call: ToolCall): Promise<ToolResult> {
      const started = clock.awake()
      const changes: FileChange[] = []
      let stays: Promise<void> | undefined
      const end = (status: CallStatus, output?: ToolOutput) => {
        const durationMs = Math.round(clock.awake() - started)
        ended({ runId: call.runId, toolCallId: call.callId, tool: call.name, status, ms: durationMs, input: call.input, output })
        return { durationMs, ...(changes.length > 0 && { changes: changes.slice(0, MOST_CHANGES) }) }
      }
      call.signal.throwIfAborted()
      try {
        fence.check(call.runId, call.attempt)
        await merged.arrival(call.name, find(call.name) !== undefined, call.signal)
        if (call.identity !== undefined && identity(call.name) !== call.identity) {
          throw new ToolFailed(`${call.name} is not the tool that was approved, or has changed since, and was not run. ` +
            'Call it again: the user is asked if needed.')
        }
        const valid = validate(call.name, call.input)
        if (!valid.ok) return { status: 'error', errorText: valid.error, ...end('error') }
        const running = run(find(call.name)!, { ...call, input: valid.input }, {
          changed: (change) => void changes.push(change),
          stays: (ended) => void (stays = ended)
        })
        await Promise.allSettled([running])
        if (changes.length > 0) await wrote?.(changes)
        const output = shown(await running)
        return { status: 'completed', output, ...end('completed', output), ...(stays && { stays }) }
      } catch (error) {
        if (call.signal.aborted) {
          end('aborted')
          throw call.signal.reason
        }
        return { status: 'error', errorText: shown(messageOf(error)), ...end('error') }
      }
    }
  }
}

/** Returns the message of an error. */
const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/**
 * Converts an output to an object: undefined and null become {}, any other value that is not an object becomes `{result: value}`. Throws
 * ToolFailed if the output cannot be written as JSON.
 */
function asObject (name: string, output: unknown): ToolOutput {
  try {
    JSON.stringify(output)
  } catch {
    throw new ToolFailed(`${name} answered with something that cannot be written as JSON.`)
  }
  if (output === undefined || output === null) return {}
  return typeof output === 'object' && !Array.isArray(output) ? output as ToolOutput : { result: output }
}
