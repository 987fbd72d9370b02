import type { TaskApproveBody, TaskApproved } from '../../schemas/task-runs.ts'
import type { Change } from './task-repository.ts'
import type { RunExecutor } from './runner/executor.ts'
import type { RunDeps } from './task-deps.ts'
import { NoQuestion, QuestionDecided, QuestionNotFound } from './task-errors.ts'
import { withFeedback } from './runner/run-memory.ts'
import type { Queue } from './runner/queue.ts'
import { learnedName, openQuestions, type StoredQuestion, type StoredRun, type StoredTask } from './task-records.ts'
import { assertState } from './task-state.ts'

/** Entries kept of a task's approval history, the newest. */
const HISTORY = 500

/** The answers of people to what runs ask. The first decision stands. */
export function createRunApprovals ({ deps, executor, queue }: { deps: RunDeps, executor: RunExecutor, queue: Queue }) {
  const { repository, clock } = deps

  /** The question that is meant, and its run: the one named, else the oldest open one. */
  async function meant (task: StoredTask, approvalId?: string): Promise<{ run: StoredRun, question: StoredQuestion }> {
    const run = task.liveRun && await repository.runAt(task.liveRun, task.id)
    const question = approvalId === undefined
      ? run && openQuestions(run)[0]
      : run?.questions.find((question) => question.approvalId === approvalId)
    if (run !== undefined && question !== undefined) return { run, question }
    const known = task.approvalHistory.find((entry) => entry.approvalId === approvalId)
    if (known !== undefined) {
      const past = await repository.run(task.id, known.runId)
      return { run: past, question: past.questions.find((question) => question.approvalId === approvalId)! }
    }
    throw approvalId === undefined ? new NoQuestion(task.status) : new QuestionNotFound(approvalId)
  }

  /** The task with a decision in its history, and in the memory when something was said with it. */
  function noted (
    task: StoredTask,
    { runId, runNumber }: StoredRun,
    { approvalId, kind, tool }: StoredQuestion,
    said: { approved: boolean, notes?: string, expired?: true }
  ): StoredTask {
    const at = clock.now()
    const { approved, notes } = said
    return {
      ...task,
      approvalHistory: [...task.approvalHistory, { approvalId, runId, runNumber, kind, ...(tool !== undefined && { tool }), at, ...said }]
        .slice(-HISTORY),
      ...(notes && { memory: withFeedback(task.memory, { runId, approved, notes, at }) })
    }
  }

  async function decide (task: StoredTask, { approved, notes, approvalId }: TaskApproveBody): Promise<Change<TaskApproved>> {
    const { run, question } = await meant(task, approvalId)
    const answer = (status: StoredRun['status']): TaskApproved => ({
      ok: true,
      taskId: task.id,
      runId: run.runId,
      approvalId: question.approvalId,
      approved,
      status
    })
    if (question.state !== 'open') {
      // What was withdrawn had been approved.
      if ((question.state !== 'rejected') !== approved) throw new QuestionDecided(question.approvalId, approved ? 'rejected' : 'approved')
      return { task, answer: answer(run.status) }
    }
    assertState(task, 'approve')
    const decided: StoredRun = {
      ...run,
      questions: run.questions.map((each) =>
        each === question ? { ...each, state: approved ? 'approved' : 'rejected', ...(notes && { notes }) } : each
      )
    }
    const after = noted(task, run, question, { approved, ...(notes && { notes }) })
    if (question.kind === 'result') return ended(after, decided, approved, notes, answer)
    if (openQuestions(decided).length > 0) return { task: after, runs: [decided], answer: answer('pending_approval') }
    return {
      task: { ...after, status: 'running' },
      runs: [{ ...decided, status: 'running', putDown: true }],
      answer: answer('running'),
      after: () => queue.push(task.id, run.runId)
    }
  }

  /** The result was looked at: the run is completed and counts, or is rejected. */
  async function ended (
    task: StoredTask,
    run: StoredRun,
    approved: boolean,
    notes: string | undefined,
    answer: (status: StoredRun['status']) => TaskApproved
  ): Promise<Change<TaskApproved>> {
    const history = await repository.events(run.runId)
    const used = run.questions.flatMap(({ tool, identity, state }) =>
      tool !== undefined && state === 'approved' ? [learnedName(tool, identity)] : []
    )
    const counted: StoredTask = approved && run.runNumber !== task.outdatedRun
      ? {
          ...task,
          learnedTools: [...new Set([...task.learnedTools, ...used])],
          approval: { ...task.approval, approvedRuns: task.approval.approvedRuns + 1 }
        }
      : task
    const change = executor.over(
      counted,
      run,
      history,
      approved
        ? { status: 'completed' }
        : { status: 'rejected', error: notes ? `The user rejected the result: ${notes}` : 'The user rejected the result.' }
    )
    return { ...change, answer: answer(approved ? 'completed' : 'rejected') }
  }

  return {
    /** Throws NoQuestion, QuestionDecided or WrongState (409), QuestionNotFound (404). */
    approve: (taskId: string, body: TaskApproveBody): Promise<TaskApproved> => repository.change(taskId, (task) => decide(task, body)),

    /** The change that ends a run whose question nobody answered in time; undefined when there is none. */
    async expire (task: StoredTask): Promise<Change<undefined> | undefined> {
      const run = task.liveRun && await repository.runAt(task.liveRun, task.id)
      const overdue = run && openQuestions(run).find(({ expiresAt }) => expiresAt <= clock.now())
      if (overdue === undefined || run?.status !== 'pending_approval') return undefined
      const after = openQuestions(run).reduce((noting, question) => noted(noting, run, question, { approved: false, expired: true }), task)
      const days = Math.round((overdue.expiresAt - overdue.createdAt) / 86_400_000 * 10) / 10
      const change = executor.over(after, run, await repository.events(run.runId), {
        status: 'rejected',
        error: `Nobody answered within ${days} ${days === 1 ? 'day' : 'days'}.`
      })
      // A task that was paused meanwhile stays so.
      return task.status === 'paused'
        ? {
            ...change,
            task: { ...change.task, status: 'paused', ...(task.pausedReason !== undefined && { pausedReason: task.pausedReason }) }
          }
        : change
    }
  }
}
