import t from 'tap'
import { findsNothing } from './nothing-to-do.ts'

t.test('a schedule whose runs have nothing to do goes on and is never paused', (t) => findsNothing(t, 12))
