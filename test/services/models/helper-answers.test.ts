import t from 'tap'
import { tryAnswers } from './helper-answers.ts'

/** Each so many-eth answer of a call is tried here; all are in test/faults/helper-answers.long.ts. */
const EVERY = { analysis: 5, plan: 5, judge: 6, summary: 5, taskMemory: 6, facts: 5, topics: 2, title: 3 }

t.test('whatever a helper model answers, the user gets all that they get when it does not answer', (t) =>
  tryAnswers(t, (call) => EVERY[call]))
