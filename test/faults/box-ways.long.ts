import t from 'tap'
import { attempt, setStage } from '../services/sandbox/stage.ts'
import { WAYS } from './box-ways.ts'

t.test('none of more than 200 commands leaves the box', {
  skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux',
  timeout: 900_000
}, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  t.ok(Object.keys(WAYS).length >= 200, `${Object.keys(WAYS).length} commands`)
  t.same(await attempt(stage, WAYS), {})
})
