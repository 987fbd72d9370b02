import t from 'tap'
import { linesOf, readLines } from '../../../services/store/backup/backup.ts'

const schema = { base: 1, version: 1 }
async function * of<T> (list: T[]) {
  yield * list
}
const records: Array<[string, unknown]> = [
  ['grant/owner/id', { scope: 'folder' }],
  ['undo/run/id', { key: 'x' }],
  ['thread/a', { title: 'kept' }]
]

t.test('what was granted on a machine, and its copies for undo, go into no backup', async (t) => {
  const lines: string[] = []
  for await (const line of linesOf({ schema, digestKey: Buffer.alloc(32), records: of(records) }, {}, 0)) lines.push(line)
  t.same(lines.slice(2).map((line) => JSON.parse(line)), [records[2], { end: 1 }])
})

t.test('and come out of none, whoever made it', async (t) => {
  const lines = [{ backup: 1, schema, digestKey: '' }, { config: {} }, ...records, { end: 3 }].map((line) => JSON.stringify(line))
  const read: unknown[] = []
  for await (const record of (await readLines(of(lines))).records) read.push(record)
  t.same(read, [records[2]])
})
