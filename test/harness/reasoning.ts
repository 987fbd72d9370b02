import type { Plan } from '../fakes/gateway.ts'

type Call = { toolName: string, input: unknown }

export const SIGNATURE = `${'EqQBCkYIBxgCIkAa+/='.repeat(40)}é"\\`
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

/**
 * Returns an answer in the forms of several providers: reasoning whose signature comes with an empty delta, a redacted block whose data
 * come with its start, an item that is completed at its end, an id on the text, and a signature on each call.
 */
export function thinking (name: string, { text = '', calls = [] }: { text?: string, calls?: Call[] }): Plan {
  const reason = calls.length > 0 ? 'tool-calls' : 'stop'
  return {
    parts: [
      { type: 'stream-start', warnings: [] },
      { type: 'reasoning-start', id: '0' },
      { type: 'reasoning-delta', id: '0', delta: `${name} ` },
      { type: 'reasoning-delta', id: '0', delta: 'thinks' },
      { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: { anthropic: { signature: `${name} ${SIGNATURE}` } } },
      { type: 'reasoning-end', id: '0' },
      { type: 'reasoning-start', id: '1', providerMetadata: { anthropic: { redactedData: `${name} secret` } } },
      { type: 'reasoning-end', id: '1' },
      { type: 'reasoning-start', id: '2', providerMetadata: { openai: { itemId: `rs_${name}`, reasoningEncryptedContent: null } } },
      { type: 'reasoning-end', id: '2', providerMetadata: { openai: { itemId: `rs_${name}`, reasoningEncryptedContent: 'gAAA' } } },
      ...text === ''
        ? []
        : [{ type: 'text-start', id: '3', providerMetadata: { openai: { itemId: `msg_${name}` } } }, {
            type: 'text-delta',
            id: '3',
            delta: text
          }, { type: 'text-end', id: '3' }],
      ...calls.map(({ toolName, input }, n) => ({
        type: 'tool-call',
        toolCallId: `${name}_${n}`,
        toolName,
        input: JSON.stringify(input),
        providerMetadata: { google: { thoughtSignature: `${name} ${n}` } }
      })),
      { type: 'finish', finishReason: { unified: reason, raw: reason }, usage }
    ]
  }
}

/** Returns the same answer in the form in which the model must receive it back. */
export const returned = (name: string, { text = '', calls = [] }: { text?: string, calls?: Call[] }) => ({
  role: 'assistant',
  content: [
    { type: 'reasoning', text: `${name} thinks`, providerOptions: { anthropic: { signature: `${name} ${SIGNATURE}` } } },
    { type: 'reasoning', text: '', providerOptions: { anthropic: { redactedData: `${name} secret` } } },
    { type: 'reasoning', text: '', providerOptions: { openai: { itemId: `rs_${name}`, reasoningEncryptedContent: 'gAAA' } } },
    ...text === '' ? [] : [{ type: 'text', text, providerOptions: { openai: { itemId: `msg_${name}` } } }],
    ...calls.map(({ toolName, input }, n) => ({
      type: 'tool-call',
      toolCallId: `${name}_${n}`,
      toolName,
      input,
      providerOptions: { google: { thoughtSignature: `${name} ${n}` } }
    }))
  ]
})

/** Returns the assistant messages in the prompt of a call. */
export const assistants = ({ body }: { body: any }): any[] => body.prompt.filter(({ role }: any) => role === 'assistant')
