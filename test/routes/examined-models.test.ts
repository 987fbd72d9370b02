import t from 'tap'
import type { Plan } from '../fakes/gateway-plan.ts'
import { test } from '../harness/provider-routes.ts'
import { withDirect } from '../harness/with-direct.ts'

type Body = { messages: Array<{ role: string, content: any, tool_calls?: unknown[] }>, tools?: unknown[] }
type Fault = (body: Body) => Plan | undefined

const no = (message: string): Plan => ({ error: { status: 400, message } })
const wordsOf = ({ messages }: Body): string => JSON.stringify(messages)
const hasPicture = (body: Body) => wordsOf(body).includes('image_url')
const asksForNote = (body: Body) => /note \\"shopping\\" with the tool/.test(wordsOf(body))

const IN_WORDS = '<tool_call>{"name": "readNote", "arguments": {"name": "shopping"}}</tool_call>'

/** A model without faults. */
function goodAnswer (body: Body): Plan {
  const words = wordsOf(body)
  if (words.includes('marmalade')) return { text: 'It is marmalade.', usage: { inputTokens: 6_000, outputTokens: 3 } }
  if (hasPicture(body)) return { text: 'Purple.' }
  if (words.includes('Eiffel')) return { object: { city: 'Paris' } }
  if (words.includes('Rex')) return { text: 'Rex.' }
  if (words.includes('tulips')) return { text: 'Milk and tulips.' }
  if (words.includes('milk')) return { text: 'Milk.' }
  if (words.includes('Quill')) return { text: 'I am Quill.' }
  if (asksForNote(body) && body.tools === undefined) return { text: IN_WORDS }
  if (asksForNote(body)) return { toolCalls: [{ toolName: 'readNote', input: { name: 'shopping' } }] }
  return { text: ['One, ', 'two, ', 'three.'] }
}

const streamed = (content: string) => [{ choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] }]
const isStill = (body: Body, role: string) => body.messages.some((message) => message.role === role)
/** Servers and models with one fault each, and the sentence that names it. */
const faults: Array<[name: string, fault: Fault, about: string, sentence: RegExp]> = [
  ['none', () => undefined, 'tool-call', /^It calls tools\.$/],
  ['streams nothing', (body) => wordsOf(body).includes('Count') ? { text: ['One, two, three.'] } : undefined, 'stream', /in one piece/],
  ['takes no tools', (body) => body.tools || isStill(body, 'tool')
    ? no('this model does not support tools')
    : undefined, 'tools-in-words', /in words/],
  ['calls as text', (body) => asksForNote(body)
    ? { text: '[TOOL_CALLS][{"name": "readNote", "arguments": {"name": "shopping"}}]' }
    : undefined, 'tool-call', /as text, which is read/],
  ['calls nobody can read', (body) => asksForNote(body)
    ? { text: '<tool_call>\nreadNote shopping\n</tool_call>' }
    : undefined, 'tool-call', /cannot be read/],
  ['does not call', (body) => asksForNote(body) ? { text: 'The note says: buy milk.' } : undefined, 'tool-call', /did not call/],
  ['one call a message', (body) => body.messages.some(({ tool_calls: calls }) => (calls?.length ?? 0) > 1)
    ? no('This model only supports single tool-calls at once!')
    : undefined, 'one-call', /one call a message/],
  ['no system role', (body) => isStill(body, 'system') ? no('System role not supported') : undefined, 'no-system', /no system role/],
  ['ignores the system prompt', (body) => wordsOf(body).includes('Quill')
    ? { text: 'I am a model.' }
    : undefined, 'system', /did not follow/],
  ['takes no pictures', (body) => hasPicture(body) ? no('image input is not supported') : undefined, 'picture', /no pictures/],
  ['fails at pictures', (body) => hasPicture(body)
    ? { error: { status: 500, message: 'image input is not supported - hint: you may need to provide the mmproj' } }
    : undefined, 'no-pictures', /no pictures/],
  ['guesses a colour', (body) => hasPicture(body) ? { text: 'Red.' } : undefined, 'picture', /did not see/],
  ['calls what it is told of in words', (body) => body.tools !== undefined && asksForNote(body)
    ? { text: 'I cannot read notes.' }
    : undefined, 'tools-in-words', /in words/],
  ['takes the system prompt from the user', (body) => isStill(body, 'system') && wordsOf(body).includes('Quill')
    ? { text: 'I am a model.' }
    : undefined, 'no-system', /no system role/],
  ['sees nothing', (body) => hasPicture(body) ? { text: 'Blue.' } : undefined, 'picture', /did not see/],
  ['no JSON', (body) => wordsOf(body).includes('Eiffel')
    ? { object: 'The city is Paris.' }
    : undefined, 'json', /no JSON/],
  ['JSON in words', (body) => wordsOf(body).includes('Eiffel')
    ? { object: {}, parts: streamed('Here: {"city": "Paris"}') }
    : undefined, 'json', /words around it/],
  ['thoughts alone', (body) => wordsOf(body).includes('Count')
    ? { text: '<think>One, two, three' }
    : undefined, 'stream', /thoughts alone/],
  ['forgets results', (body) => wordsOf(body).includes('milk') && !wordsOf(body).includes('tulips')
    ? { text: 'I do not know.' }
    : undefined, 'call-without-text', /did not use the result/],
  ['forgets the beginning', (body) => wordsOf(body).includes('marmalade')
    ? { text: 'Which password?', usage: { inputTokens: 6_000, outputTokens: 3 } }
    : undefined, 'long-prompt', /beginning/],
  ['reads the end alone', (body) => wordsOf(body).includes('marmalade')
    ? { text: 'Which password?', usage: { inputTokens: 2_048, outputTokens: 3 } }
    : undefined, 'long-prompt', /read 2048 of about \d+ tokens/]
]

t.test('a thorough test names each fault of a model and its server in a sentence', async (t) => {
  for (const [name, fault, about, sentence] of faults) {
    await t.test(name, async (t) => {
      const { app } = await withDirect(t, ({ body }) => fault(body) ?? goodAnswer(body), {
        server: { reply: ({ body }) => fault(body) ?? goodAnswer(body) }
      })
      const { ok, findings } = (await test(app, { thorough: true })).json()
      t.ok(ok)
      t.match(findings.find((each: any) => each.about === about), { text: sentence })
      const others = findings.filter((each: any) => !each.ok)
      t.ok(others.length <= 2, JSON.stringify(others))
    })
  }
})

t.test('what it finds is used from then on', async (t) => {
  const { app, server } = await withDirect(t, undefined, {
    server: { reply: ({ body }) => faults.find(([name]) => name === 'no system role')![1](body) ?? goodAnswer(body) }
  })
  await test(app, { thorough: true })
  const before = server.calls.length
  await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'hi' }] } })
  const [first] = server.calls.slice(before)
  t.notOk(first.body.messages.some(({ role }: any) => role === 'system'), 'the first request of the run has the form that was found')
})

t.test('a later test forgets what was found before, and finds it anew', async (t) => {
  let seesPictures = false
  const { app, server } = await withDirect(t, undefined, {
    server: { reply: ({ body }) => hasPicture(body) && !seesPictures ? no('image input is not supported') : goodAnswer(body) }
  })
  const about = async () => (await test(app, { thorough: true })).json().findings.map((each: any) => each.about)
  const show = () => {
    const picture = { type: 'image', image: 'iVBORw0KGgo=', mediaType: 'image/png' }
    const content = [{ type: 'text', text: 'What is this?' }, picture]
    return app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content }] } })
  }
  t.ok((await about()).includes('no-pictures'))
  await show()
  t.notOk(hasPicture(server.calls.at(-1)!.body as Body), 'a picture is not sent at all')
  seesPictures = true
  t.notOk((await about()).includes('no-pictures'))
})

t.test('without "thorough" it is one call, and after a failure no more are made', async (t) => {
  let works = true
  const { app, server } = await withDirect(t, undefined, { server: { reply: () => works ? { text: 'ok' } : no('nothing works') } })
  t.equal((await test(app)).json().findings, undefined)
  t.equal(server.calls.length, 1)
  works = false
  t.match((await test(app, { thorough: true })).json(), { ok: false, findings: undefined })
})
