import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart
} from '@ai-sdk/provider'
import { NOTE_OPENING } from '../../contracts/model-texts.ts'
import { isObject } from '../../lib/json.ts'

type Message<R extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: R }>

const BEGINS = `${NOTE_OPENING} The conversation begins with what you said.]`
const NO_RESULT = 'The result of this call is not known: it was not carried out, or its result was left out.'
const isText = (part: { type: string }): part is LanguageModelV4TextPart => part.type === 'text'

/**
 * Returns the options with a prompt that the servers of all providers accept, whatever models and clients have written. Each call is
 * followed by its result, each result belongs to a call, tool names have only characters that every provider accepts, inputs are objects,
 * and no text is empty.
 */
export const withSoundPrompt = <T extends LanguageModelV4CallOptions>(options: T): T =>
  ({ ...options, prompt: withResults(options.prompt.flatMap(repairMessage)) })

/** Does the same as `withSoundPrompt`. In addition, the first turn is the user's, and successive messages of one role are merged. */
export const withPortablePrompt = <T extends LanguageModelV4CallOptions>(options: T): T => {
  const sound = withSoundPrompt(options)
  return { ...sound, prompt: mergeTurns(sound.prompt) }
}

function repairMessage (message: LanguageModelV4Message): LanguageModelV4Message[] {
  switch (message.role) {
    case 'system':
      return message.content === '' ? [] : [message]
    case 'user': {
      const content = message.content.filter((part) => !isText(part) || part.text !== '')
      return content.length > 0 ? [{ ...message, content }] : []
    }
    case 'assistant': {
      const content = message.content.filter((part) => !isText(part) || part.text !== '' || part.providerOptions !== undefined)
      return content.length > 0 ? [{ ...message, content: content.map((part) => part.type === 'tool-call' ? repairCall(part) : part) }] : []
    }
    case 'tool':
      return [{
        ...message,
        content: message.content.map((part) => part.type === 'tool-result' ? { ...part, toolName: toolNameOf(part.toolName) } : part)
      }]
  }
}

const repairCall = (part: LanguageModelV4ToolCallPart): LanguageModelV4ToolCallPart => ({
  ...part,
  toolName: toolNameOf(part.toolName),
  input: isObject(part.input) ? part.input : part.input === undefined || part.input === null ? {} : { input: part.input }
})

/**
 * Returns the name of a tool in characters that every provider accepts. A model can have called a tool that does not exist, by any name.
 */
const toolNameOf = (name: string) =>
  name.replace(/[^a-zA-Z0-9_-]/g, '_').replace(/^(?![a-zA-Z_])/, '_').slice(0, 64)

/** Returns the prompt with one result for each call, in the message after the call, and without results that belong to no call. */
function withResults (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const results = new Map<string, LanguageModelV4ToolResultPart>()
  for (const { role, content } of prompt) {
    if (role === 'tool') for (const part of content) if (part.type === 'tool-result') results.set(part.toolCallId, part)
  }
  return prompt.flatMap((message): LanguageModelV4Message[] => {
    if (message.role === 'tool') {
      // Other parts, such as an answer to a request for approval, stay where they are.
      const others = message.content.filter(({ type }) => type !== 'tool-result')
      return others.length > 0 ? [{ ...message, content: others }] : []
    }
    if (message.role !== 'assistant') return [message]
    const made = message.content.filter((part) => part.type === 'tool-call').filter(({ providerExecuted }) => providerExecuted !== true)
    if (made.length === 0) return [message]
    return [message, { role: 'tool', content: made.map((call) => results.get(call.toolCallId) ?? withoutResult(call)) }]
  })
}

const withoutResult = ({ toolCallId, toolName }: LanguageModelV4ToolCallPart): LanguageModelV4ToolResultPart =>
  ({ type: 'tool-result', toolCallId, toolName, output: { type: 'error-text', value: NO_RESULT } })

/** Returns the prompt with successive messages of one role merged. If the first turn is not the user's, a user message is put before it. */
export function mergeTurns (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt {
  const merged: LanguageModelV4Prompt = []
  for (const message of prompt) {
    const before = merged.at(-1)
    if ((before === undefined || before.role === 'system') && message.role !== 'system' && message.role !== 'user') {
      merged.push({ role: 'user', content: [{ type: 'text', text: BEGINS }] })
    }
    if (before?.role === message.role && message.role !== 'system') {
      const content = [...before.content as object[], ...message.content]
      merged[merged.length - 1] = { ...before, ...message, content } as Message<'user'>
    } else merged.push(message)
  }
  return merged
}

/** Returns the prompt with successive text parts of a user message joined: every server accepts a single text, some accept no lists. */
export const withJoinedTexts = (prompt: LanguageModelV4Prompt): LanguageModelV4Prompt =>
  prompt.map((message) => message.role === 'user' ? { ...message, content: joinTexts(message.content) } : message)

function joinTexts (content: Message<'user'>['content']): Message<'user'>['content'] {
  const joined: Message<'user'>['content'] = []
  for (const part of content) {
    const before = joined.at(-1)
    if (part.type === 'text' && before?.type === 'text') joined[joined.length - 1] = { ...before, text: `${before.text}\n\n${part.text}` }
    else joined.push(part)
  }
  return joined
}
