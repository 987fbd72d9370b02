import type { TaskApproveBody, TaskApproved } from '../../schemas/task-runs.ts'
import type { Change } from './task-repository.ts'
import type { RunExecutor } from './runner/executor.ts'
import type { RunDeps } from './task-deps.ts'
import { NoQuestion, QuestionDecided, QuestionNotFound } from './task-errors.ts'
import { withFeedback } from './runner/run-memory.ts'
import type { Queue } from './runner/queue.ts'
import { learnedToolKey, openQuestions, type StoredQuestion, type StoredRun, type StoredTask } from './task-records.ts'
import { assertState } from './task-state.ts'

/** Entries that a task's approval history keeps; older entries are dropped. */
const MAX_HISTORY = 500

/** Decides the questions of runs: by a person's answer, or by expiry. The first decision is kept. */
export function createRunApprovals ({ deps, executor, queue }: { deps: RunDeps, executor: RunExecutor, queue: Queue }) {
  const { repository, clock } = deps

  /** Finds the question with that id, or the oldest open question without an id, and its run. */
  async function findQuestion (task: StoredTask, approvalId?: string): Promise<{ run: StoredRun, question: StoredQuestion }> {
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

  /** Adds a decision to the approval history of the task, and its notes to the memory as feedback. */
  function withDecision (
    task: StoredTask,
    { runId, runNumber }: StoredRun,
    { approvalId, kind, tool }: StoredQuestion,
    decision: { approved: boolean, notes?: string, expired?: true }
  ): StoredTask {
    const at = clock.now()
    const { approved, notes } = decision
    return {
      ...task,
      approvalHistory: [
        ...task.approvalHistory,
        { approvalId, runId, runNumber, kind, ...(tool !== undefined && { tool }), at, ...decision }
      ].slice(-MAX_HISTORY),
      ...(notes && { memory: withFeedback(task.memory, { runId, approved, notes, at }) })
    }
  }

  async function decide (task: StoredTask, { approved, notes, approvalId }: TaskApproveBody): Promise<Change<TaskApproved>> {
    const { run, question } = await findQuestion(task, approvalId)
    const answer = (status: StoredRun['status']): TaskApproved => ({
      ok: true,
      taskId: task.id,
      runId: run.runId,
      approvalId: question.approvalId,
      approved,
      status
    })
    if (question.state !== 'open') {
      // A withdrawn question had been approved before another question replaced it.
      if ((question.state !== 'rejected') !== approved) throw new QuestionDecided(question.approvalId, approved ? 'rejected' : 'approved')
      return { task, answer: answer(run.status) }
    }
    assertState(task, 'approve')
    const decided: StoredRun = {
      ...run,
      questions: run.questions.map((other) =>
        other === question ? { ...other, state: approved ? 'approved' : 'rejected', ...(notes && { notes }) } : other
      )
    }
    const after = withDecision(task, run, question, { approved, ...(notes && { notes }) })
    if (question.kind === 'result') return decideResult(after, decided, approved, notes, answer)
    if (openQuestions(decided).length > 0) return { task: after, runs: [decided], answer: answer('pending_approval') }
    return {
      task: { ...after, status: 'running' },
      runs: [{ ...decided, status: 'running', putDown: true }],
      answer: answer('running'),
      after: () => queue.push(task.id, run.runId)
    }
  }

  /** Ends a run whose result was decided: approved, it is completed and counts towards `firstN`; otherwise it is rejected. */
  async function decideResult (
    task: StoredTask,
    run: StoredRun,
    approved: boolean,
    notes: string | undefined,
    answer: (status: StoredRun['status']) => TaskApproved
  ): Promise<Change<TaskApproved>> {
    const history = await repository.events(run.runId)
    const approvedTools = run.questions.flatMap(({ tool, identity, state }) =>
      tool !== undefined && state === 'approved' ? [learnedToolKey(tool, identity)] : []
    )
    const updated: StoredTask = approved && run.runNumber !== task.outdatedRun
      ? {
          ...task,
          learnedTools: [...new Set([...task.learnedTools, ...approvedTools])],
          approval: { ...task.approval, approvedRuns: task.approval.approvedRuns + 1 }
        }
      : task
    const change = executor.conclude(
      updated,
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

    /** The change that rejects a run with an expired question; undefined when no question has expired. */
    async expire (task: StoredTask): Promise<Change<undefined> | undefined> {
      const run = task.liveRun && await repository.runAt(task.liveRun, task.id)
      const overdue = run && openQuestions(run).find(({ expiresAt }) => expiresAt <= clock.now())
      if (overdue === undefined || run?.status !== 'pending_approval') return undefined
      const after = openQuestions(run).reduce(
        (current, question) => withDecision(current, run, question, { approved: false, expired: true }),
        task
      )
      const days = Math.round((overdue.expiresAt - overdue.createdAt) / 86_400_000 * 10) / 10
      const change = executor.conclude(after, run, await repository.events(run.runId), {
        status: 'rejected',
        error: `Nobody answered within ${days} ${days === 1 ? 'day' : 'days'}.`
      })
      // A task that was paused in the meantime stays paused.
      return task.status === 'paused'
        ? {
            ...change,
            task: { ...change.task, status: 'paused', ...(task.pausedReason !== undefined && { pausedReason: task.pausedReason }) }
          }
        : change
    }
  }
}
