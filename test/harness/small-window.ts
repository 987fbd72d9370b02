import type { Test } from 'tap'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { of } from './agent.ts'
import { withGateway } from './with-gateway.ts'

/** The context length, in tokens. The system prompt and the tools take a part of it. */
export const WINDOW = 30_000
export const user = (content: string) => ({ role: 'user', content })
export const words = (name: string, tokens: number) => `${name} ${'word '.repeat(tokens * 4 / 5)}`
export const lookUp = (n: number, output: object) => [
  { role: 'assistant', content: [{ type: 'tool-call', toolCallId: `c${n}`, toolName: 'readFile', input: { path: `${n}.txt` } }] },
  { role: 'tool', content: [{ type: 'tool-result', toolCallId: `c${n}`, toolName: 'readFile', output: { type: 'json', value: output } }] }
]
/** Returns questions and answers, with this many tokens per turn. */
export const turns = (count: number, tokens: number, first = 0) =>
  Array.from({ length: count }, (_, at) => at + first).map((
    n
  ) => [user(`question ${n}?`), { role: 'assistant', content: words(`answer ${n}`, tokens) }]).flat()

/** Returns the answer of a fast model that summarizes: the given text, and some name or number from the messages. */
export const summaryOf = ({ body }: GatewayRequest, text: string): Plan => {
  const found = JSON.stringify(body.prompt.slice(1)).match(/question \d+|see \d+|out\d+\.txt/g)
  return { object: { summary: `${text} It ended with ${found?.at(-1)}.` } }
}

/** Starts the service with a model of a small context length. `summary` is the fast model's answer; `nth` is counted from 0. */
export async function small (
  t: Test,
  { reply = () => ({ text: 'done' }), summary = (_nth, request) => summaryOf(request, 'They talked of fado.'), config = {}, ...settings }: {
    reply?: (request: any, nth: number) => Plan | Promise<Plan>,
    summary?: (nth: number, request: GatewayRequest) => Plan | Promise<Plan>,
    config?: object,
    [key: string]: any
  } = {}
) {
  let nth = 0
  const made = await withGateway(t, reply, {
    config: { contextWindows: { test: WINDOW }, models: { fast: 'test/fast' }, ...config },
    structured: (_name, request) => summary(nth++, request),
    ...settings
  })
  const sent = () => made.gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => body.prompt as any[])
  const summaries = () => made.gateway.requests.filter(({ structured }) => structured === 'summary')
  return { ...made, sent, summaries }
}

export const TOO_LONG: Plan = {
  error: { status: 400, type: 'invalid_request_error', message: 'prompt is too long: 31000 tokens > 20000 maximum' }
}
export const json = (value: unknown) => JSON.stringify(value)
export const compactions = (events: any[]) => of(events, 'data-compaction').map(({ data }) => data)
