import type { RunBody } from '../../schemas/agent.ts'
import { READ_SKILL, SKILL_OPENING } from '../contracts/model-texts.ts'
import { defineError } from '../lib/service-error.ts'
import { BadMessage, type RawMessage } from '../threads/index.ts'
import type { AgentDeps } from './agent-deps.ts'

const BadSkill = defineError('ERR_INVALID_REQUEST', 'skill: %s')

type Words = Awaited<ReturnType<AgentDeps['prompt']>>

/**
 * Returns a request with the user's choices, the text of a prompt and the name of a skill to read, in front of the user's message. The
 * choices go into the last of `messages` if that is a user message, else into a user message of their own. Throws BadMessage (400) if no
 * user message can hold the choices, or the errors of the prompt; see `createPrompts`.
 */
export async function withChoices ({ prompt, ...body }: RunBody, { prompt: get }: Pick<AgentDeps, 'prompt'>): Promise<RunBody> {
  if (prompt === undefined && body.skill === undefined) return body
  const { message, messages } = body
  const last = message ?? messages?.at(-1)
  const isAdded = message === undefined && last?.role !== 'user'
  if (body.continue) throw new BadMessage('"prompt" and "skill" begin a turn: send them without "continue".')
  if (isAdded ? last?.role === 'tool' : last?.role !== 'user') {
    throw new BadMessage('"prompt" and "skill" go in front of a message of the user: send them without the answers to calls.')
  }
  const words: Words = prompt === undefined ? { text: '', images: [] } : await get(prompt, new AbortController().signal)
  const said = withParts(isAdded ? ownMessage(messages) : last!, words, body.skill)
  if (message !== undefined || (messages === undefined && body.id !== undefined)) return { ...body, message: said }
  return { ...body, messages: [...isAdded ? messages ?? [] : messages!.slice(0, -1), said] }
}

/** Returns an empty user message in the format of the other messages: with `parts` (UIMessage) or without (ModelMessage). */
const ownMessage = (messages: RawMessage[] = []): RawMessage =>
  messages.some(({ parts }) => Array.isArray(parts)) ? { role: 'user', parts: [] } : { role: 'user' }

/**
 * Puts the choices in front of a message, in the format of the message. The last part of the choices is always a text, so that it separates
 * them from the message.
 */
function withParts (message: RawMessage, { text, images }: Words, skill: string | undefined): RawMessage {
  const chosen = [...text === '' ? [] : [text], ...skill === undefined ? [] : [skillText(skill)]]
  const texts = chosen.map((text) => ({ type: 'text', text }))
  if (Array.isArray(message.parts)) {
    const files = images.map(({ mediaType, data }) => ({ type: 'file', mediaType, url: `data:${mediaType};base64,${data}` }))
    return { ...message, parts: [...files, ...texts, ...message.parts] }
  }
  const { content } = message
  const files = images.map(({ mediaType, data }) => ({ type: 'file', mediaType, data }))
  const rest = typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []
  return { ...message, content: [...files, ...texts, ...rest] }
}

const skillText = (name: string) =>
  `${SKILL_OPENING} ${JSON.stringify(name)} for this: read it with ${READ_SKILL} before all else, and go by it.]`

/** Throws BadSkill (400) unless a skill of this name can be used in the folder. Does nothing if the name is undefined. */
export async function checkSkill (name: string | undefined, cwd: string, { skills }: Pick<AgentDeps, 'skills'>): Promise<void> {
  if (name === undefined) return
  const found = await skills.find(cwd)
  const isNamed = (each: { name: string }) => each.name.toLowerCase() === name.toLowerCase()
  if (found.skills.some(isNamed)) return
  if (found.unused.some(isNamed)) throw new BadSkill(`${JSON.stringify(name)} cannot be used; GET /skills says why.`)
  const known = found.skills.map((each) => each.name).join(', ')
  throw new BadSkill(
    `there is no skill ${JSON.stringify(name)} for work in this folder. ${known === '' ? 'It has none' : `It has: ${known}`}.`
  )
}
