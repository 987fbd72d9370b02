import t from 'tap'
import { inputDigest } from '../../../../services/lib/canonical-json.ts'
import type { CallEnd } from '../../../../services/runs/gate/call-end.ts'
import type { AppCallItem, QuestionItem, ToolItem, WaitingCall } from '../../../../services/contracts/approval-record.ts'
import type { Call } from '../../../../services/contracts/tool.ts'
import { settleCalls } from '../../../../services/runs/gate/settle-calls.ts'
import { NOTHING_KEPT } from '../../../../services/tools/kept-call.ts'
import { approvalItem, HERE, makeStep } from './step.ts'
import { OUTCOME_UNKNOWN } from '../../../../services/contracts/model-texts.ts'

const THERE = { path: '/there', dev: '1', ino: '2' }
const approved = approvalItem('approved')
const item = { approvalId: 'b', runId: 'run', segment: 0, createdAt: 0, expiresAt: 1, toolCallId: 'call' }
const byUser = (answers: QuestionItem['answers']): QuestionItem =>
  ({ ...item, kind: 'question', state: 'answered', questions: [], answers })
const byApp = (state: AppCallItem['state'], more: Partial<AppCallItem> = {}): AppCallItem =>
  ({ ...item, kind: 'app', state, toolName: 'app', input: {}, digest: '', ...more })
const call = (toolName: string, toolCallId = toolName): Call => ({ toolCallId, toolName, input: {} })

/** A step with the tools `look` (a read), `change` and `ask` (which needs an approval); `happened` says what happened. */
function steps (
  { approvals = {}, answers = {}, ...more }: Parameters<typeof makeStep>[0] & {
    approvals?: Record<string, ToolItem>,
    answers?: Record<string, QuestionItem | AppCallItem>
  } = {}
) {
  const happened: string[] = []
  const ends: Record<string, CallEnd> = {}
  const step = makeStep({
    itemsOf: (id) => ({ approval: approvals[id], answer: answers[id] }),
    async begin ({ toolCallId }, isDurable) {
      if (isDurable) happened.push(`intent ${toolCallId}`)
      return true
    },
    async end ({ toolCallId }, end) {
      happened.push(`end ${toolCallId}`)
      ends[toolCallId] = end
    },
    ...more,
    tools: {
      find: (name) => ({
        policy: { effect: name.startsWith('look') ? 'read' : 'write' },
        execute: name.includes('-app') ? { by: 'app', app: 'editor', ms: 5 } : { by: name === 'look-user' ? 'user' : undefined }
      }) as never,
      permission: (name) => name.startsWith('ask') ? 'ask' : 'allow',
      identity: () => 'one',
      async execute ({ callId }) {
        happened.push(`run ${callId}`)
        return { status: 'completed', output: {}, durationMs: 1 }
      },
      ...more.tools
    }
  })
  return { step, happened, ends }
}
const idsOf = (asked: WaitingCall[]) => asked.map(({ toolCallId }) => toolCallId)

t.test('the intent of a call is stored before its tool starts, but for reads that nobody approved', async (t) => {
  const { step, happened } = steps({ approvals: { 'look-2': approved } })
  await settleCalls([call('look'), call('change'), call('look-2')], step)
  t.same(happened, [
    'run look', 'end look',
    'intent change', 'run change', 'end change',
    'intent look-2', 'run look-2', 'end look-2'
  ])
})

t.test('a call that was begun before never runs again, whether its intent or its approval says so', async (t) => {
  const { step, happened, ends } = steps({
    begun: new Set(['change']),
    approvals: { ask: approvalItem('executing') }
  })
  await settleCalls([call('change'), call('ask')], step)
  t.same(happened, ['end change', 'end ask'])
  for (const end of Object.values(ends)) t.match(end, { state: 'unknown', event: { type: 'tool-error', errorText: OUTCOME_UNKNOWN } })
})

t.test('a granted call whose path leads elsewhere by the time its files were kept asks instead', async (t) => {
  const grant = { grantId: 'g' } as never
  const covering = async () => ({ folder: HERE, grant, paths: ['/granted/a.txt'] })
  const { step, happened } = steps({ grants: { covering } })
  let discarded = 0
  const keptAt = (path: string) => async () => ({ ...NOTHING_KEPT, paths: [path], discard: async () => void discarded++ })
  step.tools.keep = keptAt('/elsewhere/a.txt')
  t.same(idsOf((await settleCalls([call('ask')], step)).asked), ['ask'])
  t.same(happened, [])
  t.equal(discarded, 1)
  step.tools.keep = keptAt('/granted/a.txt')
  t.same((await settleCalls([call('ask')], step)).asked, [])
  t.same(happened, ['intent ask', 'run ask', 'end ask'])
})

t.test('a granted call is bound to the tool that the grant was for, though another one takes its name meanwhile', async (t) => {
  const grant = { grantId: 'g', identity: 'one' } as never
  const { step } = steps({ grants: { covering: async () => ({ folder: HERE, grant }) } })
  step.tools.identity = () => 'two'
  const identities: unknown[] = []
  step.tools.execute = async ({ identity }) => {
    identities.push(identity)
    return { status: 'completed', output: {}, durationMs: 1 }
  }
  await settleCalls([call('ask')], step)
  t.same(identities, ['one'])
})

t.test('a denied call and an expired one are refused, and so is a call that the model repeats', async (t) => {
  const again = { ...call('ask', 'again'), input: { path: 'a' } }
  const { step, ends } = steps({
    approvals: { denied: approvalItem('denied'), expired: approvalItem('expired') },
    refused: [{ toolName: 'ask', input: again.input, digest: inputDigest(again.input) }]
  })
  const { asked } = await settleCalls([call('ask', 'denied'), call('ask', 'expired'), again, call('ask', 'other')], step)
  t.match(ends, {
    denied: { state: 'denied', event: { type: 'tool-denied', reason: 'no', approvalId: 'a' } },
    expired: { state: 'expired', event: { type: 'tool-denied', reason: 'Nobody answered in time.' } },
    again: { state: 'denied', event: { type: 'tool-denied', reason: /earlier/ } }
  })
  t.same(idsOf(asked), ['other'])
})

t.test('no call runs while another one of the step waits for its answer', async (t) => {
  const { step, happened } = steps({ approvals: { first: approved, second: approvalItem('pending') } })
  t.same(await settleCalls([call('ask', 'first'), call('ask', 'second'), call('look')], step), { asked: [], isWaiting: true })
  t.same(happened, [])
})

t.test('approved calls behind one whose folder has moved wait until it is asked about anew', async (t) => {
  const { step, happened } = steps({ approvals: { a: approved, b: approved, c: approved } })
  let calls = 0
  step.tools.folders.whereabouts = async () => calls++ === 1 ? { is: 'moved', to: THERE } : { is: 'same' }
  const { asked } = await settleCalls([call('ask', 'a'), call('ask', 'b'), call('ask', 'c')], step)
  t.same(happened, ['intent a', 'run a', 'end a'])
  t.match(asked, [{ toolCallId: 'b', cwd: '/there', folder: { ino: '2' }, note: /"\/here" when this was asked, and is "\/there"/ }])
  t.equal(asked.length, 1)
})

t.test('a call whose tool needs an approval by the time of its turn is asked about, in the order of the calls', async (t) => {
  let isChanged = false
  const { step, happened } = steps({
    tools: { permission: (name) => name === 'ask' || (isChanged && name === 'change') ? 'ask' : 'allow' },
    async begin () {
      isChanged = true
      return true
    }
  })
  const { asked } = await settleCalls([call('change', 'first'), call('change', 'second'), call('ask')], step)
  t.same(happened, ['run first', 'end first'])
  t.match(asked, [{ toolCallId: 'second', identity: 'one' }, { toolCallId: 'ask' }])
})

t.test('of interrupted calls, changes are in doubt; reads are too, unless they are repeated when the run continues', async (t) => {
  for (const repeatsReads of [true, false]) {
    for (const tool of ['look', 'change']) {
      const { step, ends } = steps({ repeatsReads })
      step.tools.execute = async () => {
        throw new Error('stopped')
      }
      await t.rejects(settleCalls([call(tool)], step), { message: 'stopped' })
      t.equal(ends[tool]?.state, tool === 'look' && repeatsReads ? undefined : 'unknown')
    }
  }
})

t.test('after an abort no further call begins', async (t) => {
  const stop = new AbortController()
  const { step, happened } = steps({ run: { runId: 'run', owner: 'thread', attempt: 1, cwd: HERE.path, signal: stop.signal } })
  step.end = async () => stop.abort(new Error('stopped'))
  await t.rejects(settleCalls([call('change', 'first'), call('change', 'second')], step), { message: 'stopped' })
  t.same(happened, ['intent first', 'run first'])
})

t.test('approvals and questions come first; calls of the application are handed out when all of them are decided', async (t) => {
  const calls = ['look', 'ask', 'look-user', 'look-app', 'ask-app'].map((name) => call(name))
  const first = steps()
  const { asked, isWaiting } = await settleCalls(calls, first.step)
  t.same(asked.map(({ kind, toolCallId }) => [kind, toolCallId]), [['tool', 'ask'], ['question', 'look-user'], ['tool', 'ask-app']])
  t.equal(isWaiting, true)
  t.same(first.happened, ['run look', 'end look'])

  const answers = { 'look-user': byUser({ colour: 'red' }) }
  const second = steps({ approvals: { ask: approved, 'ask-app': approved }, answers })
  const handedOut = await settleCalls(calls.slice(1), second.step)
  t.match(handedOut.asked, [{ kind: 'app', toolCallId: 'look-app', app: 'editor', ms: 5 }, { kind: 'app', toolCallId: 'ask-app' }])
  t.same(second.happened, ['end look-user', 'intent ask', 'run ask', 'end ask'])
  t.match(second.ends['look-user'], { state: 'done', event: { type: 'tool-output', output: { answers: { colour: 'red' } } } })
})

t.test('a call of the application is never executed here, and ends with what the ledger knows of it', async (t) => {
  const calls = ['look-app', 'look-app-2', 'look-app-3'].map((name) => call(name))
  const waiting = steps({ answers: { 'look-app': byApp('done'), 'look-app-2': byApp('open') } })
  t.same(await settleCalls(calls.slice(0, 2), waiting.step), { asked: [], isWaiting: true })
  t.same(waiting.happened, [])

  const { step, happened, ends } = steps({
    answers: {
      'look-app': byApp('done', { output: { ok: 1 } }),
      'look-app-2': byApp('error', { errorText: 'No such document.' }),
      'look-app-3': byApp('unknown')
    }
  })
  t.same(await settleCalls(calls, step), { asked: [], isWaiting: false })
  t.same(happened, ['end look-app', 'end look-app-2', 'end look-app-3'])
  t.match(ends['look-app'], { state: 'done', event: { type: 'tool-output', output: { ok: 1 } } })
  t.match(ends['look-app-2'], { state: 'done', event: { type: 'tool-error', errorText: 'No such document.' } })
  t.match(ends['look-app-3'], { state: 'unknown', event: { type: 'tool-error', errorText: OUTCOME_UNKNOWN } })
})

t.test('a granted call of the application is handed out unasked, with the use of its grant stored first', async (t) => {
  const grant = { grantId: 'g' } as never
  const { step, happened } = steps({ grants: { covering: async () => ({ folder: HERE, grant }) } })
  t.match((await settleCalls([call('ask-app')], step)).asked, [{ kind: 'app', toolCallId: 'ask-app' }])
  t.same(happened, ['intent ask-app'])
  step.begin = async () => false
  t.match((await settleCalls([call('ask-app')], step)).asked, [{ kind: 'tool', toolCallId: 'ask-app' }])
})
