import t from 'tap'
import { openUndo } from '../services/undo/helper.ts'
import { survivesTree } from './random-trees.ts'

// 2,000 of them: test/faults/random-trees.long.ts.
t.test('a random tree that was changed at random is as before after an undo, but for what others changed', async (t) => {
  const undo = await openUndo(t)
  for (let seed = 0; seed < 100; seed++) await survivesTree(t, undo, seed)
})
