import t from 'tap'
import { openUndo } from '../services/undo/helper.ts'
import { survivesTree } from './random-trees.ts'

t.test('2,000 random trees', async (t) => {
  const undo = await openUndo(t)
  for (let seed = 100; seed < 2_100; seed++) await survivesTree(t, undo, seed)
})
