import { randomInt } from 'node:crypto'
import t from 'tap'
import { HOSTILE, setStage } from '../services/sandbox/stage.ts'

const ROUNDS = 10
const AT_ONCE = 6

t.test('commands that run at the same time in one folder, and try what others prepare, do not leave the box', {
  skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux'
}, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  const pending = Array.from({ length: ROUNDS }, () => Object.values(HOSTILE)).flat()
  const worker = async () => {
    while (pending.length > 0) {
      const [command] = pending.splice(randomInt(pending.length), 1)
      const output = await stage.run(`{ ${command}; } 2>&1`).catch((error: Error) => ({ error: error.message }))
      t.notMatch(JSON.stringify(output), /s3cret-/, command)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  // Those that ran last have tidied up for all.
  await stage.run('true')
  t.same(stage.traces(''), [])
})
