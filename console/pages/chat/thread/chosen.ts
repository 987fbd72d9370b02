import type { FileUIPart, TextUIPart, UIMessage } from 'ai'

/** The files, prompt and skill that are sent with the text of a message. */
export interface Sending {
  files: FileUIPart[]
  chosen: Chosen[]
  /** True if the message replaces the unread messages of the last run. */
  isInPlace?: boolean
}

/** A prompt of a tool server or a skill that the user has chosen for a message. `words` is the prompt's text, once it is known. */
export type Chosen =
  | { kind: 'prompt', server: string, name: string, arguments?: Record<string, string>, words?: string }
  | { kind: 'skill', name: string }

type Part = UIMessage['parts'][number]

/** The type of the message part that holds the choice until the service has the message. */
const PART = 'data-chosen'

/**
 * The sentences with which the service marks a prompt or skill in a message (services/contracts/model-texts.ts), and the text of the prompt
 * after it.
 */
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`
const PROMPT = new RegExp(
  String.raw`^\[The user has chosen the prompt (${TEXT}) of the tool server (${TEXT})(?: with (\{[^\n]*\}))?\. Its words [^\n]*\n(.*)$`,
  's'
)
const SKILL = new RegExp(String.raw`^\[The user has chosen the skill (${TEXT}) `)

/** Returns the prompt or skill that a part stands for; undefined for other parts, also for text that only resembles such a sentence. */
export function chosenIn (part: Part): Chosen | undefined {
  if (part.type === PART) return part.data as Chosen
  try {
    return part.type === 'text' ? named(part) : undefined
  } catch {
    return undefined
  }
}

/** Throws SyntaxError if a quoted name is not valid JSON. */
function named (part: TextUIPart): Chosen | undefined {
  const [, skill] = SKILL.exec(part.text) ?? []
  if (skill !== undefined) return { kind: 'skill', name: JSON.parse(skill) }
  const [, name, server, given, words] = PROMPT.exec(part.text) ?? []
  if (name === undefined) return undefined
  return {
    ...{ kind: 'prompt', name: JSON.parse(name), server: JSON.parse(server) },
    ...given !== undefined && { arguments: JSON.parse(given) },
    words: words.replace(/^> ?/gm, '')
  }
}

/** Returns all prompts and skills of a message. */
export const chosenOf = ({ parts }: UIMessage): Chosen[] => parts.flatMap((part) => chosenIn(part) ?? [])

/** Returns the parts that the user wrote and attached. The parts of a chosen prompt, with its images, come before them. */
export const ownParts = ({ parts }: UIMessage): Part[] => parts.slice(parts.findLastIndex((part) => chosenIn(part) !== undefined) + 1)

/** Returns the message part for a choice. */
export const chosenPart = (chosen: Chosen): Part => ({ type: PART, data: chosen })

/** Returns the message as it is sent, and the request fields for its prompt and skill. */
export function withoutChosen (message: UIMessage): { message: UIMessage, request: { prompt?: object, skill?: string } } {
  const sent = message.parts.flatMap((part) => part.type === PART ? part.data as Chosen : [])
  const prompt = sent.find(({ kind }) => kind === 'prompt') as Extract<Chosen, { kind: 'prompt' }> | undefined
  return {
    message: sent.length === 0 ? message : { ...message, parts: message.parts.filter(({ type }) => type !== PART) },
    request: {
      ...prompt && { prompt: { server: prompt.server, name: prompt.name, ...prompt.arguments && { arguments: prompt.arguments } } },
      ...Object.fromEntries(sent.flatMap(({ kind, name }) => kind === 'skill' ? [['skill', name]] : []))
    }
  }
}
