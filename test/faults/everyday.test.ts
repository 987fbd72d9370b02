import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compareInBox, EVERYDAY, layProject } from './everyday-table.ts'

t.test('commands of everyday work do the same in a box as outside', {
  skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux'
}, async (t) => {
  const base = realpathSync(t.testdir({}))
  layProject(join(base, 'template'))
  // The long form runs all of them.
  const commands = [EVERYDAY.git[1], EVERYDAY.git[2], EVERYDAY.git[4], EVERYDAY.npm[2], EVERYDAY.python3[0]]
  for (const [at, command] of commands.entries()) {
    const { outside, inside } = await compareInBox(join(base, 'template'), join(base, String(at)), command)
    t.same({ ...inside, said: '', message: undefined }, { ...outside, said: '', message: undefined }, command, { outside, inside })
  }
})
