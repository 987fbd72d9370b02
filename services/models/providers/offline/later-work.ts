import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import { mentionsTime } from '../../../calendar/index.ts'
import { CREATE_TASK } from '../../../contracts/model-texts.ts'
import { isObject } from '../../../lib/json.ts'
import type { Reply } from '../reply-model.ts'
import { type Background, readBackground } from './background.ts'
import { readMessage } from './excerpt.ts'
import { callsMade, hasFiles, lastRequest, type MadeCall } from './prompt.ts'
import { valueOf } from './report.ts'
import { readSteps } from './steps.ts'

/** The longest request in which words about a time are searched, characters. A longer one is a document, and reading it takes seconds. */
const LONGEST_DOUBTED = 20_000
/** Characters of a goal in an answer. */
const GOAL_SHOWN = 300

/** The answer to a request that names a time if the run cannot create a task: the work is not done now instead. */
const NO_TASK = 'You say when this is to be done. I did nothing now: create a task for it, with its schedule.'
const NO_FILES = 'I made no task, because a task cannot read the attached files. Save them on this computer, and say where they are.'

/**
 * Returns the background work that a request asks for; undefined if there is none. Commands beside words about a time that cannot be parsed
 * count as such work, with the kind `doubt`.
 */
export function readLaterWork (request: string): Background | undefined {
  return readBackground(request) ?? inDoubt(request)
}

function inDoubt (request: string): Background | undefined {
  if (request.length > LONGEST_DOUBTED) return undefined
  const steps = readSteps(request)
  const words = steps.find((step) => step.kind === 'unread' && mentionsTime(readMessage(step.text).mask))
  if (words?.kind !== 'unread' || !steps.some(({ kind }) => kind === 'command')) return undefined
  return { goal: request.trim(), when: { text: words.text, kind: 'doubt' } }
}

/**
 * Answers a request for work in the background or at a time: with a call that makes the task, and then with the outcome. Undefined for a
 * request to be done now.
 */
export function laterWorkReply (prompt: LanguageModelV4Prompt, offered: ReadonlySet<string>): Reply | undefined {
  const work = readLaterWork(lastRequest(prompt))
  if (work === undefined) return undefined
  const call = callsMade(prompt).findLast(({ toolName }) => toolName === CREATE_TASK)
  if (call !== undefined) return { text: describeCall(call) }
  if (!offered.has(CREATE_TASK)) return work.when === undefined ? undefined : { text: NO_TASK }
  if (hasFiles(prompt)) return { text: NO_FILES }
  const { goal, when } = work
  // Ambiguous words are passed on unchanged: the tool says what is unclear about them.
  const time = when && { [when.kind === 'repeated' ? 'every' : 'at']: when.text }
  return { toolCalls: [{ toolName: CREATE_TASK, input: { goal, when: time } }] }
}

function describeCall ({ input, output }: MadeCall): string {
  if (output === undefined) return 'I have no result of my attempt to make a background task of this.'
  if (output.type === 'execution-denied') return 'You did not approve the background task, so I made none.'
  const value = valueOf(output)
  if (output.type === 'error-text' || output.type === 'error-json') {
    const message = String((value as { message?: unknown } | null)?.message ?? value)
    return `I did nothing and made no task. ${message.replace(/^Nothing was done, because/, 'The reason is that')
      .replace(/ If you cannot tell, ask the user\.$/, '')}`
  }
  const { task, asks, isKnown } = (isObject(value) ? value : {}) as Record<string, any>
  if (!isObject(task)) {
    const { goal } = input as { goal: string }
    return `It would make a background task of this: “${shorten(goal)}”. ` +
      'A task is rehearsed with POST /tasks/:id/rehearse once it is there.'
  }
  const { taskId, goal, status, words, nextRunAt, interval } = task
  const state = { pending_approval: 'waiting for your approval' }[status as string] ?? status
  const next = nextRunAt === undefined || interval === undefined ? '' : `, next on ${localTime(nextRunAt)}`
  return [
    isKnown === true
      ? `There is a background task of this already: “${shorten(goal)}”. Its id is ${taskId}, and it is ${state}.`
      : `I made a background task of this: “${shorten(goal)}”. Its id is ${taskId}.`,
    words === undefined ? isKnown === true ? 'It runs once.' : 'It is running now, once.' : `It runs ${words}${next}.`,
    `${asks} Among your tasks you can watch it, tell it something, run it at once, pause it and delete it.`
  ].join('\n\n')
}

const shorten = (goal: string) => goal.length > GOAL_SHOWN ? `${goal.slice(0, GOAL_SHOWN)}…` : goal

/** Formats a time, in milliseconds since the Unix epoch, in the time zone of this machine: "Mon Nov 30 2026 at 09:00". */
function localTime (at: number): string {
  const date = new Date(at)
  return `${date.toDateString()} at ${date.toTimeString().slice(0, 5)}`
}
