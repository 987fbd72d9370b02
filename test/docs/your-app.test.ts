import { mkdirSync, symlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { followPage, isShown } from '../harness/your-app.ts'

t.test('"Your app in thirty minutes" does what it says, block by block', async (t) => {
  const folder = t.testdir({})
  const { steps, unused } = await followPage({
    folder,
    node: process.execPath,
    install (command) {
      if (!command.startsWith('npm install')) return
      mkdirSync(`${folder}/node_modules`)
      // On Windows, a junction needs no privilege.
      symlinkSync(fileURLToPath(new URL('../..', import.meta.url)), `${folder}/node_modules/local-agent-service`, 'junction')
    }
  })
  for (const { command, output, shown } of steps) {
    if (shown !== undefined && !isShown(output, shown)) t.equal(output, shown, command)
  }
  t.same(unused, [], 'each file is run, or imported by one that is')
  t.equal(steps.filter(({ shown }) => shown !== undefined).length, 13)
})
