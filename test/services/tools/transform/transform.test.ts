import t, { type Test } from 'tap'
import { Aborted } from '../../../../services/lib/abort.ts'
import { systemClock, type Clock } from '../../../../services/lib/clock.ts'
import { createTransform } from '../../../../services/tools/transform/transform.ts'
import { fakeClock } from '../../../harness/clock.ts'

const page = (html: string) => ({ bytes: Buffer.from(html), url: 'https://example.com/' })
const easy = page('<p>read</p>')
/** Takes longer than anybody waits. */
const endless = page('<b><i>'.repeat(20_000))
const large = page('<p><a href="x">link</a></p>'.repeat(100_000))

function open (t: Test, parts: { clock?: Clock, memoryMb?: number } = {}) {
  const transform = createTransform({ clock: systemClock, ...parts })
  t.teardown(transform.close)
  return transform
}
const never = new AbortController().signal

t.test('work is done in a thread that is there when needed, and gone half a minute later', async (t) => {
  const clock = fakeClock()
  const transform = open(t, { clock })
  t.equal(transform.running, false)
  t.same(await transform.run('markdown', easy, { signal: never }), { content: 'read' })
  await clock.advance(29_999)
  t.equal(transform.running, true)
  t.same(await transform.run('markdown', easy, { signal: never }), { content: 'read' })
  await clock.advance(29_999)
  t.equal(transform.running, true, 'counted from the last work')
  await clock.advance(1)
  t.equal(transform.running, false)
  t.same(await transform.run('text', easy, { signal: never }), { content: 'read' })
})

t.test('what takes too long is ended; who waits behind it gets a thread of his own', async (t) => {
  const clock = fakeClock()
  const transform = open(t, { clock })
  const late = transform.run('markdown', endless, { signal: never }).catch((error) => error)
  const next = transform.run('markdown', easy, { signal: never })
  await clock.sleeper(10_000)
  await clock.advance(10_000)
  t.match(await late, {
    code: 'ERR_TRANSFORM_FAILED',
    message: 'This content could not be turned into markdown: it took longer than 10 s.'
  })
  t.same(await next, { content: 'read' })
})

t.test('what takes too much memory ends its thread alone', async (t) => {
  const transform = open(t, { memoryMb: 48 })
  const failed = await transform.run('markdown', large, { signal: never }).catch((error) => error)
  t.match(failed, { code: 'ERR_TRANSFORM_FAILED', message: /it took too much memory/ })
  t.same(await transform.run('markdown', easy, { signal: never }), { content: 'read' })
})

t.test('work that is wanted no more is ended, or never begun', async (t) => {
  const transform = open(t)
  const first = new AbortController()
  const second = new AbortController()
  const runs = [
    transform.run('markdown', endless, { signal: first.signal }),
    transform.run('markdown', endless, { signal: second.signal }),
    transform.run('markdown', easy, { signal: never })
  ]
  const results = Promise.allSettled(runs)
  second.abort(new Aborted('stop'))
  t.equal(await runs[1].catch((error) => error), second.signal.reason, 'while it waits')
  first.abort(new Aborted('client'))
  t.equal(await runs[0].catch((error) => error), first.signal.reason)
  t.match((await results)[2], { status: 'fulfilled', value: { content: 'read' } })
  t.equal(await transform.run('markdown', easy, { signal: first.signal }).catch((error) => error), first.signal.reason)
})

t.test('only so many may wait', async (t) => {
  const transform = open(t)
  const stop = new AbortController()
  const runs = Array.from({ length: 33 }, () => transform.run('markdown', endless, { signal: stop.signal }).catch((error) => error))
  t.match(await runs[32], { code: 'ERR_TRANSFORM_BUSY' })
  stop.abort(new Aborted('stop'))
  await Promise.all(runs)
  t.same(await transform.run('markdown', easy, { signal: never }), { content: 'read' })
})

t.test('closing ends what is under way', async (t) => {
  const transform = open(t)
  const runs = [1, 2].map(() => transform.run('markdown', endless, { signal: never }).catch((error) => error))
  await transform.close()
  for (const run of runs) t.match(await run, { code: 'ERR_TRANSFORM_FAILED', message: /the service is ending/ })
  t.equal(transform.running, false)
  t.match(await transform.run('markdown', easy, { signal: never }).catch((error) => error), /the service is ending/)
})

t.test('the thread knows nothing of the environment', async (t) => {
  process.env.LOCAL_AGENT_TOKEN = 'a-token-that-is-secret'
  t.teardown(() => {
    delete process.env.LOCAL_AGENT_TOKEN
  })
  // Node reads this variable when a thread starts; it would end it.
  process.env.NODE_OPTIONS = '--import=/no/such/file.js'
  t.teardown(() => {
    delete process.env.NODE_OPTIONS
  })
  t.same(await open(t).run('text', easy, { signal: never }), { content: 'read' })
})
