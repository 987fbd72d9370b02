import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { type Plan, startFakeOpenAI } from '../fakes/openai.ts'
import { startModelServer, type ServerRequest } from '../fakes/model-server.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { of, sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { connect, misbehaving } from '../harness/mcp.ts'

// A conversation goes from server to server. Each gives calls ids of a form of its own, and is as strict as the servers of that family are.

type Body = Record<string, any>
type Reply = (request: ServerRequest) => Plan
type Start = (reply: Reply) => Promise<{ url: string, close: () => Promise<void> }>

interface Family {
  kind?: 'anthropic' | 'google'
  /** The id of its n-th call. */
  idOf: (n: number, toolName: string) => string
  /** Why it refuses a request; undefined for one that it takes. */
  refusal: (body: Body) => string | undefined
  start: Start
}

const native = (kind: string): Start => (reply) => startModelServer(NATIVE_WIRES.find((wire) => wire.kind === kind)!.wire, { reply })
const chat: Start = (reply) => startFakeOpenAI({ reply })
const callsIn = ({ messages }: Body): Body[] => messages.flatMap(({ tool_calls: calls = [] }: Body) => calls)
const blocksIn = ({ messages }: Body): Body[] => messages.flatMap(({ content }: Body) => Array.isArray(content) ? content : [])

/** What servers of chat completions refuse: other roles, two turns of one role, calls without results. */
function chatRefusal ({ messages }: Body): string | undefined {
  for (const [at, { role, content, tool_calls: calls }] of messages.entries()) {
    const next = messages[at + 1]
    if (role === 'user' && next?.role === 'user') return 'Conversation roles must alternate user/assistant/user/assistant/...'
    if (content === '' && role === 'user') return 'content must not be empty'
    if (calls?.length > 0 && next?.role !== 'tool') return 'An assistant message with tool_calls must be followed by tool messages.'
  }
  return messages[0].role === 'system' ? undefined : 'System message must be at the beginning.'
}

/** The input of a tool that shows a picture, which is cut off. */
const PNG = { characters: 400, begins: 'iVBORw0KGgoA' }

const FAMILIES: Record<string, Family> = {
  kimi: {
    idOf: (n, toolName) => `functions.${toolName}:${n}`,
    refusal: (body) => chatRefusal(body) ??
      (body.messages.some(({ role, tool_calls: calls, reasoning_content: thoughts }: Body) => role === 'assistant' && calls && !thoughts)
        ? 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2'
        : undefined),
    start: chat
  },
  claude: {
    kind: 'anthropic',
    idOf: (n) => `toolu_${n}`,
    refusal: (body) => {
      const ids = blocksIn(body).flatMap(({ id, tool_use_id: result }) => [id ?? result ?? 'none'])
      if (ids.some((id) => !/^[a-zA-Z0-9_-]+$/.test(id))) return 'messages.1.content.0.tool_use.id: String should match pattern'
      const isEmpty = ({ type, text }: Body) => type === 'text' && text.trim() === ''
      if (blocksIn(body).some(isEmpty)) return 'messages: text content blocks must be non-empty'
      return JSON.stringify(body.messages).includes('"type":"image"') ? 'image.source.base64.data: Could not process image' : undefined
    },
    start: native('anthropic')
  },
  mistral: {
    idOf: (n) => `Mistral${String(n).padStart(2, '0')}`,
    refusal: (body) => {
      const bad = callsIn(body).find(({ id }) => !/^[a-zA-Z0-9]{9}$/.test(id))
      if (bad) return `Tool call id was ${bad.id} but must be a-z, A-Z, 0-9, with a length of 9.`
      const hasThoughts = JSON.stringify(body.messages).includes('reasoning_content')
      return hasThoughts ? 'Extra inputs are not permitted: reasoning_content' : chatRefusal(body)
    },
    start: chat
  },
  deepseek: {
    idOf: (n) => `call_00_${n}`,
    refusal: (body) => {
      const hasList = body.messages.some(({ content }: Body) => Array.isArray(content))
      if (hasList) return 'Failed to deserialize the JSON body: messages[3]: unknown variant `image_url`, expected `text`'
      return callsIn(body).every((call) => call.function.arguments.startsWith('{')) ? chatRefusal(body) : 'arguments must be an object'
    },
    start: chat
  },
  gemini: {
    kind: 'google',
    idOf: (n) => `gemini-${n}`,
    refusal: ({ contents }) => {
      if (contents[0].role !== 'user') return 'Please ensure that the first turn is a user turn.'
      const turn = contents.findIndex(({ parts }: Body, at: number) =>
        parts.some((part: Body) => part.functionCall) && !contents[at + 1]?.parts.some((part: Body) => part.functionResponse))
      return turn === -1 ? undefined : 'Please ensure that function response turn comes immediately after a function call turn.'
    },
    start: native('google')
  }
}
export const NAMES = Object.keys(FAMILIES)

/** All orders of some names. */
export const orders = (names: readonly string[]): string[][] =>
  names.length < 2 ? [[...names]] : names.flatMap((name) => orders(names.filter((other) => other !== name)).map((rest) => [name, ...rest]))

interface Settings {
  fallback?: string
  /** Whether the server of a family fails now. */
  isBroken?: (name: string) => boolean
}

async function withFamilies (t: Test, { fallback, isBroken = () => false }: Settings = {}) {
  const refused: string[] = []
  let n = 0
  const providers: Record<string, object> = {}
  for (const [name, { kind, idOf, refusal, start }] of Object.entries(FAMILIES)) {
    const server = await start(({ body }) => {
      if (isBroken(name)) return { error: { status: 402, message: 'no credit is left' } }
      const why = refusal(body)
      if (why !== undefined) {
        refused.push(`${name}: ${why}`)
        return { error: { status: 400, type: 'invalid_request_error', message: why } }
      }
      const isAnswered = /tool_result|"role":"tool"|functionResponse/.test(JSON.stringify((body.messages ?? body.contents).at(-1)))
      if (isAnswered) return { reasoning: 'It is enough.', text: `${name} is done.` }
      const calls = [['readFile', { path: 'a.txt' }], ['image', PNG], ['no such tool!', { x: 1 }]] as const
      return {
        reasoning: `I am ${name}.`,
        toolCalls: calls.map(([toolName, input]) => ({ toolName, input, toolCallId: idOf(n++, toolName) }))
      }
    })
    t.teardown(() => server.close())
    providers[name] = { baseURL: server.url, models: ['m'], ...kind && { kind, apiKey: 'k' } }
  }
  const models = fallback === undefined ? {} : { models: { fallback: `${fallback}/m` } }
  const app = await build(t, { config: { model: 'kimi/m', analysis: false, threads: { titles: false }, providers, ...models } })
  writeFileSync(`${app.cwd}/a.txt`, 'The sea has many voices.\n')
  await connect(app, misbehaving('camera', [], { approval: 'never' }))
  const tell = async (id: string, name: string) => {
    const said = { id, messages: undefined, message: { role: 'user', content: `Look, ${name}.` }, options: { model: `${name}/m` } }
    return (await sayAll(app, [], said)).events
  }
  return { tell, refused, app }
}

/** A conversation that goes through the servers in each of these orders. */
export function modelsInTurnSuite (t: Test, inOrders: readonly string[][]): void {
  t.test('a conversation goes through strict servers in turn', async (t) => {
    const { tell, refused } = await withFamilies(t)
    for (const order of inOrders) {
      for (const name of order) {
        const events = await tell(order.join(), name)
        t.same(of(events, 'error').map(({ errorText }) => errorText), [], `${order.join()}: ${name}`)
      }
    }
    const needs = new Set(refused)
    t.ok(needs.size <= 6, [...needs].join(' | '))
    t.ok(refused.length <= needs.size + inOrders.length * 2, `${refused.length} refusals: what a server needs is known after the first`)
  })
}

/** A conversation that one model began, and another goes on with when the first fails. */
export function fallbackSuite (t: Test, pairs: ReadonlyArray<[string, string]>): void {
  for (const [first, fallback] of pairs) {
    t.test(`${fallback} goes on with a conversation of ${first}`, async (t) => {
      let isOver = false
      const { tell } = await withFamilies(t, { fallback, isBroken: (name) => isOver && name === first })
      const before = await tell('chat', first)
      isOver = true
      const after = await tell('chat', first)
      t.same([...of(before, 'error'), ...of(after, 'error')].map(({ errorText }) => errorText), [])
      t.match(of(after, 'text-delta').map(({ content }) => content).join(''), `${fallback} is done.`)
    })
  }
}
