import { mkdirSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { tasksOf } from '../../harness/tasks.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import type { Case } from './cases.ts'
import { FALSE_SUCCESSES } from './false-successes.ts'
import { TRUE_SUCCESSES } from './true-successes.ts'

/**
 * Runs every case as a task of its own, half of them before a judge who likes everything, half before none. How each
 * ended, by its goal.
 */
async function runAll (t: Test, cases: Case[]): Promise<Map<string, any>> {
  const byGoal = new Map(cases.map((each, at) => [each.goal, { ...each, hasJudge: at % 2 === 0 }]))
  t.equal(byGoal.size, cases.length, 'every goal is another')
  const { app } = await withGateway(t, ({ body: { prompt } }) => {
    const { turns } = byGoal.get(prompt[1].content[0].text)!
    const answers = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    return turns[Math.min(answers, turns.length - 1)]
  }, {
    config: { tasks: { concurrency: 8 } },
    structured (name, { body: { prompt } }) {
      if (name !== 'evaluation') return { object: { findings: [], decisions: [] } }
      const goal = /^Goal: (.*)$/m.exec(prompt[1].content[0].text)![1]
      return byGoal.get(goal)!.hasJudge
        ? { object: { satisfied: true, score: 1, issues: [] } }
        : { error: { status: 400, type: 'invalid_request_error', message: 'no judge' } }
    }
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const goals = new Map<string, string>()
  for (const [at, { goal, files = {}, phases = [goal] }] of cases.entries()) {
    const cwd = `${app.cwd}/${at}`
    mkdirSync(cwd)
    for (const [name, content] of Object.entries(files)) writeFileSync(`${cwd}/${name}`, content)
    const { id } = await tasks.create(goal, { cwd, plan: { phases: phases.map((description) => ({ description })) } })
    goals.set(id, goal)
    await tasks.post(`/${id}/start`)
  }
  const ends = await events.ends(cases.length)
  return new Map(ends.map((end) => [goals.get(end.taskId)!, end]))
}

t.test('no false success is completed, whatever it says and whoever likes it', async (t) => {
  const ends = await runAll(t, Object.values(FALSE_SUCCESSES).flat())
  for (const [kind, cases] of Object.entries(FALSE_SUCCESSES)) {
    for (const { goal, turns } of cases) {
      t.match(
        ends.get(goal),
        { type: 'task:error', status: 'failed', error: /did not reach its goal: ...|test\/model/ },
        `${kind}: ${goal}: ${turns.at(-1)!.text}`
      )
    }
  }
})

t.test('what was done is completed, whatever words tell it', async (t) => {
  const ends = await runAll(t, TRUE_SUCCESSES)
  for (const { goal, turns } of TRUE_SUCCESSES) {
    t.match(ends.get(goal), { type: 'task:complete', status: 'completed' }, `${goal}: ${turns.at(-1)!.text}`)
  }
})
