import t from 'tap'
import { withPage, type LoadedMessages } from '../../console/pages/chat/thread/loaded-messages.ts'

t.test('a page that is read again replaces what it covers, and older messages stay', async (t) => {
  const page = (from: number, ids: string, text = ''): LoadedMessages =>
    ({ from, messages: [...ids].map((id) => ({ id, role: 'user', parts: [{ type: 'text', text }] })) })
  const join = (a: LoadedMessages, b: LoadedMessages) => {
    const { from, messages } = withPage(a, b)
    return `${from} ${messages.map(({ id, parts: [part] }) => part.type === 'text' ? id + part.text : '').join('')}`
  }
  t.equal(join(page(2, 'cdef'), page(4, 'efg', '!')), '2 cde!f!g!')
  t.equal(join(page(2, 'cdef'), page(8, 'ij')), '8 ij', 'a gap would hide messages')
  t.equal(join(page(2, 'cdef'), page(0, 'ab')), '0 ab', 'the thread was cut')
  t.equal(join(page(0, ''), page(0, 'ab')), '0 ab')
  t.equal(join(page(4, 'cd'), page(6, 'd')), '4 cd', 'an answer may have several positions')
})
