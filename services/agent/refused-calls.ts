import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import type { RefusedCall, ToolItem } from '../contracts/approval-record.ts'
import { NOTE_OPENING } from '../contracts/model-texts.ts'

// The calls that the user refused in a conversation. The refused calls of a task's run are found in the items that the run asked
// (services/runs/engine/asked-items.ts). services/runs/gate/policies/denied-before.ts refuses both.

type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>

/** The number of refused calls of a conversation that are kept; older ones are dropped. */
const REFUSED_KEPT = 200
/** The number of refused calls in the prompt, the newest ones: a model is most likely to repeat these. */
const REFUSED_SHOWN = 20
/** The characters of an input in the prompt: enough to recognise the call. */
const INPUT_SHOWN = 500

/** Returns the refused calls of a conversation with these added, oldest first. */
export function withRefused (calls: RefusedCall[], refused: ToolItem[]): RefusedCall[] {
  const added = refused.map(({ toolName, input, digest, reason }): RefusedCall => ({ toolName, input, digest, reason }))
  return [...calls, ...added].slice(-REFUSED_KEPT)
}

/** Returns the note for the model that lists refused calls. */
function listOf (refusedCalls: readonly RefusedCall[]): string {
  const lines = refusedCalls.slice(-REFUSED_SHOWN).map(({ toolName, input, reason }) =>
    `- ${toolName} with ${shorten(JSON.stringify(input))}${reason ? ` (the user said: ${shorten(JSON.stringify(reason))})` : ''}`
  )
  return `${NOTE_OPENING} The user denied these calls. Do not retry them; go on without, or ask what to do instead:]\n${lines.join('\n')}`
}

const keyOf = ({ toolName, input }: Pick<RefusedCall, 'toolName' | 'input'>) => JSON.stringify([toolName, input])

/**
 * Returns the prompt with a list behind the results of each step in which calls were refused: the calls refused in this step and in all
 * earlier ones. Providers cache the beginning of a prompt, so a list stays where it is in later prompts. Refused calls that the messages
 * lack, because a client might have left them out, are listed at the end.
 */
export function withRefusedLists (prompt: LanguageModelV4Prompt, refusedCalls: readonly RefusedCall[]): LanguageModelV4Prompt {
  if (refusedCalls.length === 0) return prompt
  const left = new Map(refusedCalls.map((call) => [keyOf(call), call]))
  const listed: RefusedCall[] = []
  const calls = new Map(prompt.flatMap(({ role, content }) =>
    role === 'assistant' ? content.flatMap((part) => part.type === 'tool-call' ? [[part.toolCallId, keyOf(part)] as const] : []) : []))
  const complete = prompt.map((message) => {
    if (message.role !== 'tool') return message
    const refused = message.content.flatMap((part) => {
      const key = part.type === 'tool-result' && part.output.type === 'execution-denied' ? calls.get(part.toolCallId) : undefined
      const call = key === undefined ? undefined : left.get(key)
      return call === undefined ? [] : [call]
    })
    if (refused.length === 0) return message
    for (const call of refused) if (!listed.includes(call)) listed.push(call)
    return withNote(message, listOf(listed))
  })
  const others = [...left.values()].filter((call) => !listed.includes(call))
  return others.length === 0 ? complete : withEnd(complete, listOf(others))
}

const shorten = (text: string) => text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN)}…` : text

/** Returns a message of tool results with a text appended to its last result. */
function withNote (message: ToolMessage, text: string): ToolMessage {
  const last = message.content.at(-1)
  return last?.type === 'tool-result'
    ? { ...message, content: message.content.with(-1, { ...last, output: withText(last.output, text) }) }
    : message
}

/**
 * Returns the prompt with a text at its end: appended to the newest tool result if the prompt ends with one, else as a user message. A user
 * message is avoided because some chat templates move the system prompt and the tools in front of each new one.
 */
function withEnd (prompt: LanguageModelV4Prompt, text: string): LanguageModelV4Prompt {
  const last = prompt.at(-1)
  if (last?.role === 'tool' && last.content.at(-1)?.type === 'tool-result') return prompt.with(-1, withNote(last, text))
  return [...prompt, { role: 'user', content: [{ type: 'text', text }] }]
}

function withText (output: LanguageModelV4ToolResultOutput, text: string): LanguageModelV4ToolResultOutput {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${output.value}\n\n${text}` }
    case 'execution-denied':
      return { ...output, reason: [output.reason, text].filter(Boolean).join('\n\n') }
    case 'json':
    case 'error-json':
      return { type: output.type === 'json' ? 'text' : 'error-text', value: `${JSON.stringify(output.value)}\n\n${text}` }
    case 'content':
      return { ...output, value: [...output.value, { type: 'text', text }] }
  }
}
