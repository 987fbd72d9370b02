import t from 'tap'
import { countWrites, prepare, survives } from './outage-kill.ts'

t.test('killed while its provider is down, a run goes on in the next life', async (t) => {
  const prepared = await prepare(t)
  const { untilItWaits } = await countWrites(t, prepared)
  // A run that waits is not tried by the next life before its time, one that was under way is.
  const moments: Array<[string, string, number]> = [
    ['before it is stored that it waits', `${untilItWaits - 1} before`, 2],
    ['once that is stored', `${untilItWaits - 1} after`, 1],
    ['when it is stored that it goes on', `${untilItWaits} after`, 1]
  ]
  for (const [moment, killAt, refusals] of moments) {
    await t.test(moment, async (t) => t.equal(await survives(t, prepared, killAt), refusals, 'the provider is asked no more often'))
  }
})
