import { Writable } from 'node:stream'
import t from 'tap'
import { createEventBus } from '../../../services/events/event-bus.ts'
import { eventView, tasksView } from '../../../services/events/replay-buffer.ts'
import { fakeClock } from '../../harness/clock.ts'

const MiB = 1024 * 1024
/** Lets the readers be served. */
async function turn () {
  for (let n = 0; n < 5; n++) await new Promise(setImmediate)
}

/** A response whose reader takes what comes, until it is told to stop. */
function response () {
  let text = ''
  let waiting: (() => void) | undefined
  const state = { stuck: false }
  const out = new Writable({
    highWaterMark: 1024,
    write (chunk, _encoding, done) {
      text += chunk
      if (state.stuck) waiting = done
      else done()
    }
  })
  return {
    out,
    state,
    text: () => text,
    /** Takes what waits. */
    take () {
      const done = waiting
      waiting = undefined
      done?.()
    }
  }
}

function setUp () {
  const clock = fakeClock()
  const bus = createEventBus({ clock })
  const emit = (size: number) => bus.emit({ type: 'task:steer', taskId: 'x', comment: 'x'.repeat(size) })
  const reader = response()
  bus.stream(reader.out, tasksView)
  return { clock, bus, emit, reader }
}

t.test('a reader that is a megabyte behind has a second to take something', async (t) => {
  const { clock, bus, emit, reader } = setUp()
  reader.state.stuck = true
  for (let n = 0; n < 3; n++) emit(MiB)
  await turn()
  await clock.advance(900)
  t.equal(reader.out.destroyed, false)
  reader.take()
  await turn()
  for (let n = 0; n < 3; n++) emit(MiB)
  await clock.advance(900)
  t.equal(reader.out.destroyed, false, 'it took something')
  await clock.advance(1_200)
  t.equal(reader.out.destroyed, true)
  t.equal(bus.size, 0)
})

t.test('a reader that takes nothing for half a minute is dropped, however little waits', async (t) => {
  const { clock, bus, emit, reader } = setUp()
  reader.state.stuck = true
  emit(2_000)
  await turn()
  await clock.advance(29_000)
  t.equal(reader.out.destroyed, false)
  await clock.advance(2_000)
  t.equal(reader.out.destroyed, true)
  t.equal(bus.size, 0)
})

t.test('one large event drops nobody, and a slow reader loses nothing', async (t) => {
  const { clock, emit, reader } = setUp()
  emit(20 * MiB)
  await turn()
  t.equal(reader.text().length > 20 * MiB, true)
  reader.state.stuck = true
  for (let n = 0; n < 100; n++) emit(2_000)
  for (let n = 0; n < 100; n++) {
    await clock.advance(500)
    reader.take()
    await turn()
  }
  t.equal(reader.out.destroyed, false)
  t.equal(reader.text().split('event: task:steer').length - 1, 101)
})

t.test('a reader that has fallen behind all that is kept is dropped', async (t) => {
  const { clock, emit, reader } = setUp()
  reader.state.stuck = true
  emit(2_000)
  await turn()
  for (let n = 0; n < 20; n++) emit(MiB)
  await clock.advance(1_500)
  t.equal(reader.out.destroyed, true)
})

t.test('silence is broken by comments, which say how far a reader has come', async (t) => {
  const { clock, bus, emit, reader } = setUp()
  const filtered = response()
  bus.stream(filtered.out, eventView({ threadId: 'other' }))
  const [, first] = /id: (.*)/.exec(filtered.text())!
  emit(10)
  await turn()
  t.notMatch(filtered.text(), 'task:steer')
  await clock.advance(4_500)
  t.match(reader.text(), /\n\n: ping\n\n$/)
  const [, second] = /: ping\nid: (.*)\n\n$/.exec(filtered.text())!
  t.equal(Number(second.split('-')[1]), Number(first.split('-')[1]) + 1)
  const pings = () => reader.text().split(': ping').length - 1
  t.equal(pings(), 1)
  emit(10)
  await turn()
  await clock.advance(3_500)
  t.equal(pings(), 1, 'an event is no silence')
  await clock.advance(1_000)
  t.equal(pings(), 2)
})
