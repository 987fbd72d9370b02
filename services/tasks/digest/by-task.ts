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

/** Entries of the outcome index with their times, newest first; and for each task the number of runs that had nothing to do. */
export interface Outcomes<T> {
  entries: Array<T & { at: number }>
  nothing: Map<string, number>
}

/** The outcomes of one task, read from the index alone. */
export interface TaskOutcomes {
  taskId: string
  /** The runs to show, newest first, and the number of others. */
  shown: Array<RunOutcome & { at: number }>
  more: number
  /** The number of runs that had nothing to do. */
  nothing: number
  /** Runs in which calls were denied for lack of a grant. */
  denied: RunOutcome[]
  /** Planned times without a run, one for each fate and reason. */
  passed: Slot[]
}

/** The number of runs that are shown of each task and kind of end, so that many failures do not hide the one run that found something. */
const SHOWN = 3
/** The most runs of a task whose denied calls are read. */
const DENIED_RUNS = 5

/** Groups outcomes by task: those with something new first, by the time of their newest outcome. */
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

/** Returns one slot for both of two; `earlier` is the earlier one. */
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

/** Returns the calls of a run that were denied for lack of a grant, with their whole inputs, which the events of the run hold. */
export async function deniedCalls (
  { runId, toolCalls }: Pick<StoredRun, 'runId' | 'toolCalls'>,
  events: (runId: string) => Promise<readonly RunEvent[] | undefined>
): Promise<DeniedCall[]> {
  const denied = toolCalls.filter(isUngranted)
  const isShortened = denied.some(({ input }) => typeof input === 'string')
  const whole = isShortened ? toolCallsOf(await events(runId) ?? []).filter(isUngranted) : denied
  return whole.map(({ toolName, input }) => ({ runId, toolName, input }))
}

/** Returns each different call once, with the number of equal calls. */
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

/** The most characters of the input in a grant that the digest offers, as JSON. */
const MOST_INPUT = 20_000
/**
 * The scopes that would have allowed a call, the most useful one for later runs first: the contents of files change, and so do the pages of
 * hosts.
 */
const USEFUL: ReadonlyArray<Exclude<Scope, 'once'>> = ['folder', 'host', 'exact', 'tool']

/**
 * The grant that would have allowed a denied call; empty if no grant could, for example for a command without a token or a very long input.
 */
export type MissingGrant = Pick<DigestDenied, 'grant' | 'covers' | 'isGranted'>

/** Returns the body for `POST /grants` that would have allowed a call of a task, if the grant service would accept it now. */
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
  // Grants that approved runs have taught apply to some runs only.
  if (await grants.covering({ taskId }, facts, ({ source }) => source !== 'approved_runs')) return { isGranted: true }
  const offered = grants.scopes(facts, host).map(({ scope }) => scope)
  const scope = USEFUL.find((each) => offered.includes(each))
  if (scope === undefined) return {}
  return { grant: { taskId, toolName, input: input as GrantBody['input'], scope, cwd }, covers: scopeText(scope, facts) }
}
