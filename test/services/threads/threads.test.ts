import t from 'tap'
import { systemClock } from '../../../services/clock/clock.ts'
import { createThreads, type ThreadMessage } from '../../../services/threads/threads.ts'
import { testStore } from '../../store.ts'

const user = (content: string): ThreadMessage => ({ role: 'user', content })
const assistant = (content: string): ThreadMessage => ({ role: 'assistant', content })

async function setUp (t: Parameters<typeof testStore>[0]) {
  const store = await testStore(t)
  const threads = createThreads({ store, clock: systemClock })
  /** One exchange: what the client sends, what the agent answers. */
  const exchange = async (said: ThreadMessage[], answer: string) => {
    const { ops, answerAt } = await threads.take('chat', said)
    await store.transact(ops)
    await store.transact(await threads.answer('chat', answerAt, [assistant(answer)]))
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
  t.same(await exchange([user('one'), assistant('first'), user('two')], 'another'), [user('one'), assistant('first'), user('two'), assistant('another')])
  t.same(await exchange([user('one')], 'all anew'), [user('one'), assistant('all anew')])
})

t.test('an edited message replaces it and what followed', async (t) => {
  const { exchange } = await setUp(t)
  await exchange([user('one')], 'first')
  await exchange([user('one'), assistant('first'), user('two')], 'second')
  t.same(await exchange([user('one'), assistant('first'), user('zwei')], 'zweite'), [user('one'), assistant('first'), user('zwei'), assistant('zweite')])
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
  for await (const [key] of store.list('')) t.notMatch(key, 'chat')
})
