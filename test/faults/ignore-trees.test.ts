import t from 'tap'
import { compareWithGit } from './ignore-trees.ts'

t.test('what .gitignore and info/exclude leave out of 12 random trees is what git leaves out', async (t) => {
  // Among them are some with .git/info/exclude, rules that undo others, and two levels.
  for (let seed = 12; seed < 24; seed++) t.equal(compareWithGit(seed), undefined, `seed ${seed}`)
})
