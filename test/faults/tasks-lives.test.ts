import t from 'tap'
import { killTaskLives } from './tasks-lives.ts'

t.test('a service that is killed at any moment loses and doubles no task, run, comment, answer or effect', async (t) => {
  t.ok(await killTaskLives(t, 3) > 3)
})
