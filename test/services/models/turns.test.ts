import t from 'tap'
import { yieldToEventLoop } from '../../../services/lib/yield-to-event-loop.ts'

const STREAMS = 8
const PARTS = 20

function work (ms: number) {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('streams that all have much to do let everything else have its turn, and all come to their end', async (t) => {
  const done: number[] = []
  let others = 0
  const other = () => {
    others++
    if (done.length < STREAMS) setImmediate(other)
  }
  setImmediate(other)

  await Promise.all(Array.from({ length: STREAMS }, async (_, stream) => {
    for (let part = 0; part < PARTS; part++) {
      work(1)
      await yieldToEventLoop()
    }
    done.push(stream)
  }))

  t.equal(done.length, STREAMS)
  t.ok(others > STREAMS, 'between slices, not between rounds of all streams')
})

t.test('a stream with little to do goes on without waiting', async (t) => {
  await new Promise(setImmediate)
  await new Promise(setImmediate)

  t.equal(yieldToEventLoop(), undefined)
})
