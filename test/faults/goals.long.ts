import t from 'tap'
import { GOALS } from '../../eval/goals/index.ts'
import { prove } from '../../eval/scripted/prove.ts'

t.test('every goal is reached by its good script, missed by its bad ones, and has no check that cannot fail', async (t) => {
  for (const goal of GOALS) t.same((await prove(goal)).faults, [], goal.name)
})
