import t from 'tap'
import { race } from './approval-races.ts'

t.test('answers, stops, new messages and lost connections at once: nothing runs twice, and nothing unapproved', (t) => race(t, 8, 1))
