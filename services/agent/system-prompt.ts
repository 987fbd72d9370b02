import type { LanguageModelV4Message } from '@ai-sdk/provider'
import type { Denial } from '../approvals/refused-calls.ts'

export interface PromptParts {
  cwd: string
  /** Names of the tools on offer. */
  tools: string[]
  /** The text about tool servers; '' for none. */
  servers: string
  /** What is remembered of the user, with its introductions; '' for an empty brain. */
  memory: string
  /** The application's instructions: the system messages at the beginning of the conversation. */
  instructions: string[]
  /** Facts about the conversation that its messages may not contain. */
  notes: string[]
  /** The current time, for the date in the prompt; epoch milliseconds. */
  now: number
}

/** Characters of an input in the prompt: enough to recognise the call. */
const INPUT_SHOWN = 500
/** The number of refused calls in the prompt, the newest ones: a model is most likely to repeat those. */
const DENIALS_SHOWN = 20

/** Returns the agent's system prompt without the refused calls. */
export function systemPrompt ({ cwd, tools, servers, memory, instructions, notes, now }: PromptParts): string {
  const sections = [
    "You are an assistant that works on its user's own computer. Answer briefly and truthfully. " +
    'Use the tools to look before you claim, and say plainly when something failed.',
    `Working folder: ${JSON.stringify(cwd)}. Relative paths start there. Today is ${new Date(now).toDateString()}.`
  ]
  if (tools.length > 0) {
    sections.push(`Tools: ${tools.join(', ')}. Some need the user's approval, which is asked for you; just call them.`)
  }
  if (servers !== '') sections.push(servers)
  if (memory !== '') sections.push(memory)
  if (instructions.length > 0) sections.push(`Instructions of the application:\n${instructions.join('\n')}`)
  if (notes.length > 0) {
    sections.push(`What happened in this conversation, whatever its messages say:\n${notes.map((note) => `- ${note}`).join('\n')}`)
  }
  return sections.join('\n\n')
}

/** Returns the system prompt as a message, with the refused calls. The message changes when the user denies another call. */
export function withDenials (system: string, denials: Denial[]): LanguageModelV4Message {
  if (denials.length === 0) return { role: 'system', content: system }
  const lines = denials.slice(-DENIALS_SHOWN).map(({ toolName, input, reason }) =>
    `- ${toolName} with ${shorten(JSON.stringify(input))}${reason ? ` (the user said: ${shorten(JSON.stringify(reason))})` : ''}`
  )
  return {
    role: 'system',
    content: `${system}\n\nThe user denied these calls. Do not retry them; go on without, or ask what to do instead:\n${lines.join('\n')}`
  }
}

const shorten = (text: string) => text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN)}…` : text
