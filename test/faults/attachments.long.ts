import t from 'tap'
import { attachmentTable } from './attachment-table.ts'

t.test('no conversation breaks because of a file that it holds: twenty types, five kinds of providers', async (t) => {
  for (const cell of await attachmentTable(t)) t.comment(Object.values(cell).join(' | '))
})
