import t from 'tap'
import {
  prepareCommand,
  prepareCommit,
  prepareWrites,
  stepsOf,
  survivesCommand,
  survivesCommitUndo,
  survivesEdit,
  survivesUndo,
  survivesWrite
} from './undo-kill.ts'

t.test('killed at a step of a run that writes and deletes, the service has what was changed, and an undo brings it back', async (t) => {
  const prepared = await prepareWrites(t)
  const steps = await stepsOf(t, prepared)
  // All of them: test/faults/undo.long.ts.
  for (let n = 2; n < steps; n += 24) {
    await t.test(`step ${n} of ${steps}`, (t) => survivesWrite(t, prepared, `${n} ${n % 48 === 2 ? 'before' : 'after'}`))
  }
})

t.test('killed at a step of an undo, the same undo again is through', async (t) => {
  const prepared = await prepareWrites(t)
  // The start writes twice; then come the record of the undo, each file, and the outcome.
  for (const killAt of ['2 after', '4 before']) await t.test(killAt, (t) => survivesUndo(t, prepared, killAt))
})

t.test('killed at a step of a run with a command, the folder is what it was after an undo', async (t) => {
  const prepared = await prepareCommand(t)
  const steps = await stepsOf(t, prepared)
  for (let n = 3; n < steps; n += 24) {
    await t.test(`step ${n} of ${steps}`, (t) => survivesCommand(t, prepared, `${n} ${n % 48 === 3 ? 'before' : 'after'}`))
  }
})

t.test('killed at a step of an undo in a repository, the next start finishes it', async (t) => {
  const prepared = await prepareCommit(t)
  for (const killAt of ['5 after', '8 before']) await t.test(killAt, (t) => survivesCommitUndo(t, prepared, killAt))
})

t.test('killed between the undo of replaced answers and the run, the same message again leaves the folder as before them', async (t) => {
  // Between the files of the second undo, and before the run is stored.
  for (const killAt of ['8 before', '9 after']) await t.test(killAt, (t) => survivesEdit(t, killAt))
})
