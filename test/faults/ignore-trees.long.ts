import t from 'tap'
import { compareWithGit } from './ignore-trees.ts'

t.test('what .gitignore and info/exclude leave out of 500 random trees is what git leaves out', async (t) => {
  for (let seed = 1; seed <= 500; seed++) t.equal(compareWithGit(seed), undefined, `seed ${seed}`)
})
