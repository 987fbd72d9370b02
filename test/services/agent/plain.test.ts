import { deepStrictEqual } from 'node:assert/strict'
import { convertToModelMessages, modelMessageSchema, safeValidateUIMessages } from 'ai'
import fc from 'fast-check'
import t from 'tap'
import { createAnalysisPauses } from '../../../services/agent/analyze.ts'
import { plainMessages } from '../../../services/agent/message-import.ts'
import type { RawMessage } from '../../../services/threads/thread-message.ts'
import { fakeClock } from '../../harness/clock.ts'

const said = fc.constantFrom('user', 'assistant')
const text = fc.record({ type: fc.constant('text'), text: fc.string() })
const odd = fc.oneof(
  fc.record({
    type: fc.constantFrom('text', 'image', 'file', 'tool-call', 'none'),
    text: fc.oneof(fc.string(), fc.nat(), fc.constant(undefined))
  }),
  fc.record({
    type: fc.constant('text'),
    text: fc.string(),
    providerOptions: fc.oneof(fc.constant({ a: { b: 1 } }), fc.constant('no'), fc.constant(undefined))
  }),
  fc.constantFrom(null, 'text', 5, [])
)
const uiPart = fc.oneof(
  {
    arbitrary: fc.record({ type: fc.constant('text'), text: fc.string(), state: fc.constantFrom('done', 'streaming') }, {
      requiredKeys: ['type', 'text']
    }),
    weight: 4
  },
  { arbitrary: fc.constant({ type: 'step-start' }), weight: 2 },
  {
    arbitrary: fc.constant({ type: 'reasoning', text: 'hm', state: 'done', providerMetadata: { agent: { phase: 'analysis' } } }),
    weight: 2
  },
  fc.constantFrom<unknown>(
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'x', state: 'other' },
    { type: 'text', text: 'x', providerMetadata: { a: { b: 1 } } },
    { type: 'data-task', data: {} },
    { type: 'text' },
    { type: 'file', mediaType: 'text/plain', url: 'data:,x' },
    null
  )
)
const isAnalysis = (part: any) => part.type === 'reasoning' && part.providerMetadata?.agent?.phase === 'analysis'

/** What is undefined is not there. */
const json = (value: unknown) => JSON.parse(JSON.stringify(value))

t.test('a message of texts alone is what the SDK makes of it, and every other is left to the SDK', async (t) => {
  let plain = 0
  await fc.assert(
    fc.asyncProperty(
      said,
      fc.oneof(fc.string(), fc.array(text), fc.array(fc.oneof(text, odd)), fc.constant(undefined)),
      fc.object(),
      async (role, content, more) => {
        const message = { ...more, role, content, parts: undefined } as RawMessage
        const ours = plainMessages(message)
        if (ours === undefined) return
        plain++
        const { role: is, content: holds } = modelMessageSchema.parse(message)
        deepStrictEqual(json(ours), json([{ role: is, content: holds }]))
      }
    ),
    { numRuns: 300 }
  )
  await fc.assert(
    fc.asyncProperty(said, fc.array(uiPart, { maxLength: 6 }), async (role, parts) => {
      const ours = plainMessages({ id: 'x', role, parts })
      if (ours === undefined) return
      plain++
      const checked = await safeValidateUIMessages({ messages: [{ id: 'x', role, parts }] })
      if (!checked.success) throw checked.error
      deepStrictEqual(
        ours,
        await convertToModelMessages([{ ...checked.data[0], parts: checked.data[0].parts.filter((part) => !isAnalysis(part)) }])
      )
    }),
    { numRuns: 500 }
  )
  t.ok(plain > 200, `${plain} were plain`)
})

t.test('each model has its own pause, and only so many failing models are remembered', async (t) => {
  const clock = fakeClock()
  const pauses = createAnalysisPauses({ clock, setup: () => [] })
  for (const model of ['a', 'b', 'a']) pauses.record(model, { hasFailed: true })
  t.same(['a', 'b'].map(pauses.has), [true, false])
  pauses.record('b', { hasFailed: true })
  t.ok(pauses.has('b'))
  await clock.advance(10 * 60_000)
  t.same(['a', 'b'].map(pauses.has), [false, false])

  for (let n = 0; n < 2; n++) pauses.record('a', { hasFailed: true })
  for (let n = 0; n < 100; n++) pauses.record(`other-${n}`, { hasFailed: true })
  t.notOk(pauses.has('a'), 'forgotten for newer ones')
})
