import { realpathSync } from 'node:fs'
import t from 'tap'
import { openUndo } from '../services/undo/helper.ts'
import { survivesClone, survivesTakeOver, survivesTree } from './random-trees.ts'

t.test('2,000 random trees', async (t) => {
  const undo = await openUndo(t)
  for (let seed = 100; seed < 2_100; seed++) await survivesTree(t, undo, seed)
})

t.test('1,000 clones', async (t) => {
  const work = realpathSync(t.testdir({}))
  for (let seed = 100; seed < 1_100; seed++) await survivesClone(t, work, seed)
})

t.test('1,000 clones that are taken over', async (t) => {
  const undo = await openUndo(t)
  for (let seed = 100; seed < 1_100; seed++) await survivesTakeOver(t, undo, seed)
})
