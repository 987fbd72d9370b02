import t from 'tap'
import { killTaskLives } from './tasks-lives.ts'

t.test('200 lives of a service, each killed, lose and double no task, run, comment, answer or effect', async (t) => {
  const acknowledged = await killTaskLives(t, 200)

  t.comment(`${acknowledged} requests were acknowledged`)
  t.ok(acknowledged > 200)
})
