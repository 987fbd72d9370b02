import { existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import t from 'tap'
import { build } from './helper.ts'

t.test('a file tool changes the very files that were allowed and kept, wherever the path leads by now', async (t) => {
  const workspace = t.testdir({ granted: { 'a.txt': 'granted' }, elsewhere: { 'a.txt': 'elsewhere' } })
  const at = (path: string) => `${workspace}/${path}`
  const { failure, output } = build({ workspace })
  const paths = [at('granted/a.txt'), at('granted/b.txt')]
  t.match(await output('writeFile', { path: 'granted/a.txt', content: 'mine' }, { paths }), { created: false })

  renameSync(at('granted'), at('moved'))
  symlinkSync('elsewhere', at('granted'))
  const calls: Array<[tool: string, input: object]> = [
    ['writeFile', { path: 'granted/a.txt', content: 'x' }],
    ['editFile', { path: 'granted/a.txt', edits: [{ oldText: 'elsewhere', newText: 'x' }] }],
    ['deleteFile', { path: 'granted/a.txt' }],
    ['moveFile', { from: 'granted/a.txt', to: 'granted/b.txt' }]
  ]
  for (const [tool, input] of calls) t.match(await failure(tool, input, { paths }), /not the place that was to be changed/, tool)
  t.equal(readFileSync(at('elsewhere/a.txt'), 'utf8'), 'elsewhere')
  t.notOk(existsSync(at('elsewhere/b.txt')))
})
