import t from 'tap'
import { worksThroughTree } from './tree.ts'

t.test('a model works through a tree of 20,000 files, and an undo leaves it as it was', (t) => worksThroughTree(t, 20_000))
