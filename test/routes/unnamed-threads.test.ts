import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { asked, of, say, sayAll } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { parseEvents, textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

/** Each costs a model call and the digests of all turns before it. */
const TURNS = 40

const get = async (app: App, url: string) => (await app.inject(url)).json()
const thread = (app: App, id: string) => get(app, `/threads/${id}`)
const user = (content: string) => ({ role: 'user', content })

t.test('a run without an id goes on with the thread that holds what its messages say', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => ({ text: `answer  ${nth}\n` }))
  const first = await say(app, 'hi')
  const other = await say(app, 'hi')
  const id = first.headers['x-thread-id']
  const history = [user(' hi\n'), { role: 'assistant', content: 'answer 0' }]
  const second = await sayAll(app, [...history, user('and then?')])
  t.equal(second.headers['x-thread-id'], id, 'blanks do not count')
  t.not(other.headers['x-thread-id'], id, 'two conversations that begin with the same words stay two')
  t.equal((await thread(app, id)).messageCount, 4)
  t.equal((await thread(app, other.headers['x-thread-id'])).messageCount, 2)

  const edited = await sayAll(app, [...history, user('no, else')])
  const again = await sayAll(app, [...history, user('no, else')])
  t.same([edited, again].map(({ headers }) => headers['x-thread-id']), [id, id], 'an edited and a repeated message stay in it')
  t.match(await thread(app, id), { messageCount: 4, messages: [{}, {}, user('no, else'), { content: [{ text: /^answer +4/ }] }] })
  const { versions } = await get(app, `/threads/${id}/versions`)
  t.same(versions.map(({ text }: any) => text), ['and then?', 'no, else'], 'what they replace is kept')

  const strangers = await sayAll(app, [user('hi'), { role: 'assistant', content: 'something else' }, user('and then?')])
  t.notOk([first, other].some(({ headers }) => headers['x-thread-id'] === strangers.headers['x-thread-id']))
  const chosen = strangers.headers['x-thread-id']
  const imported = [user('hi'), { content: 'something else' }, user('and then?'), {}]
  t.match(await thread(app, chosen), { messages: imported })
  const more = [user('hi'), { role: 'assistant', content: 'something else' }, user('and then?'), { role: 'assistant', content: 'answer 5' }]
  t.equal((await sayAll(app, [...more, user('more')])).headers['x-thread-id'], chosen)
})

t.test('of threads that hold the very same words the one used last goes on', async (t) => {
  const clock = fakeClock()
  const { app } = await withGateway(t, (_request, nth) => ({ text: nth < 2 ? 'hello' : `answer ${nth}` }), { clock })
  const first = await say(app, 'hi')
  await clock.advance(1)
  const ids = [first, await say(app, 'hi')].map(({ headers }) => headers['x-thread-id'])
  const history = [user('hi'), { role: 'assistant', content: 'hello' }]
  for (const text of ['A', 'B']) t.equal((await sayAll(app, [...history, user(text)])).headers['x-thread-id'], ids[1])
  t.equal((await thread(app, ids[0])).messageCount, 2)
  t.match((await thread(app, ids[1])).messages, [user('hi'), { content: [{ text: 'hello' }] }, user('B'), {}])
})

t.test('a client that sends no id has one thread however long it goes on, with what was allowed and denied in it', async (t) => {
  const refused = { toolName: 'writeFile', input: { path: 'no.txt', content: 'x' } }
  const granted = { toolName: 'writeFile', input: { path: 'yes/1.txt', content: 'x' } }
  let plan: object[] = []
  const { app } = await withGateway(t, (_request, nth) => plan.shift() ?? { text: `Answer ${nth}.` })
  mkdirSync(`${app.cwd}/yes`)
  const history: object[] = []
  const threads = new Set<string>()
  /** Says the next message with all before it. Returns what is asked. */
  async function turn (text: string, decision?: object): Promise<string[]> {
    const { headers, events } = await sayAll(app, [...history, user(text)])
    threads.add(headers['x-thread-id'])
    const requests = asked(events)
    let answered = textOf(events)
    if (decision !== undefined) {
      const content = [{ type: 'tool-approval-response', approvalId: requests[0], ...decision }]
      const { body } = await app.inject({ method: 'POST', url: '/run/approve', payload: { messages: [{ role: 'tool', content }] } })
      answered += textOf(parseEvents(body))
    }
    history.push(user(text), { role: 'assistant', content: answered })
    return requests
  }
  plan = [{ toolCalls: [refused] }, { text: 'As you like.' }]
  t.equal((await turn('write it', { approved: false })).length, 1)
  plan = [{ text: 'Now.', toolCalls: [granted] }, { text: 'Done.' }]
  t.equal((await turn('write that', { approved: true, scope: 'folder' })).length, 1)
  for (let n = 2; n < TURNS - 1; n++) await turn(`message ${n}`)
  plan = [{ toolCalls: [refused, { ...granted, input: { path: 'yes/2.txt', content: 'y' } }] }]
  t.same(await turn('both once more'), [])
  t.notOk(existsSync(`${app.cwd}/no.txt`))
  t.equal(readFileSync(`${app.cwd}/yes/2.txt`, 'utf8'), 'y')
  t.equal(threads.size, 1)
  t.equal((await app.threadRepository.turns([...threads][0])).length, TURNS)
})

t.test('a run without an id is found by what it said with tools between, by sync and after a failure; a thread with an id is ' +
  'not', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      { text: 'Looking.', toolCalls: [{ toolName: 'systemInfo', input: {} }] },
      { text: 'A computer.' },
      { error: { status: 400, message: 'no' } },
      { text: 'Better.' },
      { text: 'Named.' },
      { text: 'Own.' }
    ][nth])
  const payload = { messages: [user('what is this?')] }
  const { threadId, messages } = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
  for (const told of ['A computer.', 'Looking. A computer.']) {
    t.equal(
      await app.threadRepository.find([user('what is this?'), { role: 'assistant', content: told }, user('more')], () => true),
      threadId,
      told
    )
  }
  const said = [user('what is this?'), ...messages, user('more')]
  t.match(of((await sayAll(app, said)).events, 'error'), [{}])
  const again = await sayAll(app, said)
  t.equal(again.headers['x-thread-id'], threadId)
  t.match((await thread(app, threadId)).messages.slice(-2), [user('more'), {
    role: 'assistant',
    content: [{ text: 'Better.' }]
  }])

  await say(app, 'mine', { id: 'named' })
  t.not((await sayAll(app, [user('mine'), { role: 'assistant', content: 'Named.' }, user('more')])).headers['x-thread-id'], 'named')
})
