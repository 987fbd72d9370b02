import t from 'tap'
import { TASKS } from './rehearsed-table.ts'
import { prepareTasks } from './rehearsed-tasks.ts'

t.test('fifty tasks are rehearsed, accepted and run', async (t) => {
  t.equal(TASKS.length, 50)
  const rehearsed = await prepareTasks(t)
  for (const task of TASKS) await t.test(task.name, (t) => rehearsed(t, task))
})
