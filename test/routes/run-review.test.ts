import t from 'tap'
import { say } from '../harness/agent.ts'
import { kinds, textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

const complex = { complexity: 'complex', goal: 'compare the two', thinking: 'hm', qualityCriteria: ['names both'] }
const verdict = (satisfied: boolean, ...issues: string[]) => ({
  outcome: satisfied ? 'done' : 'partly',
  claims: [],
  satisfied,
  score: satisfied ? 1 : 0.3,
  issues
})

/** A complex request whose answer is judged like this. */
function judged (t: Parameters<typeof withGateway>[0], evaluation: object | undefined, texts: string[], analysis: object = complex) {
  return withGateway(t, (_request, nth) => ({ text: texts[nth] }), {
    config: { analysis: true },
    structured: (name) =>
      name === 'analysis' ? { object: analysis } : evaluation === undefined ? { error: { status: 500 } } : { object: evaluation }
  })
}

t.test('an answer to a complex request is judged; what is found wrong is mended once, in the same stream', async (t) => {
  const { app, gateway } = await judged(t, verdict(false, 'It does not name the second one.'), [
    'Only the first.',
    'The first and the second.',
    'never'
  ])
  const { events } = await say(app, 'compare them')

  t.same(kinds(events).slice(4), [
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'finish-step',
    'step-boundary',
    'start-step',
    'text-start',
    'text-delta',
    'text-end',
    'finish-step',
    'finish'
  ])
  t.equal(textOf(events), 'Only the first.The first and the second.')
  const prompts = gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => JSON.stringify(body.prompt))
  t.equal(prompts.length, 2, 'at most one refinement')
  t.not(prompts[0], prompts[1], 'the model is not asked the same again')
  t.match(prompts[1], /It does not name the second one\./, 'it is told what was found')
  t.match(prompts[1], /Only the first\./, 'and what it had said')
  const judge = gateway.requests.find(({ structured }) => structured === 'evaluation')!
  t.match(JSON.stringify(judge.body.prompt), /compare the two[\s\S]*names both[\s\S]*Only the first/)
})

t.test('a good answer stands, and so does one that cannot be judged', async (t) => {
  for (const evaluation of [verdict(true), verdict(false), undefined]) {
    await t.test(JSON.stringify(evaluation) ?? 'no judge', async (t) => {
      const { app } = await judged(t, evaluation, ['This is it.', 'never'])
      t.equal(textOf((await say(app, 'compare them')).events), 'This is it.')
    })
  }
})

t.test('only complex requests are judged', async (t) => {
  const { app, gateway } = await judged(t, verdict(false, 'bad'), ['Short.', 'never'], { ...complex, complexity: 'standard' })
  t.equal(textOf((await say(app, 'hello')).events), 'Short.')
  t.notOk(gateway.requests.some(({ structured }) => structured === 'evaluation'))
})

t.test('a claim that no call can have had is found in a conversation too, and the request is judged in its own words', async (t) => {
  const claims = [{ claim: 'Gespeichert', effect: 'file', target: 'liste.md', call: null }]
  const { app, gateway } = await judged(
    t,
    { ...verdict(true), claims },
    ['Die Liste liegt in liste.md.', 'Die Liste wurde nicht gespeichert.']
  )
  const payload = { messages: [{ role: 'user', content: 'Bitte speichere die Liste.' }] }
  const body = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
  t.equal(body.text, 'Die Liste wurde nicht gespeichert.')
  t.match(body.evaluation, {
    outcome: 'failed',
    evidence: 'contradicted',
    judge: 'model',
    claims: [{ ...claims[0], verdict: 'contradicted' }]
  })
  const judge = gateway.requests.find(({ structured }) => structured === 'evaluation')!
  t.match(JSON.stringify(judge.body.prompt), /<request [\w-]+>\\nBitte speichere die Liste\./)
})

t.test('a question to the user stands, because the user answers it', async (t) => {
  const { app } = await judged(t, { ...verdict(false, 'It asks.'), outcome: 'asks' }, ['Which of the two?', 'never'])
  t.equal(textOf((await say(app, 'delete it')).events), 'Which of the two?')
})
