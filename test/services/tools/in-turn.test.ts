import t from 'tap'
import { runInOrder } from '../../../services/tools/run-in-order.ts'

/** Calls that end when they are told to, and what is under way. */
function held () {
  const begun: string[] = []
  const ends = new Map<string, { resolve(): void, reject(error: Error): void }>()
  const run = (call: string) =>
    new Promise<void>((resolve, reject) => {
      begun.push(call)
      ends.set(call, { resolve, reject })
    })
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { begun, ends, run, settled }
}
const isRead = (call: string) => call.startsWith('r')
const reads = (count: number) => Array.from({ length: count }, (_, n) => `r${n}`)

t.test('reads run side by side, eight at a time, and a change waits for those before it', async (t) => {
  const { begun, ends, run, settled } = held()
  const over = runInOrder([...reads(10), 'write', 'r10'], isRead, run)
  await settled()
  t.same(begun, reads(8))
  ends.get('r7')!.resolve()
  await settled()
  t.same(begun, reads(9))
  for (const call of reads(9)) ends.get(call)!.resolve()
  await settled()
  t.same(begun, reads(10))
  ends.get('r9')!.resolve()
  await settled()
  t.same(begun.at(-1), 'write')
  ends.get('write')!.resolve()
  await settled()
  ends.get('r10')!.resolve()
  await over
})

t.test('after a failure nothing begins, and what has begun is waited for', async (t) => {
  const { begun, ends, run, settled } = held()
  let isOver = false
  const over = runInOrder([...reads(10), 'write'], isRead, run).finally(() => {
    isOver = true
  })
  over.catch(() => {})
  await settled()
  ends.get('r3')!.reject(new Error('first'))
  await settled()
  ends.get('r0')!.reject(new Error('second'))
  for (const call of reads(7)) ends.get(call)!.resolve()
  await settled()
  t.notOk(isOver)
  ends.get('r7')!.resolve()
  await t.rejects(over, { message: 'first' })
  t.same(begun, reads(8))
})
