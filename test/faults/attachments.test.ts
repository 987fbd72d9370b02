import t from 'tap'
import { SAMPLES } from '../harness/attached-files.ts'
import { attachmentTable } from './attachment-table.ts'

t.test('no conversation breaks because of a file that it holds', async (t) => {
  const samples = SAMPLES.filter(({ name }) => ['a.docx', 'a.gif'].includes(name))
  const cells = await attachmentTable(t, samples)
  t.same(cells.filter(({ type }) => type !== 'image/gif').map(({ second, changed, reloaded, imported }) =>
    new Set([second, changed, reloaded, imported])
  ), cells.slice(0, 5).map(() => new Set(['text'])))
  t.same(cells.filter(({ type }) => type === 'image/gif').map(({ kind, sent, second, changed }) => [kind, sent, second, changed]), [
    ['openai', 200, 'file', 'file'],
    ['anthropic', 200, 'file', 'line'],
    ['google', 400, 'line', 'file'],
    ['compatible', 200, 'file', 'file'],
    ['gateway', 200, 'file', 'file']
  ])
})
