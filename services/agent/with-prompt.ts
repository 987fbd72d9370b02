import type { RunBody } from '../../schemas/agent.ts'
import { BadMessage, type RawMessage } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'

/**
 * Returns a request with the words of the prompt that it names as the first parts of the user's message. Throws BadMessage (400) for a
 * prompt beside `messages` or `continue`, or what the prompt does, see `createPrompts`.
 */
export async function withPrompt ({ prompt, ...body }: RunBody, { prompt: get }: Pick<AgentDeps, 'prompt'>): Promise<RunBody> {
  if (prompt === undefined) return body
  const { message, messages } = body
  if (messages !== undefined || body.continue) {
    throw new BadMessage('"prompt" goes with the "id" of a thread, with or without "message"; not with "messages" or "continue".')
  }
  if (message !== undefined && message.role !== 'user') throw new BadMessage('"message" beside a "prompt" is a message of the user.')
  const { text, images } = await get(prompt, new AbortController().signal)
  const said = withParts(message ?? { role: 'user' }, { text, images })
  return body.id === undefined ? { ...body, message: undefined, messages: [said] } : { ...body, message: said }
}

/** Puts the parts of a prompt in front of a message, in the form of the message. */
function withParts (message: RawMessage, { text, images }: Awaited<ReturnType<AgentDeps['prompt']>>): RawMessage {
  const first = { type: 'text', text }
  if (Array.isArray(message.parts)) {
    const files = images.map(({ mediaType, data }) => ({ type: 'file', mediaType, url: `data:${mediaType};base64,${data}` }))
    return { ...message, parts: [first, ...files, ...message.parts] }
  }
  const { content } = message
  const files = images.map(({ mediaType, data }) => ({ type: 'file', mediaType, data }))
  const rest = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
  return { ...message, content: [first, ...files, ...rest] }
}
