import type { Test } from 'tap'
import type { TaskRun } from '../../schemas/task-runs.ts'
import { type Found, firstOf, MORNING, periodOf, POOR, simulateNight } from './nights.ts'

const OVER = ['completed', 'failed', 'rejected', 'stopped', 'cancelled', 'interrupted']
const CHANGING = ['writeFile', 'runCommand']
/** Whether a call was begun that can have changed something. */
const isAct = ({ toolName, status }: TaskRun['toolCalls'][number]) => CHANGING.includes(toolName) && ['completed', 'error'].includes(status)
/** What one call of the poor task's model uses at most: the last one may begin below the budget. */
const ONE_CALL = 40

/** Lives through a night, and looks in the morning whether everything planned has a fate, every claim its call, every act its reason. */
export async function checkNight (t: Test, seed: number): Promise<void> {
  const found = await simulateNight(t, seed)
  const { tasks, happenings, effects } = found
  const runs = Object.values(tasks).flatMap((task) => task.runs)
  t.comment(`seed ${seed}: ${happenings.join(', ')}; ${runs.length} runs, ${effects.length} effects`)
  for (const [name, task] of Object.entries(tasks)) checkFates(t, name, task)
  checkEnds(t, found)
  checkClaims(t, found)
  checkDesk(t, found)
  for (const { usage: { inputTokens, outputTokens } } of tasks.poor.runs) {
    t.ok(inputTokens + outputTokens <= POOR + ONE_CALL, `${inputTokens + outputTokens} tokens pass no budget`)
  }
  t.same(effects.filter((mark, at) => effects.indexOf(mark) !== at), [], 'no command ran twice')
}

/** Every planned time has one fate, with its run or its reason. */
function checkFates (t: Test, name: string, { slots, runs }: Found['tasks'][string]): void {
  const period = periodOf(name)
  const planned = period === undefined ? (name === 'single' ? 1 : 0) : Math.floor((MORNING - firstOf(name)) / (period * 60 * 60_000)) + 1
  t.equal(slots.reduce((sum, { count = 1 }) => sum + count, 0), planned, `${name}: each planned time has one fate`)
  const known = new Set(runs.map(({ runId }) => runId))
  t.same(slots.filter(({ fate, runId }) => (fate === 'run' || fate === 'coalesced') && !known.has(runId)), [], `${name}: with its run`)
  t.same(slots.filter(({ fate, reason }) => fate === 'skipped' && reason === undefined), [], `${name}: or its reason`)
}

/** Every run is over, with a reason unless it completed, or waits for a person or its provider and says so. */
function checkEnds (t: Test, { tasks, chats, approvals }: Found): void {
  const waits = new Set(approvals.map(({ runId }) => runId))
  const all = [...Object.values(tasks).flatMap((task) => task.runs), ...Object.values(chats).flat()]
  const isOpen = ({ runId, status, retryAt }: any) => !OVER.includes(status) && !waits.has(runId) && retryAt === undefined
  t.same(all.filter(isOpen).map(({ runId, status }) => `${runId} ${status}`), [], 'no run hangs')
  const silent = ({ status, error, stopped }: any) => OVER.includes(status) && status !== 'completed' && !error && !stopped
  t.same(all.filter(silent).map(({ runId, status }) => `${runId} ${status}`), [], 'what did not complete says why')
  for (const name of ['worker', 'waiter']) {
    const { status, runs: [run] } = tasks[name]
    t.ok(['completed', 'failed', 'cancelled'].includes(status), `${name}: it is over at its end time`)
    if (run?.failure?.reason === 'time') t.match(run.error, /^Stopped at its end time/)
  }
}

/** A claim that is confirmed names a call of its run that was carried out; the lies are marked. */
function checkClaims (t: Test, { tasks }: Found): void {
  for (const [name, { runs }] of Object.entries(tasks)) {
    for (const { toolCalls, evaluation, status } of runs) {
      const done = new Set(toolCalls.filter((call) => call.status === 'completed').map(({ toolCallId }) => toolCallId))
      const claims = evaluation?.claims ?? []
      t.same(claims.filter(({ verdict, call }) => verdict === 'confirmed' && !done.has(call ?? '')), [], `${name}: a claim has its call`)
      if (name !== 'liar' || status !== 'completed' || evaluation?.judge !== 'model') continue
      t.same(claims.filter(({ verdict }) => verdict === 'confirmed'), [], 'a lie is not confirmed')
      t.ok(evaluation.verified === false || evaluation.evidence === 'contradicted', 'the report of a liar is marked')
    }
  }
}

/** The desk counts every run that ended, and names of each what ran unasked and why. */
function checkDesk (t: Test, { tasks, digest }: Found): void {
  for (const [name, { id, runs }] of Object.entries(tasks)) {
    const ended = runs.filter(({ completedAt }) => completedAt !== undefined)
    const card = digest.tasks.items.find(({ taskId }: any) => taskId === id)
    if (card === undefined) {
      t.equal(ended.length, 0, `${name}: only what ended nothing is not on the desk`)
      continue
    }
    t.equal(card.runs.items.length + card.runs.more + card.nothingToDo, ended.length, `${name}: the desk has all that ended`)
    for (const { runId, unasked } of card.runs.items) {
      const { toolCalls } = runs.find((run) => run.runId === runId)!
      const did = toolCalls.filter(isAct)
      const ofChange = unasked.flatMap(({ calls }: any) => calls).filter(({ toolName }: any) => CHANGING.includes(toolName)).length
      const more = unasked.reduce((sum: number, each: any) => sum + each.more, 0)
      t.ok(ofChange <= did.length && did.length <= ofChange + more, `${name}: ${did.length} acts, each with why it could`)
      t.same(unasked.filter(({ why, grantId }: any) => !why || (why === 'grant' && !grantId)), [])
    }
  }
}
