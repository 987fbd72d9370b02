import t from 'tap'
import { createTaskEvents } from '../../../services/tasks/task-events.ts'
import { fakeClock } from '../../harness/clock.ts'

const MiB = 1024 * 1024
const event = (size: number) => ({ type: 'task:tool', input: 'x'.repeat(size) })

function setUp () {
  const clock = fakeClock()
  const bus = createTaskEvents({ clock })
  const state = { dropped: 0 }
  const events = bus.listen(new AbortController().signal, () => {
    state.dropped++
  })
  return { clock, bus, events, state }
}

t.test('who is a megabyte behind has a second to take something', async (t) => {
  const { clock, bus, events, state } = setUp()
  for (let n = 0; n < 3; n++) bus.emit(event(MiB))
  await clock.advance(900)
  await events.next()
  await clock.advance(900)
  bus.emit(event(10))
  t.equal(state.dropped, 0, 'it took something')
  await clock.advance(200)
  bus.emit(event(10))
  t.equal(state.dropped, 1)
  t.equal(bus.size, 0)
  t.match(await events.next(), { done: true }, 'and gets no more')
})

t.test('who takes nothing for half a minute is dropped, however little waits', async (t) => {
  const { clock, bus, state } = setUp()
  bus.emit(event(10))
  await clock.advance(30_000)
  bus.emit(event(10))
  t.equal(state.dropped, 0)
  await clock.advance(1)
  bus.emit(event(10))
  t.equal(state.dropped, 1)
})

t.test('no more is kept for one than 8 MiB and an event, which may be of any size', async (t) => {
  const { bus, events, state } = setUp()
  bus.emit(event(20 * MiB))
  t.match((await events.next()).value?.event, 'task:tool')
  for (let n = 0; n < 8; n++) bus.emit(event(MiB))
  t.equal(state.dropped, 0)
  bus.emit(event(10))
  t.equal(state.dropped, 1)
})
