import t from 'tap'
import { createAnalysisPauses } from '../../../services/agent/analyze.ts'
import { fakeClock } from '../../harness/clock.ts'

t.test('each model has its own pause, and only so many failing models are remembered', async (t) => {
  const clock = fakeClock()
  const pauses = createAnalysisPauses({ clock, setup: () => [] })
  for (const model of ['a', 'b', 'a']) pauses.record(model, { hasFailed: true })
  t.same(['a', 'b'].map(pauses.has), [true, false])
  pauses.record('b', { hasFailed: true })
  t.ok(pauses.has('b'))
  await clock.advance(10 * 60_000)
  t.same(['a', 'b'].map(pauses.has), [false, false])

  for (let n = 0; n < 2; n++) pauses.record('a', { hasFailed: true })
  for (let n = 0; n < 100; n++) pauses.record(`other-${n}`, { hasFailed: true })
  t.notOk(pauses.has('a'), 'forgotten for newer ones')
})
