import t from 'tap'
import type { App } from '../../app.ts'
import { isLastWord, of, say, sayAll } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { kinds, parseEvents, textOf } from '../harness/sse.ts'
import { analysis } from '../harness/with-analysis.ts'
import { withGateway } from '../harness/with-gateway.ts'

const judged = { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }

/** A service whose model looks as long as it may, and whose analysis answers with that complexity. */
const looking = (t: Parameters<typeof withGateway>[0], complexity: string, config: object = {}) =>
  withGateway(t, (request) => isLastWord(request) ? { text: 'enough' } : { toolCalls: [{ toolName: 'systemInfo', input: {} }] }, {
    config: { analysis: true, agent: { steps: { conversation: 2 } }, ...config },
    structured: (name) => ({ object: name === 'analysis' ? analysis(complexity) : judged })
  })

t.test('the analysis sees the latest exchanges, and a request that continues them is never simple', async (t) => {
  const { app, gateway } = await looking(t, 'simple')
  const { events } = await sayAll(app, [
    { role: 'user', content: `Compare the two contracts. ${'x'.repeat(20_000)}` },
    { role: 'assistant', content: 'They differ in the term of notice.' },
    { role: 'user', content: 'And the third?' }
  ])
  const { body: { prompt } } = gateway.requests.find(({ structured }) => structured === 'analysis')!
  const texts = prompt.slice(1).map(({ role, content: [{ text }] }: any) => [role, text])
  t.match(texts, [['user', /Compare the two contracts\.[^]*assistant: They differ in the term of notice\./], ['user', /^And the third\?$/]])
  t.ok(texts[0][1].length < 3_000, 'bounded')
  t.equal(of(events, 'tool-output-available').length, 2)
  t.equal(textOf(events), 'enough')
})

t.test('an analysis is read field by field', async (t) => {
  let fields: object = {}
  const { app } = await withGateway(t, () => ({ text: 'ok' }), {
    config: { analysis: true },
    structured: () => ({ object: { ...analysis('standard'), ...fields } })
  })
  for (fields of [{ timeWords: null }, { complexity: 'N/A' }, { timeWords: ['x'], mood: 'glad' }, { complexity: undefined }]) {
    const { events } = await say(app, 'go')
    t.match(of(events, 'reasoning-delta').map(({ content }) => content).join(''), /plain/, JSON.stringify(fields))
  }
})

/** A service whose analysis fails while `is.broken`; `thinking` tells what a run said of its analysis. */
async function failing (t: Parameters<typeof withGateway>[0], config: object = {}) {
  const clock = fakeClock()
  const is = { broken: true }
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }), {
    clock,
    config: { analysis: true, models: { fast: 'test/fast' }, ...config },
    structured: (name) => name !== 'analysis' ? {} : is.broken ? { error: { status: 400, message: 'no' } } : { object: analysis('simple') }
  })
  return {
    app,
    clock,
    is,
    analyses: () => gateway.requests.filter(({ structured }) => structured === 'analysis').length,
    async thinking (): Promise<string> {
      const { events } = await say(app, 'go')
      return of(events, 'reasoning-delta').map(({ content }) => content).join('')
    }
  }
}
/** What the user hears of an analysis that failed or is left out. */
const NOTHING = ''

t.test('a model whose analysis failed twice in a row is not waited for again for ten minutes', async (t) => {
  const { clock, is, analyses, thinking } = await failing(t)
  t.equal(await thinking(), NOTHING)
  is.broken = false
  t.match(await thinking(), /plain/)
  is.broken = true
  t.equal(await thinking(), NOTHING, 'one failure after a success is the first')
  t.equal(await thinking(), NOTHING)
  t.equal(analyses(), 4)
  for (let n = 0; n < 3; n++) t.equal(await thinking(), NOTHING)
  await clock.advance(10 * 60_000 - 1)
  t.equal(await thinking(), NOTHING)
  t.equal(analyses(), 4, 'no call was made')
  await clock.advance(1)
  t.equal(await thinking(), NOTHING, 'asked again')
  t.equal(await thinking(), NOTHING, 'and left out again, as it still fails')
  await clock.advance(10 * 60_000)
  is.broken = false
  t.match(await thinking(), /plain/)
  is.broken = true
  t.equal(await thinking(), NOTHING)
  t.equal(await thinking(), NOTHING)
})

t.test('a model that takes too long is one that fails, and a stopped run is no failure', async (t) => {
  const clock = fakeClock()
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }), {
    clock,
    config: { analysis: true },
    structured: (name) => name === 'analysis' ? new Promise<never>(() => {}) : {}
  })
  const analyses = () => gateway.requests.filter(({ structured }) => structured === 'analysis').length
  for (let n = 0; n < 3; n++) {
    const running = say(app, 'go', { id: 'chat' })
    await clock.sleeper(2_000)
    while (analyses() <= n) await new Promise((resolve) => setTimeout(resolve, 2))
    await app.inject({ method: 'POST', url: '/run/chat/stop' })
    await running
  }
  for (let n = 0; n < 2; n++) {
    const running = say(app, 'go')
    await clock.sleeper(2_000)
    while (analyses() <= n + 3) await new Promise((resolve) => setTimeout(resolve, 2))
    await clock.advance(2_000)
    t.same(of((await running).events, 'reasoning-delta'), [])
  }
  t.same(of((await say(app, 'go')).events, 'reasoning-delta'), [])
  t.equal(analyses(), 5)
})

t.test('another fast model, a new key, or a configuration that was read again ends the pause', async (t) => {
  const { app, analyses, thinking } = await failing(t)
  for (let n = 0; n < 3; n++) await thinking()
  t.equal(analyses(), 2)
  await app.config.update((config) => ({ ...config, models: { fast: 'test/other' } }))
  for (let n = 0; n < 3; n++) await thinking()
  t.equal(analyses(), 4)
  await app.config.reload()
  for (let n = 0; n < 3; n++) await thinking()
  t.equal(analyses(), 6)
  await app.inject({ method: 'POST', url: '/providers/configure', payload: { gateway_key: 'another' } })
  for (let n = 0; n < 3; n++) await thinking()
  t.equal(analyses(), 8)
})

const complex = { complexity: 'complex', goal: 'compare the two', thinking: 'hm', qualityCriteria: ['names both'] }
const verdict = (satisfied: boolean, ...issues: string[]) => ({
  outcome: satisfied ? 'done' : 'partly',
  claims: [],
  satisfied,
  score: satisfied ? 1 : 0.3,
  issues
})

/** A complex request whose answer is judging like this. */
function judging (t: Parameters<typeof withGateway>[0], evaluation: object | undefined, texts: string[], analysis: object = complex) {
  return withGateway(t, (_request, nth) => ({ text: texts[nth] }), {
    config: { analysis: true },
    structured: (name) =>
      name === 'analysis' ? { object: analysis } : evaluation === undefined ? { error: { status: 500 } } : { object: evaluation }
  })
}

/** The answer, without the analysis: that one runs beside the first step, so it stands before the step or behind it. */
const answerKinds = (events: Parameters<typeof kinds>[0]) =>
  kinds(events).filter((type) => type !== 'start' && !type.startsWith('reasoning'))

const steps = (gateway: Awaited<ReturnType<typeof judging>>['gateway']) =>
  gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => JSON.stringify(body.prompt))

/** Says something more in a conversation; only the thread knows what was said before. */
const goOn = (app: App, id: string) =>
  app.inject({ method: 'POST', url: '/run/sync', payload: { id, message: { role: 'user', content: 'Danke' } } })

t.test('the answer to a complex request is judged, and written again once; what is no better is not shown', async (t) => {
  const lacking = { ...verdict(false, 'It does not name the second one.'), missing: ['compare them'] }
  const { app, gateway } = await judging(t, lacking, ['Only the first.', 'The first and the second.', 'never'])
  const { events } = await say(app, 'compare them', { id: 'compared' })

  t.same(answerKinds(events), ['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'])
  t.equal(textOf(events), 'Only the first.')
  t.match(events.at(-1), { finishReason: 'stop', stopped: undefined })
  const prompts = steps(gateway)
  t.equal(prompts.length, 2, 'at most one refinement')
  t.match(prompts[1], /It does not name the second one\./, 'it is told what was found')
  t.match(prompts[1], /Only the first\./, 'and what it had said')
  const judge = gateway.requests.find(({ structured }) => structured === 'evaluation')!
  t.match(JSON.stringify(judge.body.prompt), /compare them[\s\S]*Only the first/)
  await goOn(app, 'compared')
  t.notMatch(steps(gateway).at(-1), /The first and the second/, 'and the thread does not hold it')
})

t.test('what a judge misses that the request does not ask for changes nothing', async (t) => {
  const lacking = { ...verdict(false, 'No poem.'), missing: ['write a poem'] }
  const { app, gateway } = await judging(t, lacking, ['Both are red.', 'never'])
  t.equal(textOf((await say(app, 'compare them')).events), 'Both are red.')
  t.equal(steps(gateway).length, 1)
})

t.test('an answer stands when its second version fails', async (t) => {
  const lacking = { ...verdict(false, 'short'), missing: ['compare them'] }
  const failing = { error: { status: 400, message: 'no' } }
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? { text: 'Both are red.' } : failing, {
    config: { analysis: true },
    structured: (name) => ({ object: name === 'analysis' ? complex : lacking })
  })
  const { events } = await say(app, 'compare them')
  t.equal(textOf(events), 'Both are red.')
  t.same(answerKinds(events), ['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'])
  t.match(events.at(-1), { finishReason: 'stop' })
})

t.test('a good answer stands, and so does one that cannot be judged', async (t) => {
  for (const evaluation of [verdict(true), verdict(false), undefined]) {
    await t.test(JSON.stringify(evaluation) ?? 'no judge', async (t) => {
      const { app } = await judging(t, evaluation, ['This is it.', 'never'])
      t.equal(textOf((await say(app, 'compare them')).events), 'This is it.')
    })
  }
})

t.test('only complex requests are judged', async (t) => {
  const { app, gateway } = await judging(t, verdict(false, 'bad'), ['Short.', 'never'], { ...complex, complexity: 'standard' })
  t.equal(textOf((await say(app, 'hello')).events), 'Short.')
  t.notOk(gateway.requests.some(({ structured }) => structured === 'evaluation'))
})

const CLAIM = { quote: 'Die Liste liegt in liste.md', claim: 'Gespeichert', effect: 'file', target: 'liste.md', call: null }
const FALSE = ['Die Liste liegt in liste.md.', 'Die Liste wurde nicht gespeichert.', 'Gern.']

t.test('of two versions of an answer the one stands that the calls contradict less, and the other is kept beside it', async (t) => {
  const { app, gateway } = await judging(t, { ...verdict(true), claims: [CLAIM] }, FALSE)
  const payload = { id: 'list', messages: [{ role: 'user', content: 'Bitte speichere die Liste.' }] }
  const body = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
  t.same([body.text, body.otherText], [FALSE[1], FALSE[0]])
  t.match(body.evaluation, { outcome: 'done', claims: [] }, 'the evaluation is that of the version that stands')
  const judge = gateway.requests.find(({ structured }) => structured === 'evaluation')!
  t.match(JSON.stringify(judge.body.prompt), /<request [\w-]+>\\nBitte speichere die Liste\./)
  const run = (await app.inject(`/runs/${body.runId}`)).json()
  t.match(run, { output: FALSE[1], otherOutput: FALSE[0] })
  await goOn(app, 'list')
  t.match(steps(gateway).at(-1), /liegt in liste\.md.*nicht gespeichert/, 'the thread keeps both')
})

t.test('a stream sends the second version of an answer as a part of its own, in every protocol', async (t) => {
  for (const protocol of ['documented', 'ui', 'ui5', 'ui7']) {
    await t.test(protocol, async (t) => {
      const { app, gateway } = await judging(t, { ...verdict(true), claims: [CLAIM] }, FALSE)
      const payload = { id: 'list', messages: [{ role: 'user', content: 'Bitte speichere die Liste.' }] }
      const { body } = await app.inject({ method: 'POST', url: `/run?protocol=${protocol}`, payload })
      const events = parseEvents(body.replace(/data: \[DONE\]\n\n$/, ''))
      t.equal(of(events, 'text-delta').map(({ delta }) => delta).join(''), FALSE[0], 'nothing stands glued behind the first')
      t.match(of(events, 'data-revision'), [{ id: 'revision', data: { text: FALSE[1] } }])
      t.equal(of(events, 'data-revision').length, 1)
      const { messages } = (await app.inject('/threads/list?protocol=ui')).json()
      const kept = messages.at(-1).parts.filter(({ type }: any) => type === 'text' || type === 'data-revision')
      t.match(kept, [{ text: FALSE[0] }, { data: { text: FALSE[1] } }])
      await goOn(app, 'list')
      t.match(steps(gateway).at(-1), /liegt in liste\.md.*nicht gespeichert/, 'the thread keeps both')
    })
  }
})

t.test('clients of OpenAI get the better version as a whole answer, in a stream as a note, and the thread keeps both', async (t) => {
  for (const stream of [false, true]) {
    await t.test(String(stream), async (t) => {
      const { app, gateway } = await judging(t, { ...verdict(true), claims: [CLAIM] }, FALSE)
      const messages: object[] = [{ role: 'user', content: 'Bitte speichere die Liste.' }]
      const ask = () => app.inject({ method: 'POST', url: '/v1/chat/completions', payload: { model: 'test/model', stream, messages } })
      const { body } = await ask()
      const deltas = stream
        ? body.split('\n\n').filter((line) => line.startsWith('data: {')).map((line) => JSON.parse(line.slice(6)).choices[0]?.delta ?? {})
        : [JSON.parse(body).choices[0].message]
      const content = deltas.map((delta) => delta.content ?? '').join('')
      t.equal(content, FALSE[stream ? 0 : 1])
      const notes = deltas.map((delta) => delta.reasoning_content ?? '').join('')
      t.equal(notes.includes(FALSE[1]), stream)
      messages.push({ role: 'assistant', content }, { role: 'user', content: 'Danke.' })
      t.equal((await ask()).statusCode, 200)
      t.match(steps(gateway).at(-1), /liegt in liste\.md.*nicht gespeichert/, 'the thread keeps both')
    })
  }
})

t.test('a question to the user stands, because the user answers it', async (t) => {
  const { app } = await judging(t, { ...verdict(false, 'It asks.'), outcome: 'asks' }, ['Which of the two?', 'never'])
  t.equal(textOf((await say(app, 'delete it')).events), 'Which of the two?')
})
