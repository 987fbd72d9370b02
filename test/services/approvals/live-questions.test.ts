import t, { type Test } from 'tap'
import { createLedger } from '../../../services/approvals/ledger.ts'
import { createLiveQuestions, type LiveRequest } from '../../../services/approvals/questions/live-questions.ts'
import { Aborted } from '../../../services/lib/abort.ts'
import { fakeClock } from '../../harness/clock.ts'
import { testStore } from '../../harness/store.ts'

const ROME = { approved: true, answers: { city: 'Rome' } }
const QUESTIONS = [{ id: 'city', text: 'Which city?', required: true }]

async function service (t: Test) {
  const clock = fakeClock()
  const store = await testStore(t, clock)
  const ledger = createLedger({ store, clock })
  const start = () => createLiveQuestions({ ledger, store, clock })
  const live = start()
  const list = async () => (await ledger.list({ limit: 50 })).approvals
  /** Asks, and returns the id of the questions and what becomes of them. */
  async function ask (request: Partial<LiveRequest> = {}) {
    const asked = Promise.withResolvers<string>()
    const outcome = live.ask({
      owner: { threadId: 'chat' },
      runId: 'run',
      toolCallId: 'call',
      questions: QUESTIONS,
      signal: new AbortController().signal,
      changed: ({ approvalId }) => asked.resolve(approvalId),
      ...request
    })
    outcome.catch(asked.reject)
    return { id: await asked.promise, outcome }
  }
  return { clock, live, start, list, ask }
}

t.test('a call that keeps running asks, is listed, and gets the answers; the first answer is kept', async (t) => {
  const { live, list, ask } = await service(t)
  const { id, outcome } = await ask()
  const shown = { kind: 'question', threadId: 'chat', toolCallId: 'call', questions: QUESTIONS, live: true, state: 'pending' }
  t.match(await list(), [{ approvalId: id, ...shown }])
  const answer = (answers?: Record<string, string>) => live.decide(id, { approvalId: id, approved: answers !== undefined, answers })
  await t.rejects(answer({ town: 'Rome' }), { code: 'ERR_INVALID_ANSWERS', message: /"town".*"city".*needs an answer/ })
  t.equal((await answer({ city: 'Rome' })).state, 'answered')
  t.same(await outcome, { is: 'answered', answers: { city: 'Rome' } })
  t.equal((await answer({ city: 'Rome' })).state, 'answered', 'the same answer again')
  await t.rejects(answer({ city: 'Oslo' }), { code: 'ERR_APPROVAL_DECIDED', message: /answered with {"city":"Rome"}/ })
  await t.rejects(answer(), { code: 'ERR_APPROVAL_DECIDED' })
  t.same(await list(), [])
})

t.test('declining is no answer, and neither is silence', async (t) => {
  const { clock, live, list, ask } = await service(t)
  const declined = await ask()
  await live.decide(declined.id, { approvalId: declined.id, approved: false, reason: 'None of your business.' })
  t.same(await declined.outcome, { is: 'declined', reason: 'None of your business.' })

  const silent = await ask({ owner: { taskId: 'task' } })
  await clock.advance(10 * 60_000 - 1)
  t.equal((await list()).length, 1)
  await clock.advance(1)
  t.same(await silent.outcome, { is: 'unanswered' })
  t.same(await list(), [])
  await t.rejects(live.decide(silent.id, { approvalId: silent.id, ...ROME }), { code: 'ERR_APPROVAL_EXPIRED' })
})

t.test('questions end with their call, and with the process that asked them', async (t) => {
  const { live, start, list, ask } = await service(t)
  const controller = new AbortController()
  const stopped = await ask({ signal: controller.signal })
  controller.abort(new Aborted('stop', 'stopped'))
  await t.rejects(stopped.outcome, { message: 'stopped' })
  t.same(await list(), [])
  await t.rejects(live.decide(stopped.id, { approvalId: stopped.id, ...ROME }), { code: 'ERR_APPROVAL_WITHDRAWN' })

  const { id } = await ask()
  t.equal((await list()).length, 1)
  const next = start()
  await next.clean()
  t.same(await list(), [], 'the next process has no such call')
  await t.rejects(next.decide(id, { approvalId: id, approved: false }), { code: 'ERR_APPROVAL_WITHDRAWN' })
})

t.test('questions that cannot be asked are refused', async (t) => {
  const { ask, list } = await service(t)
  await t.rejects(ask({ questions: [] }), { code: 'ERR_TOOL_FAILED', message: /fewer than 1/ })
  await t.rejects(ask({ questions: [QUESTIONS[0], QUESTIONS[0]] }), { message: /two questions have the id "city"/ })
  t.same(await list(), [])
})
