import { Type } from '@sinclair/typebox'
import type { RunOptions } from '../../../schemas/run-options.ts'
import type { Task } from '../../../schemas/tasks.ts'
import { BadSchedule } from '../../calendar/index.ts'
import type { ReadTime, TaskControl, When } from '../../contracts/task-control.ts'
import { isObject } from '../../lib/json.ts'
import { ToolFailed } from '../tool-errors.ts'

/** The conversation of a run, whose folder, tools and limits a task gets. */
export interface TaskConversation {
  threadId: string
  cwd: string
  options?: RunOptions
  /** The user's messages, the newest last. */
  written: string[]
  /** Ids of the user's messages up to the request. They are the same when the request is answered again. */
  turns: string[]
}

/** The collaborators of the tools that make and change tasks. */
export interface TaskParts {
  /** A function, because tasks are made of the tools. */
  tasks: () => TaskControl
  /** Returns the conversation of a run with a person; undefined for other runs. */
  conversationOf: (runId: string) => Promise<TaskConversation | undefined>
}

const optional = (description?: string) => Type.Optional(Type.String({ ...description !== undefined && { description } }))

/** When a task runs, in the form that models write. It is short, because every conversation is told of it. */
export const WhenInput = Type.Object({
  at: optional('Once, or first: "2026-01-31T09:00", "in 2 hours"'),
  every: optional('"weekdays at 17:30", "every other friday" or a cron line'),
  zone: optional('"Europe/Berlin", if named')
}, { additionalProperties: false, description: 'In English; absent for now' })

/** The same for changeTask, which is described beside createTask. */
export const ChangedWhenInput = Type.Object({ at: optional(), every: optional(), zone: optional() }, {
  additionalProperties: false,
  description: 'Its new times'
})

/** Other names that models use for the properties of a time. */
const ALIASES: Record<keyof When, readonly string[]> = {
  at: ['at', 'once', 'time', 'date', 'datetime', 'start', 'startat', 'starttime', 'first', 'runat', 'in'],
  every: ['every', 'interval', 'schedule', 'cron', 'repeat', 'recurrence', 'frequency', 'when'],
  zone: ['zone', 'timezone', 'tz']
}
const plain = (name: string) => name.replace(/[\s_-]/g, '').toLowerCase()
/** Properties of a schedule that are written behind its interval. */
const PARTS = ['on', 'except']
const isWhen = (name: string): boolean => [...Object.values(ALIASES).flat(), ...PARTS].includes(plain(name))

/** Returns a time that a model wrote as a text, or with the properties of a schedule, in the form of WhenInput; undefined for none. */
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

/** Moves a time that stands beside the other properties of an input, or has another form, to its place. */
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

/** Returns why the goal and time of a task must be confirmed if the conversation has read what others wrote. */
export async function whyConfirmGoal (textOfOthers: (() => Promise<string | undefined>) | undefined): Promise<string | undefined> {
  const read = await textOfOthers?.()
  return read && `The agent has read what others wrote here (${read}), which may have asked for this: look at the goal and at when it runs.`
}

/** Reads the time that the model passed. Throws ToolFailed if it is ambiguous. */
export async function readTime ({ tasks }: TaskParts, when: When | undefined): Promise<ReadTime | undefined> {
  try {
    return when && await tasks().readWhen(when)
  } catch (error) {
    if (!(error instanceof BadSchedule)) throw error
    throw new ToolFailed(`Nothing was done, because it is not sure when the user means. ${error.message} If you cannot tell, ask the user.`)
  }
}

/** Returns why a person must confirm a time; undefined for other times, and for one that cannot be read. */
export async function whyConfirm ({ tasks }: TaskParts, when: When | undefined, written: string[] = []): Promise<string | undefined> {
  const time = when && await tasks().readWhen(when, written.at(-1)).catch(() => undefined)
  return time?.confirm
}

/** Returns the name of a task for a sentence. */
export const nameOf = ({ name }: Pick<Task, 'name'>): string => `“${name}”`

/** Returns a sentence about when a task runs. */
export function whenOf ({ scheduleWords, nextRunAt, status }: Task, time?: ReadTime): string {
  if (scheduleWords === undefined) return status === 'running' || status === 'scheduled' ? 'It runs now, once.' : `It is ${status}.`
  const next = time?.next ?? (nextRunAt === undefined ? [] : [nextRunAt])
  const dates = next.slice(0, NEXT_SHOWN).map((at) => new Date(at).toISOString())
  const zone = time === undefined ? '' : ` (${time.zone})`
  return `It runs ${scheduleWords}${zone}${dates.length === 0 ? '' : `, next at ${dates.join(', ')}`}. It is ${status}.`
}
const NEXT_SHOWN = 3

/** Returns a sentence about what a task asks its person. */
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
