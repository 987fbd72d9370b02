import type { LanguageModelV4Message, LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import {
  COMMENT_OPENING,
  EARLIER_OPENING,
  FILE_OPENING,
  INPUT_OPENING,
  NOTE_OPENING,
  PROMPT_OPENING,
  SKILL_OPENING
} from '../../../contracts/model-texts.ts'

/** A tool call made for the last user message, with its result once there is one. */
export interface MadeCall {
  toolName: string
  input: unknown
  output?: LanguageModelV4ToolResultOutput
}

/** Openings of texts that stand beside a request as data and ask for nothing. */
const DATA = [FILE_OPENING, EARLIER_OPENING, INPUT_OPENING, PROMPT_OPENING, SKILL_OPENING]
const isData = (text: string) => DATA.some((opening) => text.startsWith(opening))

const textOf = (message?: LanguageModelV4Message) =>
  message === undefined || message.role === 'system'
    ? message?.content ?? ''
    : message.content.flatMap((part) => part.type === 'text' && !isData(part.text) ? [part.text] : []).join('\n')

/** True if a message is a request of the user. Notes of the service and comments on a task have the user's role, too. */
const isRequest = (message: LanguageModelV4Message) =>
  message.role === 'user' && ![NOTE_OPENING, COMMENT_OPENING].some((opening) => textOf(message).startsWith(opening))

/** Returns the text of the last user message; '' when there is none. */
export const lastRequest = (prompt: LanguageModelV4Prompt): string => textOf(prompt.findLast(isRequest))

/** Whether the last user message has files. */
export const hasFiles = (prompt: LanguageModelV4Prompt): boolean => {
  const { content } = prompt.findLast(isRequest) ?? { content: [] }
  return Array.isArray(content) &&
    content.some((part) => part.type === 'file' || (part.type === 'text' && part.text.startsWith(FILE_OPENING)))
}

/** Returns the name of the skill that the user has chosen for the last request; undefined for none. */
export function chosenSkill (prompt: LanguageModelV4Prompt): string | undefined {
  const parts = prompt.findLast(isRequest)?.content
  const text = Array.isArray(parts) ? parts.flatMap((part) => part.type === 'text' ? part.text : []).find(isSkill) : undefined
  return text === undefined ? undefined : JSON.parse(/"(?:[^"\\]|\\.)*"/.exec(text)![0])
}
const isSkill = (text: string) => text.startsWith(`${SKILL_OPENING} "`)

/** Returns the last text of the model; '' when there is none. */
export const lastAnswer = (prompt: LanguageModelV4Prompt): string =>
  textOf(prompt.findLast((message) => message.role === 'assistant' && textOf(message) !== ''))

/** Returns the tool calls since the last user message, in order. */
export function callsMade (prompt: LanguageModelV4Prompt): MadeCall[] {
  const calls = new Map<string, MadeCall>()
  for (const message of prompt.slice(prompt.findLastIndex(isRequest) + 1)) {
    if (message.role !== 'assistant' && message.role !== 'tool') continue
    for (const part of message.content) {
      if (part.type === 'tool-call') calls.set(part.toolCallId, { toolName: part.toolName, input: part.input })
      const call = part.type === 'tool-result' ? calls.get(part.toolCallId) : undefined
      if (part.type === 'tool-result' && call) call.output = part.output
    }
  }
  return [...calls.values()]
}
