import t from 'tap'
import { worksThroughTree } from './tree.ts'

// With 20,000 files: test/faults/tree.long.ts.
t.test('a model searches, edits, moves and deletes in a tree of files, and an undo leaves it as it was', (t) => worksThroughTree(t, 200))
