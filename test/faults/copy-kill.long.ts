import t from 'tap'
import { applySteps, prepareApply, refreshSteps, survivesApply, survivesCopy, survivesRefresh } from './copy-kill.ts'

t.test('killed at any step of an apply', async (t) => {
  const prepared = await prepareApply(t)
  const steps = await applySteps(t, prepared)
  for (let n = 0; n < steps; n++) {
    for (const when of ['before', 'after']) {
      const isTakenBack = (n % 2 === 0) === (when === 'after')
      await t.test(`${when} step ${n} of ${steps}`, (t) => survivesApply(t, prepared, `${n} ${when}`, { isTakenBack }))
    }
  }
})

t.test('killed at any step of a refresh', async (t) => {
  const { steps } = await refreshSteps(t)
  for (let n = 0; n < steps; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} step ${n} of ${steps}`, (t) => survivesRefresh(t, `${n} ${when}`))
  }
})

t.test('killed while it copies a large folder', async (t) => {
  for (let n = 0; n < 5; n++) await survivesCopy(t, 4_000 * (n + 1) - 1_000)
})
