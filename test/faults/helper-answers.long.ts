import t from 'tap'
import { tryAnswers } from '../services/models/helper-answers.ts'

// All answers of both halves.

t.test('whatever a helper model answers, the user gets all that they get when it does not answer', (t) => tryAnswers(t, () => 1))
