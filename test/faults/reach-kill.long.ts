import t from 'tap'
import { answerThroughCuts } from './reach-kill.ts'

t.test('10,000 answers of two devices through cuts and kills: each request is decided once', (t) =>
  answerThroughCuts(t, { rounds: 25, conversations: 10, calls: 20, killEach: 1, seed: 2 }))
