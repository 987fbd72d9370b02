import { noUsage } from '../../../services/usage/usage-sums.ts'
import t from 'tap'
import { createRunLog, LOG_LIMIT } from '../../../services/runs/run-log/run-log.ts'
import type { RunEvent } from '../../../services/contracts/run-events.ts'

const finish: RunEvent = { type: 'finish', finishReason: 'stop', usage: noUsage() }
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
