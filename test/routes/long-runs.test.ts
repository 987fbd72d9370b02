import { writeFileSync } from 'node:fs'
import t from 'tap'
import { of, sayAll } from '../harness/agent.ts'
import { unpaired } from '../harness/pairs.ts'
import { compactions, json, small, TOO_LONG, turns, user, WINDOW, words } from '../harness/small-window.ts'
import { textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'

t.test('one long run is made to fit at each step, with what it did, and goes on', async (t) => {
  const { app, gateway, sent, summaries } = await small(t, {
    reply: (_request: any, nth: number) =>
      nth < 12
        ? { text: `step ${nth}`, toolCalls: [{ toolName: 'readFile', input: { path: `big${nth % 3}.txt` } }] }
        : { text: 'all read' },
    summary: (nth) =>
      nth === 0
        ? { object: { complexity: 'complex', goal: 'g', thinking: 't', qualityCriteria: [] } }
        : { object: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [], summary: 'Files were read.' } },
    config: { analysis: true }
  })
  for (const n of [0, 1, 2]) writeFileSync(`${app.cwd}/big${n}.txt`, words(`big ${n}`, 5_000))
  const { events } = await sayAll(app, [user('Read all the files.')])
  t.equal(textOf(events).slice(-8), 'all read')
  t.equal(sent().length, 13)
  for (const prompt of sent()) {
    t.same(unpaired(prompt), [])
    t.equal(prompt[1].content[0].text, 'Read all the files.')
    t.ok(json(prompt).length / 4 < WINDOW * 0.9)
  }
  t.match(sent()[12].at(-1).content[0].output, { value: { content: /big 2/ } }, 'the newest output is whole')
  t.match(json(sent()[12]), /left out to save room/)
  t.equal(summaries().length, 0, 'outputs were enough')
  t.ok(compactions(events).length > 0)
  t.ok(gateway.requests.length > 13)
})

t.test("steps of one run whose inputs are large are summed up once, behind the user's message", async (t) => {
  const { app, sent, summaries } = await small(t, {
    reply: (_request: any, nth: number) =>
      nth < 9
        ? { toolCalls: [{ toolName: 'writeFile', input: { path: `out${nth}.txt`, content: words(`text ${nth}`, 3_000) } }] }
        : { text: 'written' },
    config: { permissions: { writeFile: 'allow' } }
  })
  const { events } = await sayAll(app, [user('Write the files.')])
  t.equal(textOf(events), 'written')
  const last = sent().at(-1)!
  t.same(unpaired(last), [])
  t.equal(last[1].content[0].text, 'Write the files.')
  t.match(last[2].content[0].text, 'They talked of fado.')
  t.match(json(last.at(-2)), 'text 8')
  t.ok(summaries().length >= 1 && summaries().length <= 2, `asked ${summaries().length} times`)
})

t.test('who finds the conversation too long after all gets it shorter, once', async (t) => {
  const { app, sent } = await small(t, { reply: (_request: any, nth: number) => nth === 0 ? TOO_LONG : { text: 'now it fits' } })
  const { events } = await sayAll(app, [...turns(20, 800), user('and now?')])
  t.equal(textOf(events), 'now it fits')
  const [first, second] = sent()
  t.equal(first.length, 42)
  t.same(unpaired(second), [])
  t.ok(json(second).length < json(first).length * 0.8)
  t.equal(second.at(-1).content[0].text, 'and now?')
})

t.test('a conversation that is too long even so fails saying what to do, after one more try or none', async (t) => {
  const { app, sent } = await small(t, { reply: () => TOO_LONG })
  const failed = await sayAll(app, [...turns(20, 800), user('and now?')])
  t.equal(sent().length, 2)
  t.match(of(failed.events, 'error'), [{ code: 'ERR_CONTEXT_TOO_LONG', errorText: /test\/model[^]*a model that reads more/ }])
  await sayAll(app, [user(words('one', 12_000))])
  t.equal(sent().length, 3, 'nothing can be left out')
})

t.test('pictures count, and a run told as one object says what was done', async (t) => {
  const { app, sent } = await small(t)
  const picture = { type: 'file', mediaType: 'image/png', data: 'iVBORw0KGgo=' }
  const history = Array.from(
    { length: 14 },
    (_, n) => [{ role: 'user', content: [{ type: 'text', text: `see ${n}` }, picture] }, { role: 'assistant', content: 'nice' }]
  ).flat()
  const answer = (await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [...history, user('and now?')] } })).json()
  t.equal(answer.text, 'done')
  t.match(answer.compactions, [{ outputs: 0, dropped: 0 }])
  t.ok(answer.compactions[0].summarised > 0)
  t.ok(json(sent()[0]).split('image/png').length - 1 < 14)
})

t.test('a task run is made to fit in the same way, and keeps its summary through a pause', async (t) => {
  const release = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const { app, sent, summaries } = await small(t, {
    async reply (_request: any, nth: number) {
      if (nth === 8) {
        reached.resolve()
        await release.promise
      }
      return nth < 10
        ? { toolCalls: [{ toolName: 'writeFile', input: { path: `out${nth}.txt`, content: words(`text ${nth}`, 3_000) } }] }
        : { text: 'written' }
    }
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const task = await tasks.create('Write the files.')
  await tasks.post(`/${task.id}/start`)
  await reached.promise
  const before = summaries().length
  t.ok(before >= 1)
  await tasks.post(`/${task.id}/pause`)
  release.resolve()
  await tasks.post(`/${task.id}/resume`)
  t.match(await events.until('task:complete'), { status: 'completed' })
  for (const prompt of sent()) t.same(unpaired(prompt), [])
  const last = sent().at(-1)!
  t.equal(last[1].content[0].text, 'Write the files.')
  t.match(last[2].content[0].text, 'They talked of fado.')
  t.match(sent()[9][2].content[0].text, 'They talked of fado.', 'right after the pause')
  t.ok(summaries().length <= before + 1, 'none was made twice')
  const [run] = await tasks.runs(task.id)
  t.notOk('summaries' in run)
  t.equal(run.toolCount, 9, 'the call of the step that was cut off is not among them')
})
