import { spawnSync } from 'node:child_process'
import t from 'tap'
import { refactor } from './refactor-copy.ts'

t.test('a chat refactors 2,000 files on a copy, which are applied and taken back', async (t) => {
  const measured = await refactor(t, 2_000)
  const system = spawnSync('stat', ['-f', '-c', '%T', t.testdirName], { encoding: 'utf8' }).stdout.trim()
  t.comment(JSON.stringify({ system, ...measured }))
})
