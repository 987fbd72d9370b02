import { Type } from '@sinclair/typebox'
import type { RunOptions } from '../../../schemas/run-options.ts'
import type { Task } from '../../../schemas/tasks.ts'
import { BadSchedule } from '../../calendar/index.ts'
import type { ReadTime, TaskControl, When } from '../../contracts/task-control.ts'
import { isObject } from '../../lib/json.ts'
import { ToolFailed } from '../tool-errors.ts'

/** The conversation of a run. A task that the run makes gets its folder, tools and limits. */
export interface TaskConversation {
  threadId: string
  cwd: string
  options?: RunOptions
  /** The user's messages, newest last. */
  written: string[]
  /** The ids of the user's messages up to the request. They stay the same if the request is answered again. */
  turns: string[]
}

/** What the tools that make and change tasks need. */
export interface TaskParts {
  /** A function, because tasks are created later, from the tools. */
  tasks: () => TaskControl
  /** Returns the conversation of a run with a person; undefined for any other run. */
  conversationOf: (runId: string) => Promise<TaskConversation | undefined>
}

const optional = (description?: string) => Type.Optional(Type.String({ ...description !== undefined && { description } }))

/** The schema of a time, in the form that models write. It is short, because it is part of every conversation's prompt. */
export const WhenInput = Type.Object({
  at: optional('Once, or first: "2026-01-31T09:00", "in 2 hours"'),
  every: optional('"weekdays at 17:30", "every other friday" or a cron line'),
  zone: optional('"Europe/Berlin", if named')
}, { additionalProperties: false, description: 'In English; leave out to run now' })

/**
 * The schema of a time in the input of the tool changeTask: WhenInput without the descriptions of its fields. The model reads these in the
 * input of createTask, which it always gets too, so that they take up tokens only once.
 */
export const ChangedWhenInput = Type.Object({ at: optional(), every: optional(), zone: optional() }, {
  additionalProperties: false,
  description: 'Its new times'
})

/** Other names that models use for the fields of a time. */
const ALIASES: Record<keyof When, readonly string[]> = {
  at: ['at', 'once', 'time', 'date', 'datetime', 'start', 'startat', 'starttime', 'first', 'runat', 'in'],
  every: ['every', 'interval', 'schedule', 'cron', 'repeat', 'recurrence', 'frequency', 'when'],
  zone: ['zone', 'timezone', 'tz']
}
const plain = (name: string) => name.replace(/[\s_-]/g, '').toLowerCase()
/** Fields that are appended to the interval, such as `on` in "every week on friday". */
const PARTS = ['on', 'except']
const isWhen = (name: string): boolean => [...Object.values(ALIASES).flat(), ...PARTS].includes(plain(name))

/**
 * Returns a time in the form of WhenInput, from input fields with any of the known names, at the top level or in an object; undefined for
 * none.
 */
function whenFrom (fields: Record<string, unknown>): When | undefined {
  const inner = Object.values(fields).find(isObject)
  const all = new Map(Object.entries({ ...fields, ...inner }).flatMap(([name, value]): Array<[string, string]> => {
    const text = [value].flat().filter((each) => typeof each === 'string' || typeof each === 'number').join(' and ')
    return text === '' ? [] : [[plain(name), text]]
  }))
  const find = (names: readonly string[]) => names.find((name) => all.has(name))
  const [first, often, zone] = Object.values(ALIASES).map(find)
  const every = often && [all.get(often), ...PARTS.flatMap((part) => all.has(part) ? [part, all.get(part)] : [])].join(' ')
  const at = first && (first === 'in' ? `in ${all.get(first)!.replace(/^in /i, '')}` : all.get(first))
  return at === undefined && every === undefined ? undefined : { at, every, zone: zone && all.get(zone) }
}

/**
 * Returns the input with its time in the field `when` and in the form of WhenInput, even if the model wrote the fields of the time
 * elsewhere.
 */
export function mendTaskInput (input: unknown): unknown {
  if (!isObject(input)) return input
  const time = whenFrom(Object.fromEntries(Object.entries(input).filter(([name]) => isWhen(name))))
  if (time === undefined) return input
  const others = Object.entries(input).filter(([name]) => !isWhen(name))
  return { ...Object.fromEntries(others), when: JSON.parse(JSON.stringify(time)) }
}

/** Returns the conversation of a run. Throws ToolFailed for a run without a person. */
export async function conversationWithPerson ({ conversationOf }: TaskParts, runId: string): Promise<TaskConversation> {
  const conversation = await conversationOf(runId)
  if (conversation === undefined) throw new ToolFailed('Tasks can be made and changed in a conversation with a person only.')
  return conversation
}

/**
 * Returns a sentence for the person who must confirm a task's goal and time, because the conversation contains text that others wrote and
 * that might have asked for the task. Undefined if the conversation contains no such text; then nobody must confirm. `textOfOthers` returns
 * the name of the first source of such text.
 */
export async function whyConfirmGoal (textOfOthers: (() => Promise<string | undefined>) | undefined): Promise<string | undefined> {
  const read = await textOfOthers?.()
  return read && `The agent has read what others wrote here (${read}), which may have asked for this: look at the goal and at when it runs.`
}

/** Reads the time that the model wrote. Throws ToolFailed if it is ambiguous. */
export async function readTime ({ tasks }: TaskParts, when: When | undefined): Promise<ReadTime | undefined> {
  try {
    return when && await tasks().readWhen(when)
  } catch (error) {
    if (!(error instanceof BadSchedule)) throw error
    throw new ToolFailed(`Nothing was done, because the time is not clear. ${error.message} If you cannot tell, ask the user.`)
  }
}

/** Returns the reason why a person must confirm a time; undefined if no one must, or if the time cannot be read. */
export async function whyConfirm ({ tasks }: TaskParts, when: When | undefined, written: string[] = []): Promise<string | undefined> {
  const time = when && await tasks().readWhen(when, written.at(-1)).catch(() => undefined)
  return time?.confirm
}

/** Returns the quoted name of a task, for use inside a sentence. */
export const nameOf = ({ name }: Pick<Task, 'name'>): string => `“${name}”`

/** Returns sentences about when a task runs, and its status. */
export function whenOf ({ scheduleWords, nextRunAt, status }: Task, time?: ReadTime): string {
  if (scheduleWords === undefined) return status === 'running' || status === 'scheduled' ? 'It runs now, once.' : `It is ${status}.`
  const next = time?.next ?? (nextRunAt === undefined ? [] : [nextRunAt])
  const dates = next.slice(0, NEXT_SHOWN).map((at) => new Date(at).toISOString())
  const zone = time === undefined ? '' : ` (${time.zone})`
  return `It runs ${scheduleWords}${zone}${dates.length === 0 ? '' : `, next at ${dates.join(', ')}`}. It is ${status}.`
}
const NEXT_SHOWN = 3

/** Returns a sentence about the approvals that a task needs. */
export function asksOf ({ approval: { mode, firstN } }: Pick<Task, 'approval'>): string {
  const runs = firstN === 1 ? 'a run' : `${firstN} runs`
  switch (mode) {
    case 'changes':
      return `Until you have approved ${runs} that changed something, it asks before each change and for the result.`
    case 'first_n':
      return `Until you have approved ${runs}, it asks before each change and for each result.`
    case 'always':
      return 'It asks before each change and for each result.'
    case 'granted':
    case 'never':
      return 'It asks nothing.'
  }
}
