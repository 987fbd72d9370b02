import { Type, TypeRegistry } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { writeFileSync } from 'node:fs'
import t from 'tap'
import { CompactionSchema, RunTaskSchema } from '../../schemas/agent.ts'
import { AskReasonSchema } from '../../schemas/grants.ts'
import { UsageSchema } from '../../schemas/usage.ts'
import { QuestionSchema } from '../../schemas/questions.ts'
import { events as schemas } from '../../schemas/run-stream-events.ts'
import { answer, asked, say, sayAll } from '../harness/agent.ts'
import { connect, misbehaving, noting } from '../harness/mcp.ts'
import type { Plan } from '../fakes/gateway.ts'
import { asking } from '../harness/questions.ts'
import { openRun, userSays } from '../harness/reader.ts'
import type { Sent } from '../harness/sse.ts'
import { fakeClock, until } from '../harness/clock.ts'
import { PlanSchema } from '../../schemas/plan.ts'
import { SteerSchema } from '../../schemas/steering.ts'
import { StoppedSchema } from '../../schemas/stopped.ts'
import { withDirect } from '../harness/with-direct.ts'
import { analysis } from '../harness/with-analysis.ts'
import { withGateway } from '../harness/with-gateway.ts'

const write = (path: string) => ({ toolName: 'writeFile', input: { path, content: 'x'.repeat(2_000) } })

/**
 * Everything the stream can tell, in a few runs: thinking, text, tools that work, fail, are malformed, approved and
 * denied, a task, errors and aborts.
 */
async function everything (t: Parameters<typeof withGateway>[0]): Promise<Sent[]> {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      { toolCalls: [{ toolName: 'createTask', input: { goal: 'look round', when: { every: 'daily' } } }] },
      { text: 'It is a task now.' },
      {
        reasoning: 'Hm, let me see.',
        text: 'I look round. ',
        toolCalls: [{ toolName: 'updatePlan', input: { steps: [{ text: 'Look', status: 'running' }] } }, {
          toolName: 'listDirectory',
          input: {}
        }, { toolName: 'readFile', input: { path: 'missing' } }, {
          toolName: 'readFile',
          input: { wrong: 1 }
        }, { toolName: 'unheardOf', input: {} }]
      },
      {
        text: Array.from({ length: 500 }, (_, n) => `word${n} `),
        toolCalls: [{ toolName: 'systemInfo', input: {} }, write('a.txt'), write('b.txt')]
      },
      { text: 'Again. ', toolCalls: [write('b.txt')] },
      { text: ['Half a ', 'sentence'], ending: { error: { message: 'out of order', type: 'broken' } }, after: 4 },
      { text: ['first ', 'never'], ending: 'stall' as const, after: 4 },
      { text: 'Long.' },
      asking(),
      { text: 'on.' },
      { toolCalls: [{ toolName: 'answer', input: { n: 'one' } }] },
      { toolCalls: [{ toolName: 'answer', input: { n: 1 } }] },
      { toolCalls: [{ toolName: 'answer', input: {} }] },
      { toolCalls: [{ toolName: 'openTab', input: {} }] },
      { toolCalls: [{ toolName: 'count', input: { notes: 1, message: 'one' } }] },
      { text: 'Counted.' },
      {
        toolCalls: [{
          toolName: 'ask',
          input: { mode: 'url', elicitationId: 'login', message: 'Log in first', url: 'http://127.0.0.1:9/x', then: 'complete' }
        }]
      },
      { text: 'Logged in.' }
    ][nth], {
    config: { analysis: true, contextWindows: { test: 20_000 } },
    structured: (name): Plan => name === 'analysis' ? { object: { complexity: 'standard', timeWords: '', thinking: 'Often.' } } : {}
  })
  const often = await say(app, 'look round every day')
  writeFileSync(`${app.cwd}/ünï.txt`, 'hello')

  const first = await say(app, 'do it all', { id: 'chat' })
  const [a, b] = asked(first.events)
  const half = await answer(app, { [a]: true })
  const second = await answer(app, { [b]: false })
  const stalled = await openRun(app, { ...userSays('and now?'), id: 'other' })
  await stalled.says('first ')
  await app.inject({ method: 'POST', url: '/run/other/steer', payload: { message: 'Only the first page, please.' } })
  await app.inject({ method: 'POST', url: '/run/other/stop' })
  await stalled.ended
  const long = await sayAll(app, [{ role: 'user', content: 'go' }, { role: 'assistant', content: 'word '.repeat(16_000) }, {
    role: 'user',
    content: 'on'
  }])
  const questions = await say(app, 'ask me', { options: { interactive: true } })
  const object = { schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } }
  const data = await say(app, 'as data', { options: { object } })
  const noData = await say(app, 'as data', { options: { object: { ...object, retries: 0 } } })
  const openTab = { name: 'openTab', description: 'Opens a tab', inputSchema: { type: 'object' }, effect: 'read' }
  const ofApp = await say(app, 'in the app', { options: { appTools: [openTab] } })
  await connect(app, noting())
  const counted = await say(app, 'count')
  await connect(app, misbehaving('travel', [], { approval: 'never' }))
  const loggedIn = await say(app, 'log in')
  return [counted, loggedIn, questions, data, ofApp, noData, long, often, first, half, second, stalled].flatMap(({ events }) => events)
}

TypeRegistry.Set('Unsafe', (schema: { enum: unknown[] }, value) => schema.enum.includes(value))
const SHARED = [AskReasonSchema, PlanSchema, SteerSchema, StoppedSchema, CompactionSchema, RunTaskSchema, UsageSchema, QuestionSchema]

t.test('every event of a long, varied run fits its schema, which names all of its fields', async (t) => {
  const all = await everything(t)
  await t.test('an answer that breaks off, and one that takes long', async (t) => {
    const clock = fakeClock()
    const half: Plan = { text: ['Half ', 'of'], ending: 'cut', after: 4 }
    const stalled: Plan = { ending: 'stall', after: 0 }
    const { app } = await withGateway(t, (_request, nth) => nth === 0 ? half : stalled, { clock })
    const run = await openRun(app, userSays('go'))
    await run.says('data-retry')
    await until(run.says('data-waiting'), () => clock.advance(500))
    all.push(...run.events)
    run.hangUp()
  })
  await t.test('a model that takes no tools', async (t) => {
    const { app } = await withDirect(t, ({ body }) =>
      body.tools ? { error: { status: 400, message: 'small does not support tools' } } : { text: 'Hello.' })
    all.push(...(await say(app, 'hi')).events)
  })
  await t.test('an answer that is written again', async (t) => {
    const claims = [{ quote: 'I saved it in list.md', claim: 'Saved', effect: 'file', target: 'list.md', call: null }]
    const { app } = await withGateway(t, (_request, nth) => ({ text: ['I saved it in list.md.', 'It was not saved.'][nth] }), {
      config: { analysis: true },
      structured: (name) =>
        ({ object: name === 'analysis' ? analysis('complex') : { outcome: 'done', satisfied: true, score: 1, issues: [], claims } })
    })
    all.push(...(await say(app, 'save it')).events)
  })
  const seen = new Set(all.map(({ type }) => type))
  t.same(schemas.map(({ properties: { type } }) => type.const).filter((type) => !seen.has(type)), [], 'every documented event was seen')
  for (const event of all) {
    const schema = schemas.find(({ properties }) => properties.type.const === event.type)
    if (schema === undefined) t.fail(`${event.type} is documented`)
    // Nothing but what is documented, and no documented field of the wrong type.
    else if (!Value.Check(Type.Object(schema.properties, { additionalProperties: false }), SHARED, event)) {
      t.same(event, schema, event.type)
    }
  }
})
