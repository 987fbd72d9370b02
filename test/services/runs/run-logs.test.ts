import t from 'tap'
import type { RunEvent } from '../../../services/contracts/run-events.ts'
import { newId } from '../../../services/lib/ids.ts'
import { createRunLog, LOG_LIMIT } from '../../../services/runs/run-log/run-log.ts'
import { newRunFields, type ThreadRun } from '../../../services/runs/run-record.ts'
import { createRunRepository } from '../../../services/runs/run-repository.ts'
import { CONTEXT_USES, CONTEXTS, runEventsPrefix, runKey, runStateKey, threadRunKey } from '../../../services/store/keys.ts'
import type { Op, Store } from '../../../services/store/store-types.ts'
import { noUsage } from '../../../services/usage/index.ts'
import { noUsage as unused } from '../../../services/usage/usage-sums.ts'
import { asked, of, say } from '../../harness/agent.ts'
import { fakeClock } from '../../harness/clock.ts'
import { facts } from '../../harness/facts.ts'
import { build } from '../../harness/helper.ts'
import { testStore } from '../../harness/store.ts'

t.test('one large output makes nobody a slow reader, much text does', async (t) => {
  const log = createRunLog()
  log.append({
    type: 'tool-output',
    toolCallId: 'c',
    toolName: 'look',
    output: { content: [{ type: 'image', mimeType: 'image/png', data: 'A'.repeat(4_000_000) }] }
  })
  t.ok(log.lag(0) < 100_000)
  t.ok(log.bytes > 4_000_000, 'though it is counted whole in what a run may say')
  for (let n = 0; n < 100; n++) log.append({ type: 'text-delta', id: 't', delta: 'x'.repeat(20_000) })
  t.ok(log.lag(1) > 2_000_000)
})

const finish: RunEvent = { type: 'finish', finishReason: 'stop', usage: unused() }
const said = (bytes: number): RunEvent => ({ type: 'text-delta', id: 'text-1', delta: 'x'.repeat(bytes) })

t.test('who begins late gets what there is piece by piece, and all of it', async (t) => {
  const log = createRunLog([...Array.from({ length: 1000 }, () => said(4096)), finish])
  log.end()
  let count = 0
  for await (const batch of log.read(0, new AbortController().signal)) {
    t.ok(batch.length <= 17, 'some 64 KiB')
    count += batch.length
  }
  t.equal(count, 1001)
})

t.test('readers that are equally far get the very same pieces, whenever they began', async (t) => {
  const log = createRunLog([said(10), ...Array.from({ length: 100 }, () => said(4096)), finish])
  const { signal } = new AbortController()
  const [one, two] = [log.read(0, signal), log.read(1, signal)]
  await one.next()
  await two.next()
  for (;;) {
    const [a, b] = [await one.next(), await two.next()]
    t.equal(a.value, b.value)
    if (a.done) return
  }
})

t.test('inputs of calls count like text, whether they were told in pieces or not', async (t) => {
  const log = createRunLog([{ type: 'tool-input', toolCallId: 'c', toolName: 't', input: { text: 'x'.repeat(LOG_LIMIT) } }])
  t.ok(log.bytes > LOG_LIMIT)
})

const HOUR = 60 * 60 * 1000

const executing = () => ({
  ...newRunFields(newId(), 1),
  threadId: 'a',
  messageId: newId(),
  cwd: '/',
  trigger: 'message' as const,
  status: 'running' as const,
  attempts: 1,
  maxSteps: 10,
  protocol: 'documented' as const,
  answerAt: 1,
  usage: noUsage()
})

for (const status of ['completed', 'pending_approval'] as const) {
  t.test(`what is saved by the clock while a run is made ${status} does not show it as executing again`, async (t) => {
    const clock = fakeClock(1_000)
    const store = await testStore(t, clock)
    const runs = createRunRepository({ store, clock, facts })
    const run = runs.open<ThreadRun>(executing(), [], [])
    await store.transact(runs.add(run))
    run.log.append({ type: 'text-start', id: 'a' })
    runs.saveSoon(run)
    await run.writing
    run.log.append({ type: 'text-delta', id: 'a', delta: 'Hello' })

    const ending = runs.commit(run, { status, finalEvents: [{ type: 'finish', finishReason: 'stop', usage: noUsage() }] })
    runs.saveSoon(run)
    await ending
    await run.writing

    t.equal((await runs.get(run.record.runId))!.status, status)
    t.equal((await runs.events('thread', run.record.runId)).at(-1)!.type, 'finish', 'all that was said is stored')
  })
}

const keysOf = async ({ store }: { store: Pick<Store, 'keys'> }, prefix: string) => {
  const keys: string[] = []
  for await (const key of store.keys(prefix)) keys.push(key)
  return keys
}

t.test('what runs are told alike is stored once, and goes with the last of them', async (t) => {
  const app = await build(t)
  const said = [await say(app, 'system info', { id: 'one' }), await say(app, 'system info', { id: 'two' })]
  const [one, two] = said.map(({ events }) => of(events, 'start')[0].messageMetadata.runId)
  const once = (await keysOf(app, CONTEXTS)).length
  t.equal(once, 2, 'tools, and the rest')
  const runs = createRunRepository({ store: app.store, clock: app.clock, facts })
  const toolsOf = async (runId: string) =>
    (await runs.events('thread', runId)).flatMap((event) => event.type === 'context' ? event.context.tools : [])
  t.ok((await toolsOf(one)).length > 10)
  t.same(await toolsOf(two), await toolsOf(one))

  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'I live in Rome.' } })
  await say(app, 'system info', { id: 'three' })
  t.equal((await keysOf(app, CONTEXTS)).length, 3, 'with another memory')
  await app.inject({ method: 'DELETE', url: '/threads/three' })
  t.equal((await keysOf(app, CONTEXTS)).length, 2, 'which went with its only run')
  // The events of a run go before it, by their age.
  await app.store.transact((await keysOf(app, runEventsPrefix('thread', one))).map((key) => ({ type: 'del', key })))
  const uses = (await keysOf(app, CONTEXT_USES)).length
  await runs.sweepContexts(Date.now() + 48 * HOUR)
  t.equal((await keysOf(app, CONTEXT_USES)).length, uses - 2)
  await say(app, 'and again', { id: 'one' })
  await app.inject({ method: 'DELETE', url: '/threads/one' })
  t.ok((await toolsOf(two)).length > 10)
  await app.inject({ method: 'DELETE', url: '/threads/two' })
  t.same([await keysOf(app, CONTEXTS), await keysOf(app, CONTEXT_USES)], [[], []])
})

t.test('runs that begin and go at the same time, and writes that fail, lose no context and leave none', async (t) => {
  const clock = fakeClock(Date.now() - 10 * 24 * HOUR)
  const store = await testStore(t, clock)
  const { transact } = store
  let seed = 11
  const random = (below: number) => (seed = Math.imul(seed, 1_103_515_245) + 12_345 >>> 1) % below
  store.transact = async (ops) => {
    for (let turns = random(4); turns > 0; turns--) await new Promise(setImmediate)
    if (random(9) === 0) throw new Error('killed')
    await transact(ops)
  }
  const runs = createRunRepository({ store, clock, facts })
  const context = (n: number) => ({ type: 'context' as const, context: { at: n, cwd: '/', system: [`You are ${n}.`], tools: [] } })
  const there = new Map<string, number>()
  const begin = async () => {
    const run = runs.open<ThreadRun>(executing(), [], [])
    const n = random(3)
    run.log.append(context(n))
    await runs.commit(run).then(() => there.set(run.record.runId, n), () => {})
  }
  const remove = async () => {
    const runIds = [...there.keys()].slice(0, 1 + random(3))
    for (const runId of runIds) there.delete(runId)
    await runs.threadRemoval('a', runIds).then(store.transact).catch(() => runIds.map((runId) => there.set(runId, -1)))
  }
  for (let round = 0; round < 60; round++) {
    const work = Array.from({ length: 1 + random(4) }, () => random(2) === 0 ? begin() : remove())
    if (random(9) === 0) work.push(runs.sweepContexts(Date.now()).catch(() => {}))
    await Promise.all(work)
    for (const [runId, n] of there) {
      const [event] = await runs.events('thread', runId)
      if (n !== -1) t.same(event, context(n))
      else t.match(event, { type: 'context' })
    }
  }
  store.transact = transact
  while (there.size < 3) await begin()
  await store.transact(await runs.threadRemoval('a', [...there.keys()]))
  await runs.sweepContexts(clock.now())
  t.same([await keysOf({ store }, CONTEXTS), await keysOf({ store }, CONTEXT_USES)], [[], []])
})

t.test('a conversation keeps the runs of its answers and its newest thousand others, and a conversation that is gone none', async (t) => {
  const app = await build(t)
  await say(app, 'system info', { id: 'chat' })
  const [first] = (await app.inject('/runs')).json().runs
  const stored = (await app.store.get<ThreadRun>(runKey(first.runId)))!
  const record = (threadId: string): Op[] => {
    const [runId, thread] = [newId(), app.store.digest(threadId)]
    return [
      { type: 'put', key: runKey(runId), value: { ...stored, runId, threadId } },
      { type: 'put', key: threadRunKey(thread, runId), value: {} },
      { type: 'put', key: runStateKey('completed', runId), value: {} }
    ]
  }
  await app.store.transact([...Array.from({ length: 1_001 }, () => record('chat')), record('gone')].flat())
  t.equal((await app.inject('/runs?threadId=gone')).json().runs.length, 1)

  await app.runs.sweep()

  const count = async (query: string) => {
    let runs = 0
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: any = (await app.inject(`/runs?limit=500${query}${cursor && `&cursor=${cursor}`}`)).json()
      runs += page.runs.length
      cursor = page.nextCursor
    }
    return runs
  }
  t.equal(await count('&threadId=chat'), 1_001)
  t.equal(await count(''), 1_001)
  t.equal((await app.inject(`/runs/${first.runId}`)).statusCode, 200)
  t.match((await app.inject('/threads/chat')).json().messages[1], { role: 'assistant', content: [{}] })
})

t.test('a run that nobody answered in time is rejected, at once in the answers and then in the store', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const { events } = await say(app, 'write "x" to a.txt', { id: 'chat' })
  const { runId } = of(events, 'start')[0].messageMetadata
  t.equal(asked(events).length, 1)
  await clock.advance(25 * HOUR)
  const runs = async (query: string) => (await app.inject(`/runs${query}`)).json().runs
  t.match(await runs('?status=rejected'), [{ runId, error: 'Nobody answered in time.', questions: [] }])
  await app.runs.sweep()
  t.match(await runs('?status=rejected'), [{ runId, status: 'rejected', completedAt: clock.now() }])
  t.same(await runs('?status=pending_approval'), [])
})
