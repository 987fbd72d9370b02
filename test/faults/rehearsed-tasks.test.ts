import t from 'tap'
import { TASKS } from './rehearsed-table.ts'
import { prepareTasks } from './rehearsed-tasks.ts'

const skip = process.platform === 'linux' ? false : 'commands need bubblewrap'

t.test('rehearsed tasks change nothing, do unasked what was accepted, and are denied what departs', { skip }, async (t) => {
  const rehearsed = await prepareTasks(t)
  // All of them: test/faults/rehearsed-tasks.long.ts.
  const names = ['a note a day', 'a link stays', 'a command of that text alone', 'a command outside', 'a server writes', 'one of each']
  for (const task of TASKS.filter(({ name }) => names.includes(name))) await t.test(task.name, (t) => rehearsed(t, task))
})
