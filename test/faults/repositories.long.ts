import t from 'tap'
import { build } from '../harness/helper.ts'
import { UNASKED } from '../harness/undo.ts'
import { layRepositories, SEQUENCES, survivesUse } from './repositories.ts'

t.test('a command of git, a use of the repository after it, and an undo', async (t) => {
  const app = await build(t, { config: { ...UNASKED, commands: { sandbox: 'off' } } })
  const template = layRepositories(`${app.cwd}-template`)
  for (const sequence of SEQUENCES) await t.test(sequence.join(', then '), (t) => survivesUse(t, app, template, sequence))
})
