import type { Static } from '@sinclair/typebox'
import type { TaskSchedule } from '../../schemas/schedule.ts'
import type { Task, TaskListSchema, TaskQuery } from '../../schemas/tasks.ts'
import type { TaskQuestion, TaskRun, TaskRunListSchema } from '../../schemas/task-runs.ts'
import { type LiveQuestions, questionView } from '../approvals/index.ts'
import { unlessDamaged } from '../store/index.ts'
import { CALL_SHOWN, isOver, taskRunView } from '../runs/index.ts'
import type { Schedules } from './schedule/schedules.ts'
import { BadTask } from './task-errors.ts'
import { isOfTask } from '../contracts/approval-record.ts'
import type { StoredRun, StoredTask } from './task-records.ts'
import type { TaskRepository } from './task-repository.ts'
import { healthView, runsNextAt } from './task-health.ts'
import { nameOfTask } from '../lib/short-name.ts'

/**
 * Creates the lists of tasks, runs and slots, one page at a time. Damaged records are left out; the lists of
 * tasks and of runs name the damaged records.
 */
export function createTaskLists ({ repository, schedules, liveQuestions }: {
  repository: TaskRepository,
  schedules: Schedules,
  liveQuestions: Pick<LiveQuestions, 'ofTask'>
}) {
  const open = async (run: StoredRun) => [...await repository.open(run), ...liveQuestions.ofTask(run.runId)]
  const questions = async (run: StoredRun) => (await open(run)).filter(isOfTask).map(questionView)

  /**
   * Returns a run with the items that the run waits for. A run that continued after it was read has no open items
   * any more, so it is read again.
   */
  async function withQuestions (run: StoredRun): Promise<{ run: StoredRun, questions: TaskQuestion[] }> {
    const asked = await questions(run)
    const current = run.status === 'pending_approval' && asked.length === 0 ? await repository.runById(run.runId) : undefined
    return current === undefined ? { run, questions: asked } : { run: current, questions: await questions(current) }
  }

  /** Returns the public form of a run, with shortened inputs and outputs of its tool calls. */
  async function shortRunView (given: StoredRun): Promise<TaskRun> {
    const { run, questions } = await withQuestions(given)
    return isOver(run)
      ? taskRunView(run, { questions: [] })
      : taskRunView(run, { questions, events: await unlessDamaged(repository.events(run.runId)), limit: CALL_SHOWN })
  }

  return {
    /** Returns the items that a run waits for, including questions in the middle of an executing call. */
    open,

    withQuestions,

    /** Returns the public form of a run, with shortened inputs and outputs of its tool calls. */
    shownRun: shortRunView,

    /** Yields the runs of a task that are older than the run with id `after`, newest first. Damaged runs are left out. */
    async * shownRuns (taskId: string, after?: string): AsyncGenerator<TaskRun> {
      for await (const run of repository.runs(taskId, { damaged () {} })) {
        if (after === undefined || run.runId < after) yield await shortRunView(run)
      }
    },

    /** Returns a page of tasks, newest first, and the ids of damaged tasks. */
    async list ({ status, type, limit, cursor }: Static<typeof TaskQuery>): Promise<Static<typeof TaskListSchema>> {
      const tasks: Task[] = []
      const damaged: string[] = []
      const found = repository.matching({ status, type, after: cursor, damaged: (taskId) => void damaged.push(taskId) })
      for await (const task of found) {
        if (tasks.length === limit) return { tasks, nextCursor: tasks.at(-1)!.id, ...damagedField(damaged) }
        tasks.push(taskView(task))
      }
      return { tasks, ...damagedField(damaged) }
    },

    /**
     * Returns a page of the runs of a task, newest first, and the numbers of damaged runs. `cursor` is a run number:
     * the page holds older runs. Inputs and outputs of tool calls are shortened. Throws TaskNotFound (404).
     */
    async runs (taskId: string, { limit, cursor }: { limit: number, cursor?: number }): Promise<Static<typeof TaskRunListSchema>> {
      await repository.get(taskId)
      const runs: TaskRun[] = []
      const damaged: number[] = []
      for await (const run of repository.runs(taskId, { before: cursor, damaged: ({ runNumber }) => void damaged.push(runNumber) })) {
        if (runs.length === limit) return { runs, nextCursor: String(runs.at(-1)!.runNumber), ...damagedField(damaged) }
        runs.push(await shortRunView(run))
      }
      return { runs, ...damagedField(damaged) }
    },

    /**
     * Returns the upcoming times of the schedule of a task and a page of its past slots. Throws TaskNotFound (404),
     * or BadTask (400) if the task has no schedule.
     */
    async schedule (
      taskId: string,
      { upcoming, limit, cursor }: { upcoming: number, limit: number, cursor?: number }
    ): Promise<TaskSchedule> {
      const task = await repository.get(taskId)
      if (task.schedule === undefined) throw new BadTask(`This task has no schedule: it is ${task.taskType}.`)
      return {
        schedule: task.schedule,
        words: task.scheduleWords,
        upcoming: await schedules.upcoming(task, upcoming),
        ...await schedules.slots(taskId, limit, cursor)
      }
    }
  }
}

/** Returns the `damaged` field of an answer; {} if nothing is damaged. */
const damagedField = <T>(damaged: T[]): { damaged?: T[] } => damaged.length > 0 ? { damaged } : {}

/** Returns the public form of a task, without the internal fields. */
export function taskView ({
  outdatedRun,
  said,
  timing,
  lastSlot,
  slotCount,
  slotRuns,
  firing,
  liveRun,
  nextRun,
  reviewRun,
  returnTo,
  waitsUntil,
  waitsSince,
  choice,
  ...task
}: StoredTask): Task {
  const { tokens, minutes } = task.options.budget ?? {}
  return {
    ...task,
    name: nameOfTask(task),
    health: healthView(task),
    nextRunAt: runsNextAt(task),
    // `budget` repeats the limits of `options.budget` for earlier clients.
    budget: { maxTokensPerRun: tokens, maxMinutesPerRun: minutes }
  }
}
