import t from 'tap'
import { race } from './approval-races.ts'

for (let seed = 1; seed <= 20; seed++) {
  t.test(`seed ${seed}: answers, stops, new messages and lost connections at once run nothing twice, and nothing unapproved`, (t) =>
    race(t, 25, seed))
}
