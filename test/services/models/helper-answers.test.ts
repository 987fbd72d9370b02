import t from 'tap'
import { tryAnswers } from './helper-answers.ts'

/** Each so many-eth answer of a call is tried here; all are in test/faults/helper-answers.long.ts. */
const EVERY = { analysis: 3, plan: 3, judge: 4, summary: 3, taskMemory: 4, facts: 3, topics: 1, title: 2 }

t.test('whatever a helper model answers, the user gets all that they get when it does not answer', (t) =>
  tryAnswers(t, (call) => EVERY[call]))
