import type { Slot } from '../../../schemas/schedule.ts'
import { isUngranted } from '../../contracts/model-texts.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { toolCallsOf } from '../../runs/index.ts'
import type { RunOutcome, SlotOutcome } from '../schedule/outcomes.ts'
import type { StoredRun, StoredTask } from '../task-records.ts'
import type { DigestDenied } from '../../../schemas/digest.ts'
import type { GrantBody, Scope } from '../../../schemas/grants.ts'
import { scopeText } from '../../approvals/index.ts'
import type { RunDeps } from '../task-deps.ts'

/** Entries of the outcome index with their times, newest first. */
export interface Outcomes<T> {
  entries: Array<T & { at: number }>
  nothing: Map<string, number>
}

/** The outcomes of one task, built from entries of the outcome index alone. */
export interface TaskOutcomes {
  taskId: string
  /** The runs to show, newest first. `more` is the number of runs that are not shown. */
  shown: Array<RunOutcome & { at: number }>
  more: number
  /** The number of runs that had nothing to do. */
  nothing: number
  /** Runs in which calls were denied because no grant covered them. */
  denied: RunOutcome[]
  /** Planned times without a run. Times with the same fate (such as skipped or missed) and reason are joined into one slot. */
  passed: Slot[]
}

/**
 * The most runs shown for each task and each list (failed, completed, stopped), so that many failures do not
 * hide the one run that found something.
 */
const SHOWN = 3
/** The most runs of one task from which denied calls are read. */
const DENIED_RUNS = 5

/** Groups outcomes by task. Tasks with runs to show come first; within each group, the task with the newest outcome comes first. */
export function outcomesByTask ({ runs, slots }: { runs: Array<Outcomes<RunOutcome>>, slots: Outcomes<SlotOutcome> }): TaskOutcomes[] {
  const groups = new Map<string, TaskOutcomes & { newest: number }>()
  const groupOf = (taskId: string) => {
    const group = groups.get(taskId) ?? { taskId, shown: [], more: 0, nothing: 0, denied: [], passed: [], newest: 0 }
    groups.set(taskId, group)
    return group
  }
  for (const { entries, nothing } of runs) {
    const shownOf = new Map<string, number>()
    for (const entry of entries) {
      const group = groupOf(entry.taskId)
      const shown = shownOf.get(entry.taskId) ?? 0
      shownOf.set(entry.taskId, shown + 1)
      if (shown < SHOWN) group.shown.push(entry)
      else group.more++
      if (entry.denied && group.denied.length < DENIED_RUNS) group.denied.push(entry)
      group.newest = Math.max(group.newest, entry.at)
    }
    for (const [taskId, count] of nothing) groupOf(taskId).nothing += count
  }
  for (const { taskId, slot } of slots.entries) {
    const { passed } = groupOf(taskId)
    const alike = passed.findIndex(({ fate, reason }) => fate === slot.fate && reason === slot.reason)
    if (alike === -1) passed.push(slot)
    else passed[alike] = joined(passed[alike], slot)
  }
  const isNew = ({ shown }: TaskOutcomes) => shown.length > 0
  return [...groups.values()]
    .map(({ shown, ...group }) => ({ ...group, shown: shown.sort((a, b) => b.at - a.at) }))
    .sort((a, b) => Number(isNew(b)) - Number(isNew(a)) || b.newest - a.newest)
    .map(({ newest, ...group }) => group)
}

/** Joins two slots into one that covers the times of both. */
const joined = (later: Slot, earlier: Slot): Slot => ({
  ...later,
  from: earlier.from ?? earlier.at,
  count: (later.count ?? 1) + (earlier.count ?? 1),
  ...(earlier.since !== undefined && { since: earlier.since })
})

/** A call that was denied because no grant covers it. */
export interface DeniedCall {
  runId: string
  toolName: string
  input: unknown
}

/**
 * Returns the calls of a run that were denied because no grant covered them, with unshortened inputs. `events`
 * reads the events of a run, which hold the whole inputs where the record has shortened ones.
 */
export async function deniedCalls (
  { runId, toolCalls }: Pick<StoredRun, 'runId' | 'toolCalls'>,
  events: (runId: string) => Promise<readonly RunEvent[] | undefined>
): Promise<DeniedCall[]> {
  const denied = toolCalls.filter(isUngranted)
  const isShortened = denied.some(({ input }) => typeof input === 'string')
  const whole = isShortened ? toolCallsOf(await events(runId) ?? []).filter(isUngranted) : denied
  return whole.map(({ toolName, input }) => ({ runId, toolName, input }))
}

/** Removes duplicates: returns each distinct call with the number of times it occurs. */
export function once (calls: readonly DeniedCall[]): Array<{ call: DeniedCall, count: number }> {
  const found = new Map<string, { call: DeniedCall, count: number }>()
  for (const call of calls) {
    const key = `${call.toolName} ${canonicalJson(call.input)}`
    const known = found.get(key)
    if (known === undefined) found.set(key, { call, count: 1 })
    else known.count++
  }
  return [...found.values()]
}

/** The longest input, in characters of JSON, for which the digest offers a grant. */
const MOST_INPUT = 20_000
/**
 * Scopes for an offered grant, the most useful one for later runs first. `exact` comes after `folder` and
 * `host`, because the contents of files and the pages of hosts change.
 */
const USEFUL: ReadonlyArray<Exclude<Scope, 'once'>> = ['folder', 'host', 'exact', 'tool']

/**
 * The grant that would have allowed a denied call; {} if no grant could have, for example for a command without
 * a token or for a very long input.
 */
export type MissingGrant = Pick<DigestDenied, 'grant' | 'covers' | 'isGranted'>

/**
 * Returns the body for `POST /grants` that would have allowed a denied call, or `isGranted` if a present grant
 * covers the call; {} if no grant can.
 */
export async function missingGrant (
  { grants, host }: Pick<RunDeps, 'grants' | 'host'>,
  { id: taskId, cwd }: Pick<StoredTask, 'id' | 'cwd'>,
  { toolName, input }: DeniedCall
): Promise<MissingGrant> {
  if (typeof input !== 'object' || input === null || host.find(toolName) === undefined) return {}
  if (JSON.stringify(input).length > MOST_INPUT) return {}
  const folder = await host.folders.of(toolName, input, cwd).catch(() => undefined)
  if (folder === undefined) return {}
  const facts = await grants.facts({ toolName, input }, { folder, cwd }, host)
  // Learned grants are ignored here, because they apply to some runs only.
  if (await grants.covering({ taskId }, facts, ({ source }) => source !== 'approved_runs')) return { isGranted: true }
  const offered = grants.scopes(facts, host).map(({ scope }) => scope)
  const scope = USEFUL.find((each) => offered.includes(each))
  if (scope === undefined) return {}
  return { grant: { taskId, toolName, input: input as GrantBody['input'], scope, cwd }, covers: scopeText(scope, facts) }
}
