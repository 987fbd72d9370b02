import t from 'tap'
import { build } from '../harness/helper.ts'
import { UNASKED } from '../harness/undo.ts'
import { openUndo } from '../services/undo/helper.ts'
import { layRepositories, RUNS, SEQUENCES, survivesTakeOver, survivesUse } from './repositories.ts'

t.test('a command of git, a use of the repository after it, and an undo', async (t) => {
  const app = await build(t, { config: { ...UNASKED, commands: { sandbox: 'off' } } })
  const template = layRepositories(`${app.cwd}-template`)
  for (const sequence of SEQUENCES) await t.test(sequence.join(', then '), (t) => survivesUse(t, app, template, sequence))
})

t.test('a command of git in a clone, which is taken over and taken back', async (t) => {
  const undo = await openUndo(t)
  const template = layRepositories(`${undo.work}-template`)
  for (const run of Object.keys(RUNS)) await t.test(run, (t) => survivesTakeOver(t, undo, template, run))
})
