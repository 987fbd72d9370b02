import t from 'tap'
import { Aborted } from '../../services/lib/abort.ts'
import { settlesWithin, startDeadline, withDeadline } from '../../services/lib/deadline.ts'
import { fakeClock } from '../harness/clock.ts'

const never = () => new Promise<never>(() => {})
const timeout = { kind: 'timeout', name: 'AbortError' }
const stopped = { kind: 'stop', name: 'AbortError' }

t.test('work that is too slow is aborted with the reason timeout and a sentence, even if it ignores its signal', async (t) => {
  const clock = fakeClock()
  let given: AbortSignal | undefined
  const slow = withDeadline({ clock, ms: 1_500 }, (signal) => {
    given = signal
    return never()
  })
  slow.catch(() => {})
  await clock.advance(1_499)
  t.notOk(given!.aborted)
  await clock.advance(1)
  await t.rejects(slow, { ...timeout, message: 'No answer for 1.5 s: time-out.' })
  t.match(given!.reason, timeout)
  await t.rejects(withDeadline({ clock, ms: 0, message: 'Too slow.' }, never), { ...timeout, message: 'Too slow.' })
})

t.test('work in time gives its result or its own error, and leaves no timer behind', async (t) => {
  const clock = fakeClock()
  t.equal(await withDeadline({ clock, ms: 10 }, async () => 'done'), 'done')
  await t.rejects(withDeadline({ clock, ms: 10 }, () => Promise.reject(new Error('its own'))), { message: 'its own' })
  await t.rejects(clock.sleeper(10), /nobody sleeps for 10 ms/)
})

t.test("the caller's abort ends the work with the caller's reason", async (t) => {
  const clock = fakeClock()
  const caller = new AbortController()
  const work = withDeadline({ clock, ms: 10, signal: caller.signal }, async (signal) => {
    signal.addEventListener('abort', () => {})
    caller.abort(new Aborted('stop'))
    throw new Error('its own words for an abort')
  })
  await t.rejects(work, stopped)
  await t.rejects(withDeadline({ clock, ms: 10, signal: caller.signal }, async () => t.fail('work of an aborted caller began')), stopped)
})

t.test('a limit that is shorter once renewed is met to the millisecond', async (t) => {
  const clock = fakeClock()
  const message = (ms: number) => `Nothing for ${ms} ms.`
  for (const [at, over, ms] of [[10, 70, 60], [59, 119, 60], [70, 130, 60], [119, 179, 60], [undefined, 120, 120]] as const) {
    let error: unknown
    let began = () => {}
    withDeadline({ clock, ms: 120, renewedMs: 60, message }, (_signal, renew) => {
      began = renew
      return never()
    }).catch((reason) => (error = reason))
    if (at !== undefined) {
      await clock.advance(at)
      began()
    }
    await clock.advance(over - (at ?? 0) - 1)
    t.equal(error, undefined, `renewed after ${at} ms`)
    await clock.advance(1)
    t.match(error, { ...timeout, message: `Nothing for ${ms} ms.` })
  }
})

t.test('a limit on silence begins anew with each sign of life', async (t) => {
  const clock = fakeClock()
  let alive = () => {}
  let error: unknown
  withDeadline({ clock, ms: 100 }, (_signal, renew) => {
    alive = renew
    return never()
  }).catch((reason) => (error = reason))
  for (let round = 0; round < 5; round++) {
    await clock.advance(90)
    alive()
  }
  await clock.advance(99)
  t.equal(error, undefined)
  await clock.advance(1)
  t.match(error, timeout)
})

t.test('aborted work gets time to clean up, and is abandoned after it', async (t) => {
  const clock = fakeClock()
  const cleaned = Promise.withResolvers<void>()
  let error: unknown
  withDeadline({ clock, ms: 100, settleMs: 50 }, () => cleaned.promise).catch((reason) => (error = reason))
  await clock.advance(149)
  t.equal(error, undefined)
  await clock.advance(1)
  t.match(error, timeout)

  const tidy = withDeadline({ clock, ms: 100, settleMs: 50 }, () => cleaned.promise)
  await clock.advance(120)
  cleaned.resolve()
  await t.rejects(tidy, timeout, 'a result after the limit does not count')
})

t.test('a stopped deadline aborts nothing', async (t) => {
  const clock = fakeClock()
  const aborts: unknown[] = []
  const start = () => startDeadline({ clock, ms: 10, message: 'Over.' }, (reason) => aborts.push(reason.message))
  start().stop()
  start()
  await clock.advance(20)
  t.same(aborts, ['Over.'])
})

t.test('a wait ends with what it waits for, with its time or with an abort', async (t) => {
  const clock = fakeClock()
  const caller = new AbortController()
  t.equal(await settlesWithin({ clock, ms: 10 }, Promise.resolve()), true)
  await t.rejects(settlesWithin({ clock, ms: 10 }, Promise.reject(new Error('failed'))), { message: 'failed' })
  const late = settlesWithin({ clock, ms: 10 }, never())
  await clock.advance(10)
  t.equal(await late, false)
  const waiting = settlesWithin({ clock, ms: 10, signal: caller.signal }, never())
  caller.abort()
  t.equal(await waiting, false)
})
