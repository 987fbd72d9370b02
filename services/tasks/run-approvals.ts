import type { DecidedApproval } from '../../schemas/approvals.ts'
import type { TaskApproveBody, TaskApproved } from '../../schemas/task-runs.ts'
import { type AppCall, type AppCallAnswer, closeOverdue, decideApproval, type Decision, GrantRefused } from '../approvals/index.ts'
import { isOfTask, isUnanswered, type TaskApproval } from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import type { Change } from './task-repository.ts'
import type { RunExecutor } from './runner/executor.ts'
import type { RunDeps } from './task-deps.ts'
import { NoQuestion, QuestionNotFound, assertState } from './task-errors.ts'
import { withFeedback } from './runner/run-memory.ts'
import type { Queue } from './runner/queue.ts'
import { isOver } from '../runs/index.ts'
import type { StoredRun, StoredTask } from './task-records.ts'

/** Entries that a task's approval history keeps; older entries are dropped. */
const MAX_HISTORY = 500

type Answering = TaskApproveBody & Pick<Decision, 'answers' | 'unbound' | 'previewDigest' | 'corrected'>

/** An approval after its decision, and the state of its run. */
interface Answer {
  item: TaskApproval
  status: StoredRun['status']
  continued: boolean
}

/** Decides the approvals of runs: by a person's answer, or by expiry. The first decision is kept. */
export function createRunApprovals ({ deps, executor, queue }: { deps: RunDeps, executor: RunExecutor, queue: Queue }) {
  const { repository, ledger, grants, clock } = deps

  /** Finds the approval with that id and its run; without an id the oldest open one that is no question. */
  async function findItem (task: StoredTask, approvalId?: string): Promise<{ run: StoredRun, item: TaskApproval }> {
    if (approvalId !== undefined) {
      const item = await ledger.find(approvalId)
      if (item === undefined || !isOfTask(item) || item.taskId !== task.id) throw new QuestionNotFound(approvalId)
      return { run: await repository.run(task.id, item.runId), item }
    }
    const run = task.liveRun && await repository.runById(task.liveRun.runId)
    const [item] = run === undefined ? [] : (await repository.open(run)).filter((each) => each.kind === 'tool' || each.kind === 'result')
    if (run === undefined || item === undefined) throw new NoQuestion(task.status)
    return { run, item }
  }

  /** Adds a decision to the approval history of the task, and its notes to the memory as feedback. */
  function withDecision (
    task: StoredTask,
    { runId, runNumber }: StoredRun,
    item: TaskApproval,
    decision: { approved: boolean, notes?: string, expired?: true }
  ): StoredTask {
    const at = clock.now()
    const { approvalId, kind } = item
    const { approved, notes } = decision
    const toolName = item.kind === 'tool' ? item.toolName : undefined
    return {
      ...task,
      approvalHistory: [...task.approvalHistory, { approvalId, runId, runNumber, kind, toolName, at, ...decision }].slice(-MAX_HISTORY),
      ...(notes && { memory: withFeedback(task.memory, { runId, approved, notes, at }) })
    }
  }

  async function decide (task: StoredTask, { notes, approvalId, ...given }: Answering): Promise<Change<Answer>> {
    const { approved } = given
    const { run, item } = await findItem(task, approvalId)
    const others = (await repository.open(run)).filter((other) => other.approvalId !== item.approvalId)
    const decided = decideApproval(item, { ...given, reason: notes }, clock.now())
    const continued = item.kind !== 'result' && !others.some(({ segment }) => segment === item.segment)
    if (decided === undefined) return { task, answer: { item, status: run.status, continued: continued && !isOver(run) } }
    assertState(task, 'approve')
    const after = withDecision(task, run, item, { approved, ...(notes && { notes }) })
    if (decided.kind === 'result') return decideResult(after, run, decided, approved)
    const isCall = decided.kind === 'tool'
    if (isCall && run.runNumber === task.outdatedRun && decided.granted !== undefined) {
      throw new GrantRefused('Goal or plan changed after this was asked, so the call can be approved only once.')
    }
    const ops = isCall ? await grants.fromAnswer({ taskId: task.id }, decided) : []
    const answer: Answer = { item: decided, status: continued ? 'running' : 'pending_approval', continued }
    return { ...(continued ? goOn(after, run) : { task: after }), approvals: [decided], ops, answer }
  }

  /** The part of a change that lets a run go on which waits for nothing more. */
  const goOn = (task: StoredTask, run: StoredRun): Pick<Change<void>, 'task' | 'runs' | 'after'> => ({
    task: { ...task, status: 'running' },
    runs: [{ ...run, status: 'running', suspended: true }],
    after: () => queue.push(task.id, run.runId)
  })

  /** Ends a run whose result was decided: approved, it is completed and counts towards `firstN`; otherwise it is rejected. */
  async function decideResult (task: StoredTask, run: StoredRun, result: TaskApproval, approved: boolean): Promise<Change<Answer>> {
    const history = await repository.events(run.runId)
    const counts = approved && run.runNumber !== task.outdatedRun
    const calls = counts ? (await ledger.ofTask(run.asked)).filter((item) => item.kind === 'tool') : []
    // A person who corrected an input did not approve the model's.
    const taught = calls.filter((item) => item.approved && item.state !== 'withdrawn' && item.correctedInput === undefined)
    const ops = await grants.learn({ taskId: task.id }, taught)
    const updated = counts ? { ...task, approval: { ...task.approval, approvedRuns: task.approval.approvedRuns + 1 } } : task
    const error = result.reason ? `The user rejected the result: ${result.reason}` : 'The user rejected the result.'
    const status = approved ? 'completed' as const : 'rejected' as const
    const change = executor.conclude(updated, run, history, approved ? { status } : { status, error })
    return { ...change, ops: [...change.ops ?? [], ...ops], approvals: [result], answer: { item: result, status, continued: false } }
  }

  /** The change that rejects a run with an expired approval; undefined when none has expired. */
  async function expire (task: StoredTask): Promise<Change<undefined> | undefined> {
    if (task.waitsUntil === undefined || task.waitsUntil > clock.now()) return undefined
    const run = task.liveRun && await repository.runById(task.liveRun.runId)
    if (run === undefined || run.status !== 'pending_approval') return undefined
    const open = (await repository.open(run)).filter(isOfTask)
    const after = open.reduce((current, item) => withDecision(current, run, item, { approved: false, expired: true }), task)
    const overdue = open.find(({ expiresAt }) => expiresAt <= clock.now())
    const days = overdue && Math.round((overdue.expiresAt - overdue.createdAt) / 86_400_000 * 10) / 10
    const change: Change<undefined> = {
      ...executor.conclude(after, run, await repository.events(run.runId), {
        status: 'rejected',
        error: `Nobody answered ${days === undefined ? 'in time' : `within ${days} ${days === 1 ? 'day' : 'days'}`}.`
      }),
      approvals: open.map((item) => inState(item, 'expired'))
    }
    if (task.status !== 'paused') return change
    // A task that was paused in the meantime stays paused.
    return { ...change, task: { ...change.task, status: 'paused', pausedReason: task.pausedReason } }
  }

  /** Expires what is overdue, then decides. */
  async function answer (taskId: string, body: Answering): Promise<Answer> {
    await repository.change(taskId, expire)
    return repository.change(taskId, (task) => decide(task, body))
  }

  /** Returns the change that stores a call of the application in its new state. The run goes on when it was the last open item. */
  async function withCall (task: StoredTask, call: AppCall<{ taskId: string }>): Promise<Change<{ call: AppCall, continued: boolean }>> {
    const run = await repository.run(task.id, call.runId)
    const isLast = !isUnanswered(call) && (await repository.open(run)).every(({ approvalId }) => approvalId === call.approvalId)
    const continued = isLast && task.status === 'pending_approval'
    return { ...(continued ? goOn(task, run) : { task }), approvals: [call], answer: { call, continued } }
  }

  return {
    /** Records a claim or the result of a call of the application. Throws as `CallLedger.answer` does. */
    answerCall: (taskId: string, callId: string, given: AppCallAnswer) =>
      repository.change(taskId, async (task): Promise<Change<{ call: AppCall, continued: boolean }>> => {
        const { calls: [call], answered: [answered] } = await ledger.calls.answer([{ approvalId: callId, ...given }], { taskId })
        return answered === undefined ? { task, answer: { call, continued: false } } : withCall(task, answered)
      }),

    /** Closes a call of the application if it is overdue; the model is told. */
    closeCall: (taskId: string, callId: string) =>
      repository.change<{ call: AppCall, continued: boolean } | undefined>(taskId, async (task) => {
        const closed = closeOverdue(await ledger.calls.requireOf(callId, { taskId }), clock.now())
        return closed === undefined ? undefined : withCall(task, closed)
      }),

    /** Throws NoQuestion, ApprovalDecided, ApprovalWithdrawn or WrongState (409), QuestionNotFound (404), ApprovalExpired (410). */
    async approve (taskId: string, body: TaskApproveBody): Promise<TaskApproved> {
      const { item: { runId, approvalId }, status } = await answer(taskId, body)
      return { ok: true, taskId, runId, approvalId, approved: body.approved, status }
    },

    /** Decides the named approval. Throws as `approve` does. */
    async decide (taskId: string, { reason, ...decision }: Decision): Promise<DecidedApproval> {
      const { item: { runId, state }, continued } = await answer(taskId, { ...decision, notes: reason })
      return { approvalId: decision.approvalId, state, runId, taskId, continued }
    },

    expire
  }
}
