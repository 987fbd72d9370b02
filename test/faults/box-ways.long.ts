import t from 'tap'
import { attempt, attemptBeside, setStage } from '../services/sandbox/stage.ts'
import { WAYS } from './box-ways.ts'

const limits = { skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux', timeout: 900_000 }

t.test('none of more than 200 commands leaves the box', limits, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  t.ok(Object.keys(WAYS).length >= 200, `${Object.keys(WAYS).length} commands`)
  t.same(await attempt(stage, WAYS), {})
})

t.test('none of them leaves a box that shares the network of a command that stays', limits, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  t.same(await attemptBeside(stage, WAYS), {})
})
