import t from 'tap'
import { applySteps, prepareApply, refreshSteps, survivesApply, survivesCopy, survivesRefresh } from './copy-kill.ts'
import { refactor } from './refactor-copy.ts'

t.test('killed at a step of an apply, the same request again is through', async (t) => {
  const prepared = await prepareApply(t)
  const steps = await applySteps(t, prepared)
  // All of them: test/faults/copy-kill.long.ts. The steps of the start and of the end are at both ends.
  const at = Math.floor(steps / 2)
  for (const [killAt, isTakenBack] of [[`${at} before`, true], [`${at + 2} after`, false]] as const) {
    await t.test(`${killAt} of ${steps}`, (t) => survivesApply(t, prepared, killAt, { isTakenBack }))
  }
})

t.test('killed at a step of a refresh, the copy is refreshed by the next run', async (t) => {
  const { renamed } = await refreshSteps(t)
  // All of them: test/faults/copy-kill.long.ts.
  await survivesRefresh(t, `${renamed[1]} after`)
})

t.test('killed while it copies a folder, the service leaves no part of the copy', (t) => survivesCopy(t, 1_500))

t.test('a chat refactors a repository on a copy, which is applied by file and taken back', async (t) => {
  await refactor(t, 80)
})
