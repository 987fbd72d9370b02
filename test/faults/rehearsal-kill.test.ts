import t from 'tap'
import { countRehearsalWrites, prepareRehearsal, survivesRehearsal } from './rehearsal-kill.ts'
import { TASKS } from './rehearsed-table.ts'
import { prepareTasks } from './rehearsed-tasks.ts'

t.test('killed at a write of a rehearsal, the service leaves the folder as it was, and ends the rehearsal', async (t) => {
  const prepared = await prepareRehearsal(t)
  const writes = await countRehearsalWrites(t, prepared)
  // All of them: test/faults/rehearsal-kill.long.ts.
  for (let n = 3; n < writes; n += 18) {
    const when = n % 36 === 3 ? 'before' : 'after'
    await t.test(`${when} write ${n} of ${writes}`, (t) => survivesRehearsal(t, prepared, `${n} ${when}`))
  }
})

const skip = process.platform === 'linux' ? false : 'commands need bubblewrap'

t.test('rehearsed tasks change nothing, do unasked what was accepted, and are denied what departs', { skip }, async (t) => {
  const rehearsed = await prepareTasks(t)
  // All of them: test/faults/rehearsed-tasks.long.ts.
  const names = ['a command outside', 'a server writes', 'one of each']
  for (const task of TASKS.filter(({ name }) => names.includes(name))) await t.test(task.name, (t) => rehearsed(t, task))
})
