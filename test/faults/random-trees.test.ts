import t from 'tap'
import { openUndo } from '../services/undo/helper.ts'
import { survivesTree } from './random-trees.ts'

// 2,000 of them: test/faults/random-trees.long.ts.
/** Their commands changed the permissions of a file that has another name. */
const LINKED = [1482, 1615]

t.test('a random tree that was changed at random is as before after an undo, but for what others changed', async (t) => {
  const undo = await openUndo(t)
  for (const seed of [...Array(100).keys(), ...LINKED]) await survivesTree(t, undo, seed)
})
