import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { createThreadRepository, type ThreadMessage } from '../../../services/threads/thread-repository.ts'
import { testStore } from '../../harness/store.ts'

const user = (content: string): ThreadMessage => ({ role: 'user', content })
const assistant = (content: string): ThreadMessage => ({ role: 'assistant', content })

async function setUp (t: Parameters<typeof testStore>[0]) {
  const store = await testStore(t)
  const threads = createThreadRepository({ store, clock: systemClock, readAnswer: async () => ({ role: 'assistant' }) })
  /** One exchange: what the client sends, what the agent answers. */
  const exchange = async (said: ThreadMessage[], answer: string) => {
    const { ops, answerAt } = await threads.appendRequest('chat', await threads.place('chat', { messages: said }))
    await store.transact(ops)
    await store.transact(await threads.appendAnswer('chat', answerAt, [assistant(answer)]))
    return threads.messages('chat')
  }
  return { threads, exchange, store }
}

t.test('a thread grows by what is new, however the client tells what was', async (t) => {
  const { exchange } = await setUp(t)
  await exchange([user('one')], 'first')
  const held = await exchange([user('one'), assistant('first, as the client remembers it'), user('two')], 'second')
  t.same(held, [user('one'), assistant('first'), user('two'), assistant('second')])
})

t.test('saying the last thing again replaces its answer', async (t) => {
  const { exchange } = await setUp(t)
  await exchange([user('one')], 'first')
  await exchange([user('one'), assistant('first'), user('two')], 'second, and long')
  t.same(await exchange([user('one'), assistant('first'), user('two')], 'another'), [
    user('one'),
    assistant('first'),
    user('two'),
    assistant('another')
  ])
})

t.test('a lone message takes nothing away, said again or new', async (t) => {
  const { exchange } = await setUp(t)
  await exchange([user('one')], 'first')
  t.same(await exchange([user('one')], 'once more'), [user('one'), assistant('first'), user('one'), assistant('once more')])
  t.equal((await exchange([user('two')], 'second')).length, 6)
})

t.test('a lone message replaces itself where its id or the chat says that it is the first again, or when it waits for its ' +
  'answer', async (t) => {
  const { exchange, threads, store } = await setUp(t)
  await exchange([{ ...user('one'), id: 'm1' }], 'first')
  t.same(await exchange([{ ...user('eins'), id: 'm1' }], 'erste'), [{ ...user('eins'), id: 'm1' }, assistant('erste')])
  const again = { messages: [user('eins')], trigger: 'regenerate-message' }
  const regenerate = await threads.appendRequest('chat', await threads.place('chat', again))
  t.equal(regenerate.answerAt, 1)
  const hi = { messages: [user('hi')] }
  await store.transact((await threads.appendRequest('other', await threads.place('other', hi))).ops)
  t.equal((await threads.appendRequest('other', await threads.place('other', hi))).answerAt, 1, 'its run never answered')
})

t.test('a client that keeps only the newest messages goes on where they are', async (t) => {
  const { exchange } = await setUp(t)
  const said: ThreadMessage[] = []
  for (const text of ['one', 'two', 'three']) {
    await exchange([...said, user(text)], `answer to ${text}`)
    said.push(user(text), assistant(`answer to ${text}`))
  }
  const held = await exchange([...said.slice(2), user('four')], 'answer to four')
  t.same(held, [...said, user('four'), assistant('answer to four')])
})

t.test('a text and its one part say the same', async (t) => {
  const { exchange } = await setUp(t)
  await exchange([user('one')], 'first')
  const parts = (text: string) => ({ role: 'user', id: text, parts: [{ type: 'text', text }] })
  t.same(await exchange([parts('one'), assistant('first'), parts('two')], 'second'), [
    user('one'),
    assistant('first'),
    parts('two'),
    assistant('second')
  ])
})

t.test('an edited message replaces it and what followed', async (t) => {
  const { exchange } = await setUp(t)
  await exchange([user('one')], 'first')
  await exchange([user('one'), assistant('first'), user('two')], 'second')
  t.same(await exchange([user('one'), assistant('first'), user('zwei')], 'zweite'), [
    user('one'),
    assistant('first'),
    user('zwei'),
    assistant('zweite')
  ])
})

t.test('a client that keeps no history loses none', async (t) => {
  const { exchange } = await setUp(t)
  await exchange([user('one')], 'first')
  t.same(await exchange([user('two')], 'second'), [user('one'), assistant('first'), user('two'), assistant('second')])
})

t.test('unknown fields of messages are kept, other threads untouched, and no id lies readable', async (t) => {
  const { threads, exchange, store } = await setUp(t)
  const odd = { ...user('one'), id: 'm1', metadata: { nested: [1, null] } }
  t.same((await exchange([odd], 'first'))[0], odd)
  t.same(await threads.messages('another'), [])
  for await (const [key] of store.list('')) t.notMatch(key, /chat|one|first/)
})
