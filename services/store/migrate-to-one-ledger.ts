import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/canonical-json.ts'
import { historyKey } from './keys.ts'
import type { Migration, OldData, Op } from './store-types.ts'

// Schema 1 kept the approvals of tasks in the records of their runs, as `questions`; schema 2 keeps all approvals in the ledger.
// The shapes and keys below are those of the two schemas; they do not follow later changes of the code.

interface OldApproval {
  kind?: 'tool'
  expiresAt: number
}

interface OldQuestion {
  approvalId: string
  kind: 'tool' | 'result'
  state: 'open' | 'approved' | 'rejected' | 'withdrawn'
  createdAt: number
  expiresAt: number
  toolCallId?: string
  tool?: string
  input?: unknown
  cwd?: string
  folder?: object
  identity?: string
  /** Why it was asked again. */
  reason?: string
  output?: string
  notes?: string
}

interface OldRun {
  runId: string
  status: string
  /** Absent in schema 2. */
  questions?: OldQuestion[]
}

interface OldTask {
  id: string
  cwd: string
  liveRun?: { runNumber: number }
  approvalHistory: Array<{ approvalId: string, runNumber: number, approved: boolean, expired?: boolean }>
}

/** Operations of one batch; a batch holds at least all changes of one run. */
const BATCH = 100

export const oneLedger: Migration = {
  to: 2,
  async * migrate (data) {
    yield * conversations(data)
    for await (const [, task] of data.list<OldTask>('task/')) yield * ofTask(data, task)
  }
}

/** Adds the kind to the approvals of conversations and to the index of the open ones. */
async function * conversations (data: OldData): AsyncGenerator<Op[]> {
  const ops: Op[] = []
  for await (const [key, approval] of data.list<OldApproval>('approval/')) {
    if (approval.kind !== undefined) continue
    ops.push({ type: 'put', key, value: { ...approval, kind: 'tool' } })
    if (ops.length >= BATCH) yield ops.splice(0)
  }
  for await (const [key, entry] of data.list<{ kind?: string }>('open-approval/')) {
    if (entry.kind !== undefined) continue
    const approval = await data.get<OldApproval>(key.replace('open-', ''))
    ops.push(approval === undefined ? { type: 'del', key } : opened(key, 'tool', approval))
    if (ops.length >= BATCH) yield ops.splice(0)
  }
  if (ops.length > 0) yield ops
}

/**
 * Moves the questions of a task's runs. Only the live run and the runs of the approval history are read: in no other run could
 * a question be found by its id.
 */
async function * ofTask (data: OldData, task: OldTask): AsyncGenerator<Op[]> {
  const { id, liveRun, approvalHistory } = task
  const ops: Op[] = []
  for (const runNumber of new Set([...liveRun ? [liveRun.runNumber] : [], ...approvalHistory.map((entry) => entry.runNumber)])) {
    const key = historyKey('task-run', id, runNumber)
    const stored = await data.get<OldRun>(key)
    if (stored?.questions === undefined || stored.questions.length === 0) continue
    const { questions, ...run } = stored
    ops.push({ type: 'put', key, value: { ...run, asked: questions.map(({ approvalId }) => approvalId) } })
    for (const question of questions) {
      ops.push({ type: 'put', key: `task-approval/${question.approvalId}`, value: approvalOf(question, questions, run, task) })
    }
    const open = questions.filter(({ state }) => state === 'open')
    if (open.length > 0 && run.status === 'pending_approval' && runNumber === liveRun?.runNumber) {
      ops.push(...open.map((question) => opened(`open-approval/${question.approvalId}`, question.kind, question)), {
        type: 'put',
        key: `task/${id}`,
        value: {
          ...task,
          waitingFor: open.map(({ kind, approvalId }) => ({ kind, id: approvalId })),
          waitsUntil: Math.min(...open.map(({ expiresAt }) => expiresAt))
        }
      })
    }
    if (ops.length >= BATCH) yield ops.splice(0)
  }
  if (ops.length > 0) yield ops
}

const opened = (key: string, kind: string, { expiresAt }: { expiresAt: number }): Op => ({ type: 'put', key, value: { kind, expiresAt } })

/** Returns the question as an approval of the ledger. */
function approvalOf (question: OldQuestion, all: OldQuestion[], { runId }: Pick<OldRun, 'runId'>, { id, cwd, approvalHistory }: OldTask) {
  const { approvalId, kind, state, createdAt, expiresAt, notes } = question
  const decision = approvalHistory.find((entry) => entry.approvalId === approvalId)
  // Questions that were asked together have the same time.
  const segment = [...new Set(all.map((other) => other.createdAt))].indexOf(createdAt)
  const approved = state === 'approved' || state === 'withdrawn' ? true : decision?.expired ? undefined : decision?.approved
  const item = {
    approvalId,
    kind,
    taskId: id,
    runId,
    segment,
    createdAt,
    expiresAt,
    state: stateOf(question, decision),
    ...(approved !== undefined && { approved }),
    ...(notes !== undefined && { reason: notes })
  }
  if (kind === 'result') return { ...item, output: question.output }
  const { toolCallId, tool, input, folder, identity, reason } = question
  const next = all.slice(all.indexOf(question) + 1).find((other) => other.toolCallId === toolCallId)
  return {
    ...item,
    toolCallId,
    toolName: tool,
    input,
    digest: createHash('sha256').update(canonicalJson(input)).digest('hex'),
    cwd: question.cwd ?? cwd,
    ...(folder !== undefined && { folder }),
    ...(identity !== undefined && { identity }),
    ...(reason !== undefined && { note: reason }),
    ...(state === 'withdrawn' && next !== undefined && { replacedBy: next.approvalId })
  }
}

/** A run that ended rejected its open questions without a decision. */
function stateOf ({ kind, state }: OldQuestion, decision: { expired?: boolean } | undefined): string {
  switch (state) {
    case 'open':
      return 'pending'
    case 'rejected':
      return decision?.expired ? 'expired' : decision === undefined && kind === 'tool' ? 'withdrawn' : 'denied'
    case 'approved':
    case 'withdrawn':
      return state
  }
}
