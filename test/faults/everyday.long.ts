import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compareInBox, EVERYDAY, hasProgram, layProject } from './everyday-table.ts'

t.test('sixty commands of everyday work do the same in a box as outside, or a sentence says why not', {
  skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux',
  timeout: 900_000
}, async (t) => {
  t.ok(Object.values(EVERYDAY).flat().length >= 60)
  const base = realpathSync(t.testdir({}))
  layProject(join(base, 'template'))
  for (const [program, commands] of Object.entries(EVERYDAY)) {
    await t.test(program, { skip: hasProgram(program) ? false : `${program} is not installed` }, async (t) => {
      for (const [at, command] of commands.entries()) {
        const { outside, inside } = await compareInBox(join(base, 'template'), join(base, `${program}-${at}`), command)
        const isSame = outside.exitCode === inside.exitCode && outside.files.join('\n') === inside.files.join('\n')
        const isExplained = inside.message !== undefined && /box|working folder/.test(inside.message)
        t.ok(isSame || isExplained, command, { outside, inside })
        if (!isSame) t.comment(`${command}: ${inside.message}`)
      }
    })
  }
})
