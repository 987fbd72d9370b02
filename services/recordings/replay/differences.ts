import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { COMMENT_OPENING, NOTE_OPENING, MEMORY_FOLLOWS } from '../../contracts/model-texts.ts'
import { projectSchema } from '../../models/index.ts'
import type { CallLine, ContextLine, MessageLine } from '../recording.ts'
import { placeholder } from '../scrub.ts'

/** A place where a replay differs from the recording. */
export interface Difference {
  /** The number of the model call at which the difference appears, counted from 1; 0 before the first call. */
  step: number
  /** A sentence that describes the difference. */
  what: string
  recorded?: string
  now?: string
  /** The differing lines, instead of `recorded` and `now`. */
  diff?: string
}

/** An input that is new to a model: the result of a tool call, or a message. */
export interface Fresh {
  kind: 'output' | 'error' | 'denied' | 'user' | 'note'
  /** The tool that returned the result. */
  toolName?: string
  text: string
}

type Part = Extract<LanguageModelV4Prompt[number], { role: 'tool' }>['content'][number]

/** Returns the new inputs in a prompt: the messages after the model's last answer. */
export function freshIn (prompt: LanguageModelV4Prompt): Fresh[] {
  const last = prompt.findLastIndex(({ role }) => role === 'assistant')
  return prompt.slice(last + 1).flatMap((message): Fresh[] => {
    if (message.role === 'tool') return message.content.flatMap(resultIn)
    if (message.role !== 'user') return []
    const text = message.content.map((part) => part.type === 'text' ? part.text : '').join('\n')
    return [{ kind: text.startsWith(NOTE_OPENING) ? 'note' : 'user', text }]
  })
}

function resultIn (part: Part): Fresh[] {
  if (part.type !== 'tool-result') return []
  const { toolName, output } = part
  switch (output.type) {
    case 'execution-denied':
      return [{ kind: 'denied', toolName, text: output.reason ?? '' }]
    case 'error-text':
      return [{ kind: 'error', toolName, text: output.value }]
    case 'error-json':
      return [{ kind: 'error', toolName, text: JSON.stringify(output.value) }]
    case 'text':
      return [{ kind: 'output', toolName, text: output.value }]
    case 'json':
      return [{ kind: 'output', toolName, text: JSON.stringify(output.value) }]
    case 'content':
      return [{ kind: 'output', toolName, text: output.value.map((each) => 'text' in each ? each.text : `[${each.type}]`).join('\n') }]
  }
}

const WORDS = { output: 'a result', error: 'an error', denied: 'a denial', user: 'a message of the user', note: 'a note of the service' }

const recordedFresh = (line: CallLine | MessageLine): Fresh => {
  if (line.type === 'message') {
    return { kind: line.from === 'service' || line.text.startsWith(NOTE_OPENING) ? 'note' : 'user', text: line.text }
  }
  const { toolName, output, error, denied } = line
  if (output !== undefined) return { kind: 'output', toolName, text: JSON.stringify(output) }
  return error !== undefined ? { kind: 'error', toolName, text: error } : { kind: 'denied', toolName, text: denied ?? '' }
}

/**
 * Compares the new inputs of a model call with those in the recording. Returns the first difference; undefined if there is none. Outputs of
 * tools come from the recording, so their texts are not compared. Other texts that are not the user's are compared only in a strict replay.
 */
export function compareFresh (
  { number, fresh }: { number: number, fresh: ReadonlyArray<CallLine | MessageLine> },
  tail: readonly Fresh[],
  isStrict: boolean
): Difference | undefined {
  // Notes are ignored, because some of them are not stored and therefore not recorded, such as the note that no steps are left.
  const counts = ({ kind }: Fresh) => kind !== 'note'
  const expected = fresh.map((line) => ({ line, ...recordedFresh(line) })).filter(counts)
  const found = tail.filter(counts)
  for (const [at, was] of expected.entries()) {
    const is = found[at]
    const inputOf = was.line.type === 'call' ? ` ${shorten(JSON.stringify(was.line.input))}` : ''
    const subject = was.toolName === undefined ? 'The run' : `The call ${was.toolName}${inputOf}`
    if (is === undefined) return { step: number, what: `${subject} gave ${WORDS[was.kind]}, and gives nothing now.`, recorded: was.text }
    if (is.kind !== was.kind || is.toolName !== was.toolName) {
      const now = is.toolName === was.toolName ? WORDS[is.kind] : `${WORDS[is.kind]}${is.toolName ? ` of ${is.toolName}` : ''}`
      return { step: number, what: `${subject} gave ${WORDS[was.kind]}, and gives ${now} now.`, recorded: was.text, now: is.text }
    }
    const isUsers = was.line.type === 'message' && was.line.from === 'user'
    const isCompared = isUsers || (isStrict && was.kind !== 'output')
    if (isCompared && wordsOf(is) !== wordsOf(was)) {
      return { step: number, what: `${subject} gave other words.`, recorded: was.text, now: is.text }
    }
  }
  const more = found[expected.length]
  return more && { step: number, what: `The model gets ${WORDS[more.kind]} that the recording does not have.`, now: more.text }
}

/** Returns the words of an input as they are compared, without a note of the service behind a result. */
function wordsOf ({ text, toolName }: Fresh): string {
  const note = toolName === undefined ? -1 : text.indexOf(NOTE_OPENING)
  return alike(note === -1 ? text : text.slice(0, note).trimEnd()).replace(COMMENT_OPENING, '')
}

/**
 * Compares the system prompt and the tools of the first model call with those in the recording. For tasks, the
 * last text of the system prompt is not compared, because it depends on earlier runs.
 */
export function compareContext (
  context: ContextLine | undefined,
  { prompt, tools = [] }: Pick<LanguageModelV4CallOptions, 'prompt' | 'tools'>,
  { isTask }: { isTask: boolean }
): Difference[] {
  if (context === undefined) return [{ step: 1, what: 'The recording holds no system prompt and no tools, so they cannot be compared.' }]
  const differences: Difference[] = []
  const compared = (system: string[]) => withoutMemory((isTask ? system.slice(0, -1) : system).join('\n\n'))
  const was = compared(context.system)
  const now = compared(prompt.flatMap((message) => message.role === 'system' ? [message.content] : []))
  if (alike(was) !== alike(now)) {
    differences.push({ step: 1, what: 'The system prompt differs.', diff: changedLines(inLines(was), inLines(now)) })
  }
  const offered = new Map(tools.flatMap((tool) => tool.type === 'function' ? [[tool.name, tool] as const] : []))
  for (const tool of context.tools) {
    const current = offered.get(tool.name)
    offered.delete(tool.name)
    if (current === undefined) differences.push({ step: 1, what: `The tool ${tool.name} is not offered any more.` })
    else if (asSent(tool) !== described(current)) {
      const diff = changedLines(asSent(tool), described(current))
      differences.push({ step: 1, what: `The tool ${tool.name} is described otherwise.`, diff })
    }
  }
  for (const name of offered.keys()) differences.push({ step: 1, what: `The tool ${name} is new.` })
  return differences
}

const described = ({ description = '', inputSchema }: Pick<LanguageModelV4FunctionTool, 'description' | 'inputSchema'>) =>
  `${description}\n${JSON.stringify(inputSchema, null, 2)}`

/** Describes a tool with its schema as providers receive it. A recording contains the original schema. */
const asSent = (tool: ContextLine['tools'][number]) =>
  described({ ...tool, inputSchema: projectSchema(tool.inputSchema, 'compatible').schema })

/** Puts each sentence of a prompt on a line of its own, so that a diff is short. */
const inLines = (text: string) => alike(text).replaceAll(/([.!?:;]) (?=\p{Lu})/gu, '$1\n')

/** Returns the lines that only one of two texts has: lines of `was` with a minus, lines of `now` with a plus. */
function changedLines (was: string, now: string): string {
  const [before, after] = [was.split('\n'), now.split('\n')]
  const [known, present] = [new Set(before), new Set(after)]
  const lines = [...before.filter((line) => !present.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !known.has(line)).map((line) => `+ ${line}`)]
  return lines.length > 0 ? lines.join('\n') : '(the same lines in another order)'
}

/** Removes the user's memory from a system prompt, because a recording does not contain it. */
function withoutMemory (text: string): string {
  const at = text.indexOf(MEMORY_FOLLOWS)
  const end = at === -1 ? -1 : text.indexOf('\n\nWhat happened in this conversation', at)
  const cut = at === -1 ? text : text.slice(0, at) + (end === -1 ? '' : text.slice(end + 2))
  return cut.replaceAll(placeholder('memory'), '').trimEnd()
}

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g
const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \\d{1,2} \\d{4}'
const DATE = new RegExp(`${DAY}(?: \\d\\d:\\d\\d:\\d\\d(?: GMT[+-]\\d{4}(?: \\([^)]*\\))?)?)?`, 'g')
const TIME = /\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g
const MACHINE = /This computer runs [^;]+; commands run in [^.\n]+\./g

/** Replaces times, ids and descriptions of the computer by placeholders, so that they compare as equal. */
const alike = (text: string): string =>
  text.replace(UUID, '<id>').replace(DATE, '<time>').replace(TIME, '<time>').replace(MACHINE, placeholder('machine'))

const shorten = (text = '') => text.length > 120 ? `${text.slice(0, 119)}…` : text
