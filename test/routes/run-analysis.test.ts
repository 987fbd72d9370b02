import t from 'tap'
import { of, say, sayAll } from '../harness/agent.ts'
import { textOf } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

const analysis = (complexity: string) => ({ complexity, goal: 'see it', thinking: 'hm', qualityCriteria: [], interval: '' })
const judged = { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }

/** A service whose model looks as long as it may, and whose analysis answers with that complexity. */
const looking = (t: Parameters<typeof withGateway>[0], complexity: string, config: object = {}) =>
  withGateway(t, ({ body }) => body.toolChoice.type === 'auto' ? { toolCalls: [{ toolName: 'systemInfo', input: {} }] } : { text: 'enough' }, {
    config: { analysis: true, ...config },
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
  t.equal(of(events, 'tool-output-available').length, 10, 'the steps of a standard request')
  t.equal(textOf(events), 'enough')
})

t.test('config.agent.steps says how many steps a request may take', async (t) => {
  const stepsOf = async (complexity: string, config: object) => t.test(complexity, async (t) => {
    const { app } = await looking(t, complexity, config)
    t.equal(of((await say(app, 'go')).events, 'tool-output-available').length, 2)
  })
  for (const complexity of ['simple', 'standard', 'complex']) await stepsOf(complexity, { agent: { steps: { [complexity]: 2 } } })
  await stepsOf('not analysed', { analysis: false, agent: { steps: { standard: 2 } } })
})
