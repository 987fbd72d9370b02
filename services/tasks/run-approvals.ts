import type { TaskApproveBody, TaskApproved } from '../../schemas/task-runs.ts'
import {
  answerAppCall,
  type AppCall,
  ApprovalWithdrawn,
  closeOverdue,
  decideApproval,
  GrantRefused,
  type ItemAnswer
} from '../approvals/index.ts'
import {
  type Answered,
  type Approval,
  type Decision,
  isOfTask,
  isUnanswered,
  type ResultItem,
  type TaskApproval
} from '../contracts/approval-record.ts'
import { inState } from '../contracts/approval-states.ts'
import type { Change } from './task-repository.ts'
import type { RunExecutor } from './runner/executor.ts'
import type { RunDeps } from './task-deps.ts'
import type { Lifecycle } from './lifecycle.ts'
import { NoQuestion, QuestionNotFound, assertState } from './task-errors.ts'
import { withFeedback } from './runner/task-memory.ts'
import type { Queue } from './runner/queue.ts'
import { teach } from './teaching.ts'
import { isOver } from '../runs/index.ts'
import { endOf, isOutdated, type StoredRun, type StoredTask } from './task-records.ts'

/** The most entries in the approval history of a task; older entries are dropped. */
const MAX_HISTORY = 500

type Answering = TaskApproveBody & Pick<Decision, 'answers' | 'unbound' | 'previewDigest' | 'corrected' | 'device'>

/** An approval after its decision, with the status of its run. */
interface Answer extends Answered<TaskApproval> {
  status: StoredRun['status']
}

/** Creates the operations that decide the approvals of runs, by a person's answer or by expiry. The first decision stands. */
export function createRunApprovals ({ deps, executor, queue, lifecycle }: {
  deps: RunDeps,
  executor: RunExecutor,
  queue: Queue,
  lifecycle: Pick<Lifecycle, 'endInTime'>
}) {
  const { repository, ledger, grants, clock } = deps

  /**
   * Finds an approval and its run by `approvalId`; without an id, the oldest open tool or result approval. Throws
   * QuestionNotFound (404) or NoQuestion (409).
   */
  async function findItem (task: StoredTask, approvalId?: string): Promise<{ run: StoredRun, item: TaskApproval }> {
    if (approvalId !== undefined) {
      const item = await ledger.find(approvalId)
      if (item === undefined || !isOfTask(item) || item.taskId !== task.id) throw new QuestionNotFound(approvalId)
      return { run: await repository.run(task.id, item.runId), item }
    }
    for (const run of await waitingRuns(task)) {
      const item = (await repository.open(run)).find((each) => each.kind === 'tool' || each.kind === 'result')
      if (item !== undefined && isOfTask(item)) return { run, item }
    }
    throw new NoQuestion(task.status)
  }

  /** Returns the runs in state `pending_approval`, oldest first: the run whose result waits while the task continues, then the live run. */
  const waitingRuns = async (task: StoredTask): Promise<StoredRun[]> =>
    (await repository.openRuns(task)).filter(({ status }) => status === 'pending_approval')

  /** Throws ApprovalWithdrawn (409) if the result of a newer run superseded this result. The message names that run. */
  async function assertNotSuperseded (task: StoredTask, item: TaskApproval): Promise<void> {
    if (item.kind !== 'result' || item.replacedBy === undefined) return
    const [open] = (await Promise.all((await waitingRuns(task)).map(repository.open))).flat().filter(({ kind }) => kind === 'result')
    const newer = open ?? await ledger.find(item.replacedBy)
    const run = newer && await repository.runById(newer.runId)
    const name = run === undefined ? 'a newer run' : `run ${run.runNumber}`
    throw new ApprovalWithdrawn(
      item.approvalId,
      open === undefined
        ? `the result of ${name} took its place, which does not wait any more`
        : `the result of ${name} took its place: decide the approval request "${open.approvalId}"`
    )
  }

  /** Adds a decision to the approval history of the task. The notes of the decision are stored in the task memory as feedback. */
  function withDecision (
    task: StoredTask,
    { runId, runNumber }: StoredRun,
    item: TaskApproval,
    decision: Pick<Decision, 'approved' | 'device'> & { notes?: string, expired?: true }
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
    const { approved, device } = given
    const { run, item } = await findItem(task, approvalId)
    await assertNotSuperseded(task, item)
    const others = (await repository.open(run)).filter((other) => other.approvalId !== item.approvalId)
    const decided = decideApproval(item, { ...given, reason: notes }, clock.now())
    const isLast = (open: readonly Approval[]) => item.kind !== 'result' && !open.some((other) => other.segment === item.segment)
    if (decided === undefined) return { task, answer: { item, status: run.status, continued: isLast(others) && !isOver(run) } }
    // A decision about a result starts no call, so every state of the task allows it.
    if (item.kind !== 'result') assertState(task, 'approve')
    const after = withDecision(task, run, item, { approved, ...(notes && { notes }), ...(device && { device }) })
    if (decided.kind === 'result') return decideResult(after, run, decided, approved)
    const isCall = decided.kind === 'tool'
    if (isCall && isOutdated(task, run) && decided.granted !== undefined) {
      throw new GrantRefused('Goal or plan changed after this was asked, so the call can be approved only once.')
    }
    const waiting = others.filter((other) => other.kind === 'tool' && isOfTask(other))
    const { ops, released } = await grants.fromAnswers({ taskId: task.id }, isCall ? [decided] : [], async () => waiting)
    const continued = isLast(others.filter((other) => !released.some(({ approvalId: id }) => id === other.approvalId)))
    const answer: Answer = { item: decided, status: continued ? 'running' : 'pending_approval', continued, released }
    return { ...(continued ? goOn(after, run) : { task: after }), approvals: [decided, ...released], ops, answer }
  }

  /** Returns the part of a change that continues a run without open items. */
  const goOn = (task: StoredTask, run: StoredRun): Pick<Change<void>, 'task' | 'runs' | 'after'> => ({
    task: { ...task, status: 'running' },
    runs: [{ ...run, status: 'running', suspended: true }],
    after: () => queue.push(task.id, run.runId)
  })

  /** Ends a run whose result was decided. An approved run is completed and counts towards `firstN`; any other run is rejected. */
  async function decideResult (
    task: StoredTask,
    run: StoredRun,
    result: TaskApproval & ResultItem,
    approved: boolean
  ): Promise<Change<Answer>> {
    // An approval from a paired device teaches nothing and does not count towards `firstN`.
    const lasts = approved && result.device === undefined
    const counts = lasts && !isOutdated(task, run)
    const { learned, ops } = lasts ? await teach(deps, task, run) : { ops: [] }
    const item: TaskApproval = { ...result, ...(learned && { learned }) }
    const updated = counts ? { ...task, approval: { ...task.approval, approvedRuns: task.approval.approvedRuns + 1 } } : task
    const error = result.reason ? `The user rejected the result: ${result.reason}` : 'The user rejected the result.'
    const status = approved ? 'completed' as const : 'rejected' as const
    const review = approved ? 'approved' as const : 'rejected' as const
    const change = await executor.conclude(updated, run, approved ? { status, review } : { status, error, review })
    const events = change.events.map((event) => learned && event.type === 'task:complete' ? { ...event, learned } : event)
    return { ...change, events, ops, approvals: [item], answer: { item, status, continued: false } }
  }

  /**
   * Returns the change for whatever is overdue, or undefined if nothing is. A task ends at its end time. A run
   * with an expired approval ends: as completed if its result waited, otherwise as rejected.
   */
  async function expire (task: StoredTask): Promise<Change<undefined> | undefined> {
    if (endOf(task) <= clock.now()) return lifecycle.endInTime(task)
    if (task.waitsUntil === undefined || task.waitsUntil > clock.now()) return undefined
    for (const run of await waitingRuns(task)) {
      const items = await repository.open(run)
      const open = items.filter(isOfTask)
      const overdue = open.find(({ expiresAt }) => expiresAt <= clock.now())
      // A run that waits without readable items ends as well, because nobody could answer them.
      if (overdue !== undefined || items.length === 0) return endOverdue(task, run, open, overdue)
    }
    return undefined
  }

  async function endOverdue (task: StoredTask, run: StoredRun, open: TaskApproval[], overdue?: TaskApproval): Promise<Change<undefined>> {
    const after = open.reduce((current, item) => withDecision(current, run, item, { approved: false, expired: true }), task)
    const approvals = open.map((item) => inState(item, 'expired'))
    if (overdue?.kind === 'result' || run.runId === task.reviewRun?.runId) {
      return { ...await executor.conclude(after, run, { status: 'completed', review: 'expired' }), approvals }
    }
    const days = overdue && Math.round((overdue.expiresAt - overdue.createdAt) / 86_400_000 * 10) / 10
    const error = `Nobody answered ${days === undefined ? 'in time' : `within ${days} ${days === 1 ? 'day' : 'days'}`}.`
    const change: Change<undefined> = { ...await executor.conclude(after, run, { status: 'rejected', error }), approvals }
    if (task.status !== 'paused') return change
    // A task that was paused while its run waited stays paused.
    return { ...change, task: { ...change.task, status: 'paused', pausedReason: task.pausedReason } }
  }

  /** Ends what is overdue, then records the decision. */
  async function answer (taskId: string, body: Answering): Promise<Answer> {
    await repository.change(taskId, expire)
    return repository.change(taskId, (task) => decide(task, body))
  }

  /**
   * Stores the call of the application that `change` returns; undefined changes nothing. The run continues if the
   * call was its last open item.
   */
  const changeCall = (taskId: string, callId: string, change: (call: AppCall<{ taskId: string }>) => typeof call | undefined) =>
    repository.change(taskId, async (task): Promise<Change<Answered>> => {
      const before = await ledger.requireCall(callId, { taskId })
      const call = change(before)
      if (call === undefined) return { task, answer: { item: before, continued: false } }
      const run = await repository.run(task.id, call.runId)
      const isLast = !isUnanswered(call) && (await repository.open(run)).every(({ approvalId }) => approvalId === call.approvalId)
      const continued = isLast && task.status === 'pending_approval'
      return { ...(continued ? goOn(task, run) : { task }), approvals: [call], answer: { item: call, continued } }
    })

  return {
    /** Closes a call of the application if its time limit has passed. The model is then told that the call was not answered. */
    closeCall: (taskId: string, callId: string) => changeCall(taskId, callId, (call) => closeOverdue(call, clock.now())),

    /**
     * Decides an approval of the task. Throws NoQuestion, ApprovalDecided, ApprovalWithdrawn or WrongState (409), QuestionNotFound (404),
     * ApprovalExpired (410).
     */
    async approve (taskId: string, body: TaskApproveBody): Promise<TaskApproved> {
      const { item, status } = await answer(taskId, body)
      const { runId, approvalId } = item
      const learned = item.kind === 'result' ? item.learned : undefined
      return { ok: true, taskId, runId, approvalId, approved: body.approved, status, learned }
    },

    /**
     * Records a decision about an approval, or what the application reports about a call. Throws as `approve`, or as `requireCall` of the
     * ledger and `answerAppCall` do.
     */
    async answerItem (taskId: string, itemAnswer: ItemAnswer): Promise<Answered> {
      if (!('approved' in itemAnswer)) {
        return changeCall(taskId, itemAnswer.approvalId, (call) => answerAppCall(call, itemAnswer, clock.now()))
      }
      const { reason: notes, ...decision } = itemAnswer
      return answer(taskId, { ...decision, notes })
    },

    expire
  }
}
