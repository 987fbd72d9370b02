import t from 'tap'
import { withPage } from '../../console/pages/chat/thread/loaded-messages.ts'
import { shownMessages } from '../../console/pages/chat/thread/stored-messages.ts'

t.test('messages of every client are shown, each at its place', async (t) => {
  const own = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }
  const result = (toolCallId: string, output: object) => ({ type: 'tool-result', toolCallId, toolName: 'readFile', output })
  const call = (toolCallId: string) => ({ type: 'tool-call', toolCallId, toolName: 'readFile', input: { path: 'a' } })
  const shown = shownMessages([
    own,
    { role: 'user', content: 'Read a' },
    { role: 'assistant', content: [{ type: 'text', text: 'I do.' }, ...['c1', 'c2', 'c3', 'c4'].map(call)] },
    {
      role: 'tool',
      content: [
        result('c1', { type: 'json', value: { text: 'x' } }),
        result('c2', { type: 'error-text', value: 'no such file' }),
        result('c3', { type: 'execution-denied', reason: 'not now' })
      ]
    }
  ], 7)
  t.same(shown.map(({ id }) => id), ['m1', 'message 8', 'message 9', 'message 10'])
  t.same(shown.map(({ role }) => role), ['user', 'user', 'assistant', 'assistant'])
  t.equal(shown[0].parts, own.parts)
  t.same(shown[1].parts, [{ type: 'text', text: 'Read a', state: 'done' }])
  t.match(shown[2].parts, [
    { type: 'text', text: 'I do.' },
    { type: 'tool-readFile', state: 'output-available', input: { path: 'a' }, output: { text: 'x' } },
    { state: 'output-error', errorText: 'no such file' },
    { state: 'output-denied', approval: { reason: 'not now' } },
    { state: 'input-available' }
  ])
  t.same(shown[3].parts, [], 'results belong to their calls')
})

t.test('a page that is read again replaces what it covers, and older messages stay', async (t) => {
  const page = (from: number, ids: string) => {
    const stored = [...ids].map((id) => ({ id, role: 'user', parts: [] }))
    return { from, messages: shownMessages(stored, from) }
  }
  const join = (a: ReturnType<typeof page>, b: ReturnType<typeof page>) => {
    const { from, messages } = withPage(a, b)
    return `${from} ${messages.map(({ id }) => id).join('')}`
  }
  t.equal(join(page(2, 'cdef'), page(4, 'EFG')), '2 cdEFG')
  t.equal(join(page(2, 'cdef'), page(6, 'gh')), '2 cdefgh')
  t.equal(join(page(2, 'cdef'), page(8, 'ij')), '8 ij', 'a gap would hide messages')
  t.equal(join(page(2, 'cdef'), page(0, 'AB')), '0 AB', 'the thread was cut')
})
