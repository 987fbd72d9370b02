import { realpathSync } from 'node:fs'
import t from 'tap'
import { openUndo } from '../services/undo/helper.ts'
import { survivesClone, survivesTakeOver, survivesTree } from './random-trees.ts'

// 2,000 of them: test/faults/random-trees.long.ts.
/** Their commands changed the permissions of a file that has another name. */
const LINKED = [1482, 1615]
/** A folder became a link, and what was in its folders is gone with it. */
const LINK_ABOVE = 84

t.test('a random tree that was changed at random is as before after an undo, but for what others changed', async (t) => {
  const undo = await openUndo(t)
  for (const seed of [...Array(40).keys(), ...LINKED]) await survivesTree(t, undo, seed)
})

t.test('a clone of a random tree gets what was changed in the tree, where it was not changed itself', async (t) => {
  const work = realpathSync(t.testdir({}))
  for (const seed of [...Array(15).keys(), LINK_ABOVE]) await survivesClone(t, work, seed)
})

t.test('a clone that was changed at random is taken over but for what others changed, and taken back', async (t) => {
  const undo = await openUndo(t)
  for (let seed = 0; seed < 12; seed++) await survivesTakeOver(t, undo, seed)
})
