import t from 'tap'
import { race } from './task-races.ts'

t.test('whatever is asked of a task while its runs begin and end, its state is legal and each run has one end', (t) => race(t, 200))
