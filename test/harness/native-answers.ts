import type { Plan } from '../fakes/gateway.ts'
import { chatWire } from '../fakes/openai-wire.ts'
import { NATIVE_WIRES, type NativeWire } from './native-wires.ts'

/** A provider's way of sending reasoning and of receiving it back. */
export interface NativeAnswers {
  name: string
  native: NativeWire
  /** Settings for config.json. */
  config?: object
  /** Adds this provider's form of reasoning to a plan; it may replace the readable reasoning. */
  plan(plan: Plan): Plan
  /** Returns the assistant's part of a request, without tool results. */
  sent(body: any): any[]
  /** Returns the form in which the provider must receive a plan's answer. Ids that the fake server numbers are patterns. */
  returned(plan: Plan): object[]
}

export const SIGNED = `${'EqQBCkYIBxgCIkAa+/='.repeat(40)}é"\\`
const nativeOf = (kind: string) => NATIVE_WIRES.find((each) => each.kind === kind)!
const callsOf = ({ toolCalls = [] }: Plan) => toolCalls

const anthropic = {
  native: nativeOf('anthropic'),
  sent: ({ messages }: any) =>
    messages.flatMap(
      ({ role, content }: any) => role === 'assistant' ? content : []
    ).map(({ cache_control: _mark, ...block }: any) => block),
  returned: (plan: Plan) => [
    { type: 'thinking', thinking: plan.reasoning ?? '', signature: plan.signature },
    ...plan.redacted ? [{ type: 'redacted_thinking', data: plan.redacted }] : [],
    { type: 'text', text: plan.text },
    ...callsOf(plan).map(({ toolName: name, input }) => ({ type: 'tool_use', name, input }))
  ]
}
const openai = {
  native: nativeOf('openai'),
  sent: ({ input }: any) =>
    input.filter(({ type, role }: any) => role === 'assistant' || ['reasoning', 'item_reference', 'function_call'].includes(type)),
  calls: (plan: Plan) =>
    callsOf(plan).map(({ toolName: name, input }) => ({ type: 'function_call', call_id: /^call_/, name, arguments: JSON.stringify(input) }))
}

export const NATIVE_ANSWERS: NativeAnswers[] = [
  { ...anthropic, name: 'anthropic, thinking shown', plan: (plan) => plan },
  { ...anthropic, name: 'anthropic, thinking hidden', plan: ({ reasoning: _hidden, ...plan }) => plan },
  { ...anthropic, name: 'anthropic, thinking redacted beside it', plan: (plan) => ({ ...plan, redacted: `hidden ${plan.signature}` }) },
  {
    ...openai,
    name: 'openai, reasoning encrypted',
    plan: (plan) => plan,
    returned: (plan) => [
      {
        type: 'reasoning',
        id: /^rs_/,
        encrypted_content: plan.signature,
        summary: String(plan.reasoning).split('\n\n').map((text) => ({ type: 'summary_text', text }))
      },
      { role: 'assistant', content: plan.text, phase: callsOf(plan).length > 0 ? 'commentary' : 'final_answer' },
      ...openai.calls(plan)
    ]
  },
  {
    ...openai,
    name: 'openai, items that it stores',
    config: { providerOptions: { openai: { store: true } } },
    plan: (plan) => plan,
    returned: (plan) => [{ type: 'item_reference', id: /^rs_/ }, { type: 'item_reference', id: /^msg_/ }, ...openai.calls(plan)]
  },
  {
    name: 'google, thoughts and signatures',
    native: nativeOf('google'),
    plan: (plan) => plan,
    sent: ({ contents }) => contents.flatMap(({ role, parts }: any) => role === 'model' ? parts : []),
    returned: (plan) => {
      const signed = { thoughtSignature: plan.signature }
      // Google's calls have no ids, so equal calls count as one.
      const calls = callsOf(plan).filter((call, n, all) => all.indexOf(call) === n)
        .map(({ toolName: name, input: args }, n) => ({ functionCall: { name, args }, ...n === 0 && signed }))
      return [{ text: plan.reasoning, thought: true }, { text: plan.text, ...calls.length === 0 && signed }, ...calls]
    }
  },
  {
    name: 'openai-compatible, reasoning as text',
    native: { kind: 'openai-compatible', wire: chatWire, model: 'llama3', said: ({ body }) => body.messages.at(-1).content },
    plan: (plan) => plan,
    sent: ({ messages }) => messages.filter(({ role }: any) => role === 'assistant'),
    returned: (plan) => [{
      content: plan.text,
      reasoning_content: plan.reasoning,
      ...plan.toolCalls && {
        tool_calls: plan.toolCalls.map(({ toolName: name, input }) => ({ function: { name, arguments: JSON.stringify(input) } }))
      }
    }]
  }
]
