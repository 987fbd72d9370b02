import t from 'tap'
import type { Test } from 'tap'
import type { App } from '../../app.ts'
import { fakeClock } from '../harness/clock.ts'
import { point, user } from '../harness/extraction.ts'
import { countOpenIterators } from '../harness/open-iterators.ts'
import { withGateway } from '../harness/with-gateway.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const { signal } = new AbortController()

interface Rested {
  count: number
  answer: () => object
  /** Each conversation has a run. Without, it costs less to lay. */
  hasRuns?: boolean
}

/** A service with rested conversations, and a model that answers questions about them like `answer`. */
async function withRested (t: Test, { count, answer, hasRuns = false }: Rested) {
  const clock = fakeClock()
  const asked: number[] = []
  const made = await withGateway(t, () => ({ text: 'ok' }), {
    clock,
    config: { analysis: false, threads: { titles: false } },
    structured (name) {
      if (name === 'facts') asked.push(clock.now())
      return answer()
    }
  })
  for (let n = 0; n < count; n++) {
    const [id, said] = [`rested-${n}`, `My name is Ada, the ${n}th.`]
    if (hasRuns) await made.app.inject({ method: 'POST', url: '/run/sync', payload: { id, messages: [user(said)] } })
    else await made.app.inject({ method: 'PUT', url: `/threads/${id}`, payload: { messages: [user(said)] } })
  }
  await clock.advance(11 * MINUTE)
  return { ...made, clock, asked }
}

/** Lets rounds follow each other as a service that listens does. */
async function repeat (app: App, clock: ReturnType<typeof fakeClock>, ms: number) {
  for (const end = clock.now() + ms; clock.now() < end;) {
    const pause = await app.idleThreads.round(signal)
    await clock.advance(Math.max(pause, 1))
  }
}

const FAILURES: Record<string, object> = {
  'refuses the key': { error: { status: 401, message: 'wrong key' } },
  'is overloaded': { error: { status: 503, message: 'overloaded' } },
  'answers nonsense': { object: 'nonsense' }
}
for (const [how, answer] of Object.entries(FAILURES)) {
  t.test(`a model that ${how} is asked about one conversation in ten minutes, also after a restart`, async (t) => {
    const { app, clock, asked } = await withRested(t, { count: 12, answer: () => answer })
    await repeat(app, clock, HOUR)
    const calls = asked.length
    t.ok(calls >= 5 && calls <= 7, `${calls} calls in an hour`)
    await app.close()

    const { app: again, gateway: other } = await withGateway(t, () => ({ text: 'ok' }), {
      clock,
      structured: () => answer,
      home: app.home,
      cwd: app.cwd
    })
    await again.idleThreads.round(signal)
    t.ok(other.requests.length <= 1, `${other.requests.length} calls after the restart`)
    await repeat(again, clock, HOUR)
    t.ok(other.requests.length <= 7, `${other.requests.length} calls in the next hour`)
  })
}

t.test('a model that answers reads ten conversations a minute, and all of them in the end', async (t) => {
  const answer = () => ({ object: { pointers: [point(0, 'My name is Ada')], habits: [] } })
  const { app, clock, asked } = await withRested(t, { count: 25, answer })
  const began = clock.now()
  await repeat(app, clock, 5 * MINUTE)
  t.equal(asked.length, 25)
  const inMinute = (minute: number) => asked.filter((at) => Math.floor((at - began) / MINUTE) === minute).length
  t.same([0, 1, 2, 3, 4].map(inMinute), [10, 10, 5, 0, 0])
})

t.test('a new key ends the pause of a model', async (t) => {
  let answer: object = FAILURES['refuses the key']
  const { app, asked } = await withRested(t, { count: 3, answer: () => answer })
  await app.idleThreads.round(signal)
  await app.idleThreads.round(signal)
  t.equal(asked.length, 1)
  answer = { object: { pointers: [], habits: [] } }
  await app.inject({ method: 'POST', url: '/providers/configure', payload: { gateway_key: 'another-key' } })
  await app.idleThreads.round(signal)
  t.equal(asked.length, 3, 'the conversation that failed waits for its own pause')
})

t.test('what is said to a run whose message was read before is read as well', async (t) => {
  const { app, clock, asked } = await withRested(t, { count: 0, answer: () => ({ object: { pointers: [], habits: [] } }) })
  const before = [{ role: 'user', content: 'Tidy up.' }, { role: 'assistant', content: 'May I?' }]
  const said = { role: 'user', content: 'My name is Ada.', id: 's1', steer: { id: 's1', state: 'read' } }
  for (const messages of [before, [...before, said, { role: 'assistant', content: 'Done.' }]]) {
    await app.inject({ method: 'PUT', url: '/threads/chat', payload: { messages } })
    await clock.advance(10 * MINUTE)
    await app.idleThreads.round(signal)
  }
  t.equal(asked.length, 2)
})

t.test('nothing is read in the first two minutes of a service', async (t) => {
  const { app, clock, asked } = await withRested(t, { count: 2, answer: () => ({ object: { pointers: [], habits: [] } }) })
  const read = Promise.withResolvers<void>()
  const { markRead } = app.threadRepository
  app.threadRepository.markRead = async (...args) => {
    await markRead(...args)
    read.resolve()
  }
  await app.listen({ port: 0, host: '127.0.0.1' })
  await clock.sleeper(2 * MINUTE)
  await clock.advance(2 * MINUTE - 1)
  t.equal(asked.length, 0)
  await clock.advance(1)
  await read.promise
})

t.test('after 100 extractions and 1,000 requests no more iterators of the store are open than before', async (t) => {
  const iterators = countOpenIterators(t)
  const answer = () => ({ object: { pointers: [point(0, 'My name is Ada')], habits: [] } })
  const { app, clock } = await withRested(t, { count: 100, answer, hasRuns: true })
  const paths = [
    ...['/threads', '/threads/rested-1', '/runs', '/approvals', '/grants', '/tasks', '/tasks/digest', '/memory/brain', '/usage'],
    ...['/memory/brain/facts', '/search?q=name', '/notifications', '/threads/rested-2/versions', '/tool-calls', '/runs?threadId=rested-3']
  ]
  const request = async (n: number) => {
    const grant = { threadId: `rested-${n % 100}`, toolName: 'writeFile', scope: 'folder', input: { path: 'a.txt', content: '' } }
    const response = n % 10 === 0
      ? await app.inject({ method: 'POST', url: '/grants', payload: grant })
      : await app.inject(paths[n % paths.length])
    if (response.statusCode >= 500) t.fail(response.body)
  }
  for (let n = 0; n < 30; n++) await request(n)
  const before = iterators.open()
  await repeat(app, clock, 12 * MINUTE)
  for (let n = 0; n < 1_000; n += 20) await Promise.all(Array.from({ length: 20 }, (_, at) => request(n + at)))
  t.equal((await app.inject('/memory/brain/facts?limit=200')).json().facts.length, 100)
  t.ok(iterators.made() > 1_000)
  t.equal(iterators.open(), before)
})
