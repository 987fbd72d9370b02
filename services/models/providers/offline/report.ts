import type { LanguageModelV4ToolResultOutput } from '@ai-sdk/provider'
import { block, shorten, textOf } from '../../../lib/in-words.ts'
import { NOTE_OPENING } from '../../../contracts/model-texts.ts'
import type { Tool, ToolOutput, ToolWords } from '../../../contracts/tool.ts'
import { readJson, isObject } from '../../../lib/json.ts'
import type { Command } from './commands.ts'
import type { MadeCall } from './prompt.ts'
import type { Step } from './steps.ts'

/** Returns the texts and the effects of a tool. A tool without texts is called by its name. */
export type ToolOf = (toolName: string) => Pick<Tool, 'says' | 'effects'> | undefined

/** The outcome of a step: the call that was made, or no call because the tool is not available or the step is no command. */
export interface Outcome {
  step: Step
  call?: MadeCall
}

const HELP = `I am the built-in offline assistant, not a language model: I understand plain commands, nothing more.

You can say, for example:
- list the files in src
- read notes.txt
- write 'hello' to notes.txt
- run \`npm test\`
- delete notes.txt
- fetch https://example.com
- search for local-first software
- system info
- take a screenshot
- click at 10, 20 (also: type 'hello', press ctrl+s, scroll down)
- remember that I live in Oslo (also: forget that)
- use echo with {"message": "hello"} (any tool, by its name)

Join several with “then”, or put each on a line of its own. Put text, paths with blanks and commands in quotes.

To talk to a language model, connect one in the settings.`

const quoted = (text: string) => `“${shorten(text.replace(/\s+/g, ' ').trim(), 200)}”`

/** Returns the answer to a message without commands. */
export function help (steps: Step[]): string {
  const unread = steps.flatMap((step) => step.kind === 'unread' ? [step.text] : []).join(' ').trim()
  return unread === '' ? HELP : `I could not read a command in ${quoted(unread)}. ${HELP}`
}

/** Returns a report of all outcomes in their order. */
export function report (outcomes: Outcome[], toolOf: ToolOf): string {
  const isAnyUnread = outcomes.some(({ step }) => step.kind === 'unread' && !step.isRemark)
  const end = 'I am the built-in offline assistant and understand plain commands only. A language model can be connected in the settings.'
  return [...outcomes.map((outcome) => outcomeWords(outcome, toolOf)), ...isAnyUnread ? [end] : []].join('\n\n')
}

function outcomeWords ({ step, call }: Outcome, toolOf: ToolOf): string {
  if (step.kind === 'unread') {
    return step.isRemark ? `Noted: ${quoted(step.text)}.` : `I could not read ${quoted(step.text)} as a command, so I left it out.`
  }
  const words = toolOf(step.toolName)?.says?.en
  const doing = doingOf(step, words)
  if (!call) return `I cannot ${doing}: the tool ${step.toolName} is not available here.`
  const { output } = call
  if (!output) return `I have no result of my attempt to ${doing}.`
  if (output.type === 'execution-denied') {
    const [reason] = (output.reason ?? '').split(`\n\n${NOTE_OPENING}`)
    return `You did not approve that I ${doing}, so I did not do it.${reason === '' ? '' : ` (${reason})`}`
  }
  const value = valueOf(output)
  if (output.type !== 'error-text' && output.type !== 'error-json') return resultWords(step, value, words)
  const message = (value as { message?: unknown } | null)?.message ?? value
  return `I could not ${doing}: ${typeof message === 'string' ? message : JSON.stringify(message)}`
}

/** Returns what a command does, as in "read `a.txt`". */
function doingOf ({ toolName, input }: Command, words: ToolWords | undefined): string {
  const ofCall = words?.ofCall?.(input)
  if (ofCall !== undefined) return ofCall
  const object = input.pattern ?? input.path ?? input.command ?? input.url ?? input.query
  return words === undefined ? `use ${toolName}` : `${words.verb ?? words.does}${object === undefined ? '' : ` \`${object}\``}`
}

/** Matches the sentence in place of a file that was not sent to the model. */
const LEFT_OUT = /^\(A file of type \S+ was left out here: /

/** Returns the value of a tool's output. Text that is JSON is parsed; files are left out. */
export function valueOf (output: Exclude<LanguageModelV4ToolResultOutput, { type: 'execution-denied' }>): unknown {
  if (output.type === 'json' || output.type === 'error-json' || output.type === 'error-text') return output.value
  const texts = output.type === 'text' ? [output.value] : output.value.flatMap((part) => part.type === 'text' ? [part.text] : [])
  // A sentence in place of a picture that the model does not see is not part of the value.
  const text = texts.filter((each, at) => at === 0 || !LEFT_OUT.test(each)).join('\n')
  const value: unknown = readJson(text)
  return value === undefined ? text : value
}

/** Describes the result of a command. */
function resultWords ({ toolName, input }: Command, value: unknown, words: ToolWords | undefined): string {
  const output: ToolOutput = isObject(value) ? value : { content: value }
  if (words?.result !== undefined) return words.result(output, input)
  // Tool servers (MCP) answer with a list of content blocks.
  const { content = output } = output
  const isList = Array.isArray(content) && content.length > 0
  return `${toolName} answered:${block(isList ? content.map((each) => textOf(each?.text ?? each)).join('\n') : textOf(content))}`
}
