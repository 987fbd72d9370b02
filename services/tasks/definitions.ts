import type { Schedule } from '../../schemas/schedule.ts'
import type { TaskStreamEvent } from '../../schemas/task-events.ts'
import type { Plan, PlanInput, Task, TaskBody, TaskBudget, TaskChanges, TaskType } from '../../schemas/tasks.ts'
import type { Trigger } from '../../schemas/triggers.ts'
import type { TaskSource } from '../contracts/task-control.ts'
import { inheritProvenance } from '../approvals/index.ts'
import { isEmptyTalk, planPrompt, withRunModels } from '../models/index.ts'
import type { Meter } from '../usage/index.ts'
import { askBehindUser, internalModelLoaders, type TaskDeps, type RunDeps } from './task-deps.ts'
import type { Budget, RunOptions } from '../../schemas/run-options.ts'
import { Aborted } from '../lib/abort.ts'
import { workingFolder } from '../lib/working-folder.ts'
import { newId } from '../lib/ids.ts'
import type { Op } from '../store/index.ts'
import { assertAhead } from './end-time.ts'
import { BadTask, WrongState } from './task-errors.ts'
import { tryNext } from './task-health.ts'
import { WORDS_KEPT, type StoredTask } from './task-records.ts'
import { taskView } from './task-lists.ts'
import type { Schedules } from './schedule/schedules.ts'
import { folderProblem } from './triggers/look-at-folder.ts'

/**
 * The time limit for planning, in milliseconds, for all models together. Without an answer in time, the whole goal becomes the only phase.
 */
const PLANNING_MS = 15_000
const numbered = (phases: Array<{ description: string }>) =>
  phases.map(({ description }, at) => ({ id: `phase-${at + 1}`, description, status: 'pending' as const }))

/** Converts a plan from a request to its stored form. */
const givenPlan = ({ phases, qualityCriteria = [], expects }: PlanInput): Plan =>
  ({ phases: numbered(phases), qualityCriteria, ...(expects && { expects }), source: 'user' })

/** Returns the trimmed name from a request, or {} for a blank name: the task then shows a name made from its goal. */
const nameGiven = ({ name = '' }: Pick<TaskBody, 'name'>) => name.trim() === '' ? {} : { name: name.trim() }

/** Asks a model to split a goal into phases, the fast model first. Never throws: without a plan in time, the goal is the only phase. */
async function makePlan (
  goal: string,
  deps: Pick<TaskDeps, 'registry' | 'helpers' | 'clock' | 'log'> & { meter: Meter },
  signal: AbortSignal
): Promise<Plan> {
  const { helpers, clock, meter } = deps
  const { question, ...asked } = planPrompt
  const end = clock.awake() + PLANNING_MS
  for (const { role, id, load } of internalModelLoaders(deps)) {
    const limitMs = end - clock.awake()
    if (limitMs <= 0) break
    // A local server that is answering a run would delay the plan, or the plan would delay that run.
    if (await helpers.isBusy(id)) continue
    const call = { ...asked, load, role, meter, text: question(goal), clock }
    const answer = await askBehindUser(id, call, { helpers, limitMs, waitMs: limitMs, signal })
    const { phases = [], qualityCriteria = [], expects } = 'value' in answer ? answer.value : {}
    const described = phases.flatMap(({ description = '' }) => isEmptyTalk(description) ? [] : [{ description }])
    if (described.length > 0) {
      const criteria = qualityCriteria.filter((criterion) => !isEmptyTalk(criterion))
      return { phases: numbered(described), qualityCriteria: criteria, ...(expects && { expects }), source: 'model' }
    }
    const problem = 'problem' in answer ? answer.problem : 'names no phase'
    if (!('refused' in answer && answer.refused)) deps.log.warn({ problem }, 'a model did not make a plan')
  }
  const description = goal.length > 200 ? `${goal.slice(0, 199)}…` : goal
  return { phases: numbered([{ description }]), qualityCriteria: [], source: 'fallback' }
}

/** The default number of approved runs after which learned tools need no approval. */
const DEFAULT_FIRST_N = 3

export const emptyTaskMemory = () => ({ findings: [], sources: [], filesCreated: [], decisions: [], feedback: [] })

/** Throws BadTask (400) if tasks of this type cannot have this schedule. */
function assertFits (taskType: TaskType, schedule: Schedule | undefined) {
  if (schedule === undefined) return
  if (taskType === 'triggered') throw new BadTask('A schedule belongs to taskType "recurring" or "one_shot", not to "triggered".')
  if (taskType === 'one_shot' && schedule.interval !== undefined) {
    throw new BadTask('schedule.interval belongs to taskType "recurring". A task of type "one_shot" has schedule.once or schedule.in.')
  }
  if (taskType === 'recurring' && schedule.interval === undefined && (schedule.once ?? schedule.in) !== undefined) {
    throw new BadTask('schedule.once and schedule.in belong to taskType "one_shot". A recurring task has schedule.interval.')
  }
}

/** Creates tasks and changes their definitions. */
export function createDefinitions (deps: RunDeps, schedules: Schedules, closing: AbortSignal) {
  const { repository, grants, agents, clock, usage, workspace } = deps

  const newPlan = (taskId: string, goal: string, options: RunOptions | undefined, signal: AbortSignal) => {
    const meter = usage.meter({ owner: { kind: 'task', id: taskId } })
    return makePlan(goal, { ...withRunModels(deps, options), meter }, signal)
  }

  /**
   * Merges the approval settings from a request over the earlier ones. Throws BadTask (400) if the settings
   * contradict each other or the options of the task.
   */
  async function approvalOf (
    given: TaskBody['approval'],
    { interactive }: RunOptions = {},
    { firstN = DEFAULT_FIRST_N, approvedRuns = 0, ...before }: Partial<Task['approval']> = {}
  ): Promise<Task['approval']> {
    const mode = given?.mode ?? before.mode ?? (interactive === false ? 'granted' : 'changes')
    if (interactive === false && mode !== 'granted' && mode !== 'never') {
      throw new BadTask(
        `options.interactive is false, so nobody is asked, but approval mode "${mode}" asks for results: use the mode "granted" or "never".`
      )
    }
    if (given?.firstN !== undefined && mode !== 'changes' && mode !== 'first_n') {
      throw new BadTask(`approval.firstN belongs to the modes "changes" and "first_n", not to "${mode}".`)
    }
    return { mode, firstN: given?.firstN ?? firstN, approvedRuns }
  }

  /** Returns why the task `id`, undefined for a new task, cannot have this trigger; undefined if it can. */
  async function problemOf (trigger: Trigger, cwd: string, id: string | undefined): Promise<string | undefined> {
    if (trigger.type === 'files') return folderProblem(trigger, cwd, deps.paths)
    if (trigger.taskId === id) return 'A task cannot be its own trigger.'
    const task = await repository.find(trigger.taskId, () => {})
    return task === undefined ? `There is no task "${trigger.taskId}" for a trigger. GET /tasks lists them.` : undefined
  }

  /** Returns the triggers from a request, or undefined if there are none. Throws BadTask (400) if one of them cannot be watched. */
  async function triggersOf (
    given: Trigger[] | undefined,
    { taskType, cwd, id }: { taskType: TaskType, cwd: string, id?: string }
  ): Promise<Trigger[] | undefined> {
    if (given === undefined || given.length === 0) return undefined
    if (taskType === 'one_shot') throw new BadTask('Triggers belong to taskType "triggered" or "recurring", not to "one_shot".')
    for (const [at, trigger] of given.entries()) {
      const problem = await problemOf(trigger, cwd, id)
      // The message names the position of the trigger, so that a form can show the problem beside this trigger.
      if (problem !== undefined) throw new BadTask(`body/triggers/${at}: ${problem}`)
    }
    return given
  }

  /**
   * Builds a task from a request: validates it and plans its goal, but stores nothing. Throws BadTask, BadFolder
   * or BadSchedule (400), TooManyTasks (409).
   */
  async function define (body: TaskBody, signal: AbortSignal = closing): Promise<StoredTask> {
    const { goal, schedule } = body
    const taskType = body.taskType ?? (schedule?.interval !== undefined ? 'recurring' : body.triggers?.length ? 'triggered' : 'one_shot')
    if (taskType === 'recurring' && schedule === undefined) {
      throw new BadTask('A recurring task needs a schedule, such as {"interval": "daily"}.')
    }
    assertFits(taskType, schedule)
    assertAhead(body.endsAt, clock.now())
    const { options: resolved } = await agents.check(body.options)
    const options = taskOptions(body, {})
    const approval = await approvalOf(body.approval, resolved)
    const cwd = await workingFolder(body.cwd, workspace())
    const triggers = await triggersOf(body.triggers, { taskType, cwd })
    const scheduleWords = schedule && await schedules.describe(schedule)
    await repository.index.assertRoom()
    const id = newId()
    const plan = body.plan ? givenPlan(body.plan) : await newPlan(id, goal, resolved, signal)
    const now = clock.now()
    return {
      id,
      ...nameGiven(body),
      goal,
      taskType,
      status: 'planned',
      cwd,
      plan,
      schedule,
      scheduleWords,
      triggers,
      approval,
      options,
      ...body.endsAt && { endsAt: body.endsAt },
      memory: emptyTaskMemory(),
      approvalHistory: [],
      steeringHistory: [],
      totalRuns: 0,
      successfulRuns: 0,
      createdAt: now,
      updatedAt: now,
      slotRuns: 0
    }
  }

  return {
    define,

    /** Plans and stores a task. Throws as `define` does. */
    async create (body: TaskBody, remember: (answer: Task) => Op[]): Promise<Task> {
      const task = await define(body)
      const answer = taskView(task)
      return agents.using(task.options.agent, () => repository.add({ task, ops: remember(answer), answer }))
    },

    /**
     * Changes a task. A new goal gets a new plan, unless a person supplied the present plan. With `by`, the model of
     * that conversation makes the change: a new goal then inherits the provenance (known addresses) of the
     * conversation. Throws as `create` does, and WrongState (409).
     */
    async update (taskId: string, changes: TaskChanges, by?: Omit<TaskSource, 'origin'>): Promise<StoredTask> {
      const before = await repository.get(taskId)
      const { goal, plan, approval, schedule } = changes
      const isNewGoal = goal !== undefined && goal !== before.goal
      assertFits(before.taskType, schedule)
      assertAhead(changes.endsAt, clock.now())
      const changedOptions = taskOptions(changes, before.options)
      if (changes.options !== undefined) await agents.check(changedOptions)
      const cwd = changes.cwd === undefined ? undefined : await workingFolder(changes.cwd, workspace())
      const triggers = await triggersOf(changes.triggers, { taskType: before.taskType, cwd: cwd ?? before.cwd, id: taskId })
      if (schedule !== undefined) await schedules.describe(schedule)
      const isPlanned = plan === undefined && isNewGoal && before.plan.source !== 'user'
      const planned = plan
        ? givenPlan(plan)
        : isPlanned ? await newPlan(taskId, goal, (await agents.resolve([changedOptions])).options, closing) : undefined
      return agents.using(changes.options?.agent, () => repository.change(taskId, async (task) => {
        if (plan !== undefined && task.status !== 'planned') {
          throw new WrongState(
            `The plan can be changed while the task is planned; it is ${task.status}. To get a new plan, change the goal.`
          )
        }
        if (by !== undefined && isNewGoal && task.status === 'running') {
          // When the active run ends, it stores its own provenance and would overwrite the provenance that comes with the new goal.
          throw new WrongState('The task is running: its goal can be changed when the run is over, or when it is paused.')
        }
        const inherited = by === undefined || !isNewGoal
          ? []
          : await inheritProvenance(deps.store, deps.store.digest(by.threadId), taskId)
        const isReset = isNewGoal || plan !== undefined
        const options = taskOptions(changes, task.options)
        // Approval settings are checked against the options only if one of the two changes, because the agent might have changed since.
        const { options: now } = (changes.options ?? approval) === undefined ? {} : await agents.resolve([options])
        const changed: StoredTask = {
          ...task,
          goal: goal ?? task.goal,
          ...changes.name !== undefined && { name: undefined, ...nameGiven(changes) },
          plan: planned ?? task.plan,
          cwd: cwd ?? task.cwd,
          ...changes.endsAt !== undefined && { endsAt: changes.endsAt || undefined },
          ...(changes.triggers !== undefined && { triggers }),
          options,
          // A goal that a person typed counts as the user's words. For a goal that a model wrote, the user's earlier words stay.
          ...(goal !== undefined && {
            said: by && (task.said ?? task.goal),
            request: by && [task.request ?? task.goal, ...by.written.slice(-1)].join('\n\n').slice(-WORDS_KEPT)
          }),
          ...(isReset && { outdatedRun: task.liveRun?.runNumber ?? task.reviewRun?.runNumber ?? task.outdatedRun }),
          approval: { ...await approvalOf(approval, now, task.approval), ...(isReset && { approvedRuns: 0 }) }
        }
        const { task: rescheduled, ops } = schedule === undefined ? { task: changed, ops: [] } : await schedules.replace(changed, schedule)
        const ended = isReset ? await grants.removals({ taskId }) : []
        const answer = { ...rescheduled, updatedAt: clock.now() }
        const events: TaskStreamEvent[] = [{ type: 'task:change', taskId, change: 'edited' }]
        return { task: tryNext(rescheduled), events, ops: [...ops, ...ended, ...inherited], answer }
      }))
    }
  }
}

/** The abort reason for planning that is under way when the service closes. */
export const CLOSING = new Aborted('shutdown', 'The service is shutting down.')

/**
 * Returns the options that a task gets from a request. Without `options` in the request, its `budget` changes the budget
 * in `had`, the present options of the task. Throws BadTask (400) if `options.budget` and `budget` contradict each other.
 */
function taskOptions ({ options, budget }: {
  options?: RunOptions
  /** The earlier form of `options.budget`, from clients of older versions. */
  budget?: TaskBudget
}, had: RunOptions): RunOptions {
  if (options?.workspace === 'copy') {
    throw new BadTask('options.workspace "copy" is for conversations: a task works in its folder itself. Leave it out.')
  }
  const { budget: chosen, ...rest } = options ?? (budget === undefined ? had : { ...had, budget: { usd: had.budget?.usd } })
  const limits = withEarlierForm(chosen, budget)
  return { ...rest, ...(Object.values(limits).some((limit) => limit !== undefined) && { budget: limits }) }
}

function withEarlierForm ({ usd, tokens, minutes }: Budget = {}, { maxTokensPerRun, maxMinutesPerRun }: TaskBudget = {}): Budget {
  agree('tokens', tokens, 'maxTokensPerRun', maxTokensPerRun)
  agree('minutes', minutes, 'maxMinutesPerRun', maxMinutesPerRun)
  return { usd, tokens: tokens ?? maxTokensPerRun, minutes: minutes ?? maxMinutesPerRun }
}

function agree (name: string, value: number | undefined, earlierName: string, earlier: number | undefined) {
  if (value === undefined || earlier === undefined || value === earlier) return
  throw new BadTask(
    `options.budget.${name} is ${value}, but budget.${earlierName} is ${earlier}; they are two names of one limit. Leave out "budget".`
  )
}
