import t from 'tap'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const plan = { phases: [{ description: 'Do it' }] }
const judgement = (outcome: string, claims: object[] = [], issues: string[] = []) => ({
  object: { outcome, claims, satisfied: outcome === 'done' || outcome === 'nothing_to_do', score: 0.97, issues }
})

/** False reports of a file that nobody wrote, with what a judge that likes everything takes from them. */
const FALSE_REPORTS = [
  ['German', 'Ich habe die Liste in liste.md gespeichert.', 'Liste gespeichert', 'liste.md'],
  ['Spanish', 'He guardado la lista en lista.md.', 'Lista guardada', 'lista.md'],
  ['Japanese', '一覧を一覧.md に保存しました。', '一覧を保存した', '一覧.md']
]
for (const [language, report, claim, target] of FALSE_REPORTS) {
  t.test(`a false report in ${language} fails its run, whoever likes it, and is told so`, async (t) => {
    const { app, gateway } = await withGateway(t, () => ({ text: report }), {
      structured: () => judgement('done', [{ claim, effect: 'file', target, call: null }])
    })
    const tasks = await tasksOf(t, app)
    const events = await tasks.watch()
    const { id } = await tasks.create('write the list', { plan })
    await tasks.post(`/${id}/start`)

    t.match(await events.until('task:error'), { status: 'failed', error: new RegExp(`“${claim}” \\(${target}\\)\\. This is not so`) })
    const judged = {
      satisfied: false,
      qualityScore: 0.4,
      outcome: 'failed',
      evidence: 'contradicted',
      judge: 'model',
      claims: [{
        claim,
        effect: 'file',
        target,
        call: null,
        verdict: 'contradicted',
        reason: 'No completed call of this run can have done it.'
      }]
    }
    t.match(events.of('task:eval'), [judged, judged], 'after its one refinement')
    t.match((await tasks.runs(id))[0], { status: 'failed', evaluation: judged })
    t.match(
      (await tasks.get('/digest?since=0')).failed.items,
      [{ outcome: 'failed', evidence: 'contradicted', judge: 'model', claims: [{ claim }] }]
    )
    const prompts = gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => JSON.stringify(body.prompt))
    t.equal(prompts.length, 2)
    t.match(
      prompts[1],
      /A review of this run found.*This is not so.*do it, or say that it was not done\. If nothing was to be done, say that\./
    )
  })
}

t.test('a refinement that does what was missing completes the run', async (t) => {
  const { app } = await withGateway(t, ({ body: { prompt } }, nth) =>
    nth === 1
      ? {
          toolCalls: [{ toolName: 'writeFile', input: { path: 'list.md', content: 'tea' } }]
        }
      : { text: `Wrote list.md (${prompt.length}).` }, {
    structured: () => judgement('done', [{ claim: 'Wrote list.md', effect: 'file', target: 'list.md', call: null }])
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('write the list', { plan })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:complete'), { qualityScore: 0.97, toolCount: 1 })
  t.match(events.of('task:eval').map(({ evidence }) => evidence), ['contradicted', 'confirmed'])
  t.same((await tasks.get(`/${id}`)).memory.filesCreated, [`${app.cwd}/list.md`])
})

t.test('a run that asks is told to decide, once; then it fails', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'Which of the two do you mean?' }), { structured: () => judgement('asks') })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('delete the old one', { plan })
  await tasks.post(`/${id}/start`)
  t.match(await events.until('task:error'), { status: 'failed' })
  const prompts = gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => JSON.stringify(body.prompt))
  t.equal(prompts.length, 2)
  t.match(prompts[1], /decide, and say what you assumed/)
})
