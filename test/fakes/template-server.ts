import { readdirSync, readFileSync } from 'node:fs'
import { Template } from '@huggingface/jinja'
import type { Test } from 'tap'
import { type OpenAIRequest, type Plan, startFakeOpenAI } from './openai.ts'

type Json = Record<string, any>

const FOLDER = new URL('./chat-templates/', import.meta.url)

/** The names of the templates. */
export const TEMPLATES: readonly string[] =
  readdirSync(FOLDER).filter((name) => name.endsWith('.jinja')).map((name) => name.slice(0, -'.jinja'.length))

/** Templates that `@huggingface/jinja` cannot render. In `npm run test:models`, llama.cpp's server renders them. */
export const NOT_IN_NODE: readonly string[] = [
  'ByteDance-Seed-OSS',
  'CohereForAI-c4ai-command-r-plus-tool_use',
  'NousResearch-Hermes-2-Pro-Llama-3-8B-tool_use',
  'NousResearch-Hermes-3-Llama-3.1-8B-tool_use',
  'fireworks-ai-llama-3-firefunction-v2',
  'meetkai-functionary-medium-v3.1',
  'tencent-Hy3',
  'unsloth-Apriel-1.5'
]

/** The estimated number of characters per token. */
const PER_TOKEN = 4

const call = (name: string, input: unknown, id: string) => ({ id, type: 'function', function: { name, arguments: input } })
const probeTool = (name: string) => ({
  type: 'function',
  function: {
    name,
    description: 'A tool.',
    parameters: { type: 'object', properties: { arg: { type: 'string', description: 'An argument.' } }, required: ['arg'] }
  }
})
const user = { role: 'user', content: 'User message' }

/**
 * Creates a renderer that turns requests into prompts with a chat template, as llama.cpp's server does. Rendering throws the template's own
 * errors.
 */
export function createRenderer (name: string): Renderer {
  const template = new Template(readFileSync(new URL(`${name}.jinja`, FOLDER), 'utf8'))
  const render = (messages: Json[], tools?: Json[]): string =>
    template.render({ messages, ...tools?.length && { tools }, bos_token: '<s>', eos_token: '</s>', add_generation_prompt: true })

  function tries (...given: Parameters<typeof render>): string | undefined {
    try {
      return render(...given)
    } catch {
      return undefined
    }
  }
  /** Returns a conversation with these calls, as common/jinja/caps.cpp of llama.cpp uses it to probe a template. */
  const called = (...calls: Json[]) => [
    user,
    { role: 'assistant', content: '', tool_calls: calls },
    { role: 'tool', content: 'Tool response', tool_call_id: 'call00001' },
    { role: 'assistant', content: 'The tool response was a tool response' },
    user
  ]
  const withObject = tries(called(call('tool1', { arg: 'value' }, 'call00001')), [probeTool('tool1')])
  const takesObjects = withObject?.includes('value') ?? false
  const single = takesObjects ? withObject : tries(called(call('tool1', '{"arg":"value"}', 'call00001')), [probeTool('tool1')])
  const two = [call('tool1', { arg: 'value' }, 'call00001'), call('tool2', { arg: 'other' }, 'call00002')]
  const parallel = tries(called(...two.map((each) => takesObjects ? each : { ...each, function: { ...each.function, arguments: '{}' } })))
  const system = tries([{ role: 'system', content: 'System message' }, user])
  const typed = tries([{ role: 'user', content: [{ type: 'text', text: 'Typed message' }] }])
  const plain = tries([{ role: 'user', content: 'Plain message' }])
  const takesTexts = plain?.includes('Plain message') ?? false

  return {
    caps: {
      supports_string_content: takesTexts,
      supports_typed_content: typed?.includes('Typed message') ?? false,
      supports_tools: tries([user], [probeTool('findMe')])?.includes('findMe') ?? false,
      supports_tool_calls: single?.includes('value') ?? false,
      supports_parallel_tool_calls: parallel?.includes('tool2') ?? false,
      supports_system_role: system === undefined || system.includes('System message'),
      supports_object_arguments: takesObjects
    },
    render ({ messages, tools }: Json): string {
      const given = messages.map(({ content, tool_calls: calls, ...message }: Json) => ({
        ...message,
        content: contentFor(content, takesTexts),
        ...calls && { tool_calls: calls.map((each: Json) => withArguments(each, takesObjects)) }
      }))
      return render(given, tools)
    }
  }
}

/** Returns the content for a template: texts, or lists of parts for a template that accepts no texts. */
function contentFor (content: Json[] | string | null, takesTexts: boolean): Json[] | string {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content ?? []
  const text = parts.flatMap((part) => part.type === 'text' ? [part.text] : []).join('\n')
  return takesTexts ? text : [{ type: 'text', text }]
}

const withArguments = ({ function: { name, arguments: text }, ...rest }: Json, isObject: boolean): Json =>
  ({ ...rest, function: { name, arguments: isObject ? JSON.parse(text) : text } })

/** A request, with the prompt that the template makes from it. */
export type Rendered = OpenAIRequest & { prompt: string }

/**
 * Makes the prompts of requests, and knows which features its template supports. Its errors are the server's refusals, with a `status` if
 * they have one.
 */
export interface Renderer {
  caps: Json
  render (body: Json): string | Promise<string>
}

interface TemplateServer {
  /** By default, the template is rendered in this process. */
  renderer?: Renderer
  /** The server does not describe its template: it has no `GET /props`. */
  isMute?: boolean
  /** Returns the model's answer; `nth` counts streamed calls from 0. Tool calls are written as the prompt demands, as text or as calls. */
  reply: (request: Rendered) => Plan | Promise<Plan>
}

/**
 * Starts a server that uses a chat template, like llama.cpp's. Errors of the template become refusals. Tools that the template drops do not
 * appear in the prompt.
 */
export async function startTemplateServer (t: Test, name: string, { isMute = false, reply, renderer }: TemplateServer) {
  const { caps, render } = renderer ?? createRenderer(name)
  const rendered: Rendered[] = []
  let refused = 0
  const server = await startFakeOpenAI({
    models: [{ id: name }],
    others: isMute ? {} : { '/props': () => ({ default_generation_settings: { n_ctx: 65_536 }, chat_template_caps: caps }) },
    async reply (request) {
      let prompt: string
      try {
        prompt = await render(request.body)
      } catch (error) {
        refused++
        const { message, status } = error as Error & { status?: number }
        if (status !== undefined) return { error: { status, message, type: 'server_error' } }
        return { error: { status: refused % 2 ? 500 : 400, message: `Jinja Exception: ${message}`, type: 'server_error' } }
      }
      const whole = { ...request, prompt }
      rendered.push(whole)
      const plan = await reply(whole)
      return { usage: { inputTokens: Math.ceil(prompt.length / PER_TOKEN), outputTokens: 10 }, ...inWordsOf(prompt, plan) }
    }
  })
  t.teardown(() => server.close())
  return { url: server.url, caps, rendered, refused: () => refused }
}

/** Rewrites the calls of a plan as text if the prompt demands calls as text. */
function inWordsOf (prompt: string, plan: Plan): Plan {
  if (!plan.toolCalls?.length || !prompt.includes('as JSON between <tool_call> tags')) return plan
  const blocks = plan.toolCalls.map(({ toolName, input }) =>
    `<tool_call>\n${JSON.stringify({ name: toolName, arguments: input })}\n</tool_call>`)
  return { ...plan, toolCalls: undefined, finishReason: 'stop', text: blocks.join('\n') }
}
