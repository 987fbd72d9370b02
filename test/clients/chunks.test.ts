import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { asked } from '../harness/agent.ts'
import { calls, OPTIONS } from '../harness/app-tools.ts'
import { hastyClock } from '../harness/clock.ts'
import { connect, noting } from '../harness/mcp.ts'
import { parseEvents, type Sent } from '../harness/sse.ts'
import { openRun } from '../harness/reader.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { versions } from './versions.ts'

const append = (text: string) => ({ toolName: 'runCommand', input: { command: `printf ${text} >> effects.log` } })
const DONE = 'data: [DONE]\n\n'

async function post (app: App, url: string, payload: object) {
  const { body, headers, statusCode } = await app.inject({ method: 'POST', url, payload })
  return { body, headers, statusCode, events: parseEvents(body.replace(DONE, '')) }
}

/** Everything a stream can hold: thinking with a signature, texts, good, bad and failing calls, approvals each way, a failure. */
async function everything (t: Test, protocol: string): Promise<Sent[]> {
  const signed = { anthropic: { signature: 'sig' } }
  const { app } = await withGateway(t, (_request, nth) =>
    [
      {
        parts: [
          { type: 'stream-start', warnings: [] },
          { type: 'reasoning-start', id: 'r' },
          { type: 'reasoning-delta', id: 'r', delta: 'hm "quoted"\n\u2028' },
          { type: 'reasoning-end', id: 'r', providerMetadata: signed },
          { type: 'text-start', id: 't' },
          { type: 'text-delta', id: 't', delta: 'Ünï \\ "x"\n' },
          { type: 'text-end', id: 't', providerMetadata: signed },
          { type: 'tool-input-start', id: 'c', toolName: 'systemInfo' },
          { type: 'tool-input-delta', id: 'c', delta: '{}' },
          { type: 'tool-input-end', id: 'c' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'systemInfo', input: '{}', providerMetadata: signed },
          { type: 'tool-call', toolCallId: 'd', toolName: 'readFile', input: '{not json', providerMetadata: signed },
          {
            type: 'finish',
            finishReason: { unified: 'tool-calls', raw: 'x' },
            usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
          }
        ]
      },
      { toolCalls: [{ toolName: 'readFile', input: { path: 'missing.txt' } }, append('a'), append('b')] },
      { toolCalls: [append('a'), append('c')] },
      { text: ['half ', 'an answer'], ending: 'cut' as const, after: 4 },
      { error: { status: 400, message: 'no' } },
      { text: 'on', finishReason: 'length' },
      { toolCalls: [{ toolName: 'answer', input: {} }] },
      calls('saveDocument'),
      { text: ['One ', 'moment.'], partMs: 20 },
      { text: ['Two ', 'moments.'], ending: 'stall' as const, after: 4 },
      { toolCalls: [{ toolName: 'count', input: { notes: 1 } }] },
      { text: 'Counted.' }
    ][nth], { config: { analysis: true, contextWindows: { test: 20_000 } }, clock: hastyClock() })

  const events: Sent[] = []
  let { body, events: more, headers } = await post(app, `/run?protocol=${protocol}`, {
    messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }]
  })
  t.match(headers, { 'content-type': /^text\/event-stream/, 'cache-control': 'no-cache', 'x-vercel-ai-ui-message-stream': 'v1' })
  for (let n = 0; ; n++) {
    t.ok(body.endsWith(DONE))
    t.equal(body.split('[DONE]').length, 2)
    events.push(...more)
    const ids = protocol === 'ui'
      ? asked(more)
      : more.flatMap(({ type, data }) => type === 'data-approval-request' ? [data.approvalId] : [])
    if (ids.length === 0) break
    const content = ids.map((approvalId, at) => ({ type: 'tool-approval-response', approvalId, approved: (n + at) % 2 === 1 }))
    ;({ body, events: more } = await post(app, `/run/approve?protocol=${protocol}`, { messages: [{ role: 'tool', content }] }))
  }
  const said = (role: string, text: string) => ({ role, parts: [{ type: 'text', text }] })
  const long = await post(app, `/run?protocol=${protocol}`, {
    messages: [said('user', 'go'), said('assistant', 'word '.repeat(16_000)), said('user', 'on')]
  })
  const data = await post(app, `/run?protocol=${protocol}`, {
    messages: [said('user', 'as data')],
    options: { object: { schema: { type: 'object' } } }
  })
  const ofApp = await post(app, `/run?protocol=${protocol}`, { messages: [said('user', 'save it')], options: OPTIONS })
  const steered = await openRun(app, { id: 'steered', messages: [said('user', 'go')] }, `/run?protocol=${protocol}`)
  await steered.says('One')
  for (const message of ['left', 'right']) {
    await app.inject({ method: 'POST', url: '/run/steered/steer', payload: { message } })
    if (message === 'left') await steered.says('Two')
  }
  await app.inject({ method: 'POST', url: '/run/steered/stop' })
  await steered.ended
  const ofSteered = parseEvents(steered.text.replace(DONE, ''))
  await connect(app, noting())
  const counted = await post(app, `/run?protocol=${protocol}`, { messages: [said('user', 'count')] })
  return [...events, ...long.events, ...data.events, ...ofApp.events, ...ofSteered, ...counted.events]
}

/** The keys that the strict chunks of 5.0.0 have; a client of that age throws on any other. */
const OLDEST: Record<string, string[]> = {
  start: ['messageId', 'messageMetadata'],
  'start-step': [],
  'finish-step': [],
  finish: ['messageMetadata'],
  error: ['errorText'],
  abort: [],
  'text-start': ['id', 'providerMetadata'],
  'text-delta': ['id', 'delta', 'providerMetadata'],
  'text-end': ['id', 'providerMetadata'],
  'reasoning-start': ['id', 'providerMetadata'],
  'reasoning-delta': ['id', 'delta', 'providerMetadata'],
  'reasoning-end': ['id', 'providerMetadata'],
  'tool-input-start': ['toolCallId', 'toolName'],
  'tool-input-delta': ['toolCallId', 'inputTextDelta'],
  'tool-input-available': ['toolCallId', 'toolName', 'input', 'providerMetadata'],
  'tool-output-available': ['toolCallId', 'output'],
  'tool-output-error': ['toolCallId', 'errorText'],
  'data-approval-request': ['id', 'data'],
  'data-object': ['id', 'data'],
  'data-compaction': ['data', 'transient'],
  'data-tool-progress': ['data', 'transient'],
  'data-retry': ['data'],
  'data-stopped': ['data'],
  'data-steer': ['id', 'data', 'transient']
}
/** What came later, and what 6.0.0 took of it. */
const LATER: Record<string, string[]> = {
  'data-approval': ['id', 'data'],
  'tool-input-error': ['toolCallId', 'toolName', 'input', 'errorText', 'providerMetadata'],
  'tool-approval-request': ['toolCallId', 'approvalId'],
  'tool-output-denied': ['toolCallId']
}

const unknownKeys = (events: Sent[], known: Record<string, string[]>) =>
  events
    .map(({ type, ...rest }) => ({
      type,
      unknown: known[type]
        ? Object.keys(rest).filter((key) => !known[type].includes(key))
        : ['the type itself']
    }))
    .filter(({ unknown }) => unknown.length > 0)

for (const protocol of ['ui', 'ui5']) {
  t.test(`every chunk of ${protocol} is one that each client takes`, async (t) => {
    const events = await everything(t, protocol)
    const types = new Set(events.map(({ type }) => type))
    const expected = protocol === 'ui' ? { ...OLDEST, ...LATER } : OLDEST
    const missing = Object.keys(expected).filter((type) =>
      !types.has(type) && type !== 'abort' && !(protocol === 'ui' && type === 'data-approval-request')
    )
    t.same(missing, [], 'the stream holds everything')
    t.same(unknownKeys(events, expected), [])

    for (const { name, release, approvals } of versions) {
      if (protocol === 'ui' && !approvals) continue
      const schema = release.uiMessageChunkSchema()
      for (const event of events) {
        const result = await schema.validate!(event)
        if (!result.success) t.fail(`${name} refuses ${JSON.stringify(event)}`)
      }
      t.pass(name)
    }
  })
}

t.test('a run that the service ends before its model is called says so, and rejects nothing that nobody waits for', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['and then ', 'nothing'], ending: 'stall' as const, after: 4 }))
  const streaming = post(app, '/run', { messages: [{ role: 'user', parts: [{ type: 'text', text: 'go' }] }] })
  while (app.agent.activeRunCount === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  await app.close()
  const { events, body } = await streaming
  t.same(events.slice(-2).map((event) => ({ ...event, messageMetadata: undefined })), [{ type: 'abort', messageMetadata: undefined }, {
    type: 'finish',
    messageMetadata: undefined
  }])
  t.ok(body.endsWith(DONE))
})
