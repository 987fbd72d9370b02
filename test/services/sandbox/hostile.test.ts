import t from 'tap'
import { HOSTILE, setStage } from './stage.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

t.test('no command leaves the box', { skip }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  for (const [what, command] of Object.entries(HOSTILE)) {
    const output = await stage.run(`{ ${command}; } 2>&1`)
    t.same(stage.traces(output), [], `${what}: ${JSON.stringify(output).slice(0, 600)}`)
  }
})
