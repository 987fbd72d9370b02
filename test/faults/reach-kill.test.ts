import t from 'tap'
import { answerThroughCuts } from './reach-kill.ts'

t.test('two devices answer through cuts and a kill: each request is decided once', (t) =>
  answerThroughCuts(t, { rounds: 2, conversations: 2, calls: 10, killEach: 2, seed: 1 }))
