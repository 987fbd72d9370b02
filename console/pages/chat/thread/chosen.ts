import type { FileUIPart, TextUIPart, UIMessage } from 'ai'

/** The choices that are sent with the text of a message. */
export interface Sending {
  files: FileUIPart[]
  chosen: Chosen[]
  /** In place of what the last run has not read. */
  isInPlace?: boolean
}

/** A prompt of a tool server or a skill that the user has chosen for a message. `words` are those of the prompt, once they are known. */
export type Chosen =
  | { kind: 'prompt', server: string, name: string, arguments?: Record<string, string>, words?: string }
  | { kind: 'skill', name: string }

type Part = UIMessage['parts'][number]

/** The type of the part that holds it until the service has the message. */
const PART = 'data-chosen'

/** The sentences by which the service names it in a message (services/contracts/model-texts.ts), and what follows of a prompt. */
const TEXT = String.raw`"(?:[^"\\]|\\.)*"`
const PROMPT = new RegExp(
  String.raw`^\[The user has chosen the prompt (${TEXT}) of the tool server (${TEXT})(?: with (\{[^\n]*\}))?\. Its words [^\n]*\n(.*)$`,
  's'
)
const SKILL = new RegExp(String.raw`^\[The user has chosen the skill (${TEXT}) `)

/** Returns what a part says of it; undefined for any other part, also where somebody has written such a sentence in another form. */
export function chosenIn (part: Part): Chosen | undefined {
  if (part.type === PART) return part.data as Chosen
  try {
    return part.type === 'text' ? named(part) : undefined
  } catch {
    return undefined
  }
}

/** Throws SyntaxError where a name is no JSON. */
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

/** Returns all that a message is sent with. */
export const chosenOf = ({ parts }: UIMessage): Chosen[] => parts.flatMap((part) => chosenIn(part) ?? [])

/** Returns what the user wrote and attached of a message: what was chosen stands in front of that, with the pictures of a prompt. */
export const ownParts = ({ parts }: UIMessage): Part[] => parts.slice(parts.findLastIndex((part) => chosenIn(part) !== undefined) + 1)

/** Returns the part for a message that is sent. */
export const chosenPart = (chosen: Chosen): Part => ({ type: PART, data: chosen })

/** Returns the message as it is sent, and what a request says of what was chosen for it. */
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
