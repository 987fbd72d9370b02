import type { RunOptions, Schedule, TaskBody, TaskChanges, Trigger } from '../../../client/generated/index.ts'
import { localFieldOf } from '../../lib/time.ts'
import { WEEKDAYS } from './schedule-words.ts'
import type { Task } from './task-queries.ts'

/** Intervals for which the form has fields; `custom` is a free text. */
export const INTERVALS = ['hourly', 'daily', 'weekdays', 'weekly', 'monthly', 'custom'] as const
export const MODES = ['changes', 'granted'] as const
/** Approval modes that few tasks need. */
export const OTHER_MODES = ['first_n', 'always', 'never'] as const
export const TYPES = ['one_shot', 'recurring', 'triggered'] as const

/** The fields of a task's form, as the user typed them. */
export interface FormValues {
  /** If empty, the name is made from the goal. */
  name: string
  goal: string
  taskType: typeof TYPES[number]
  /** True if the time fields apply; false if the time that the goal names applies. */
  hasOwnTime: boolean
  /** The local time of a single run, such as "2030-12-24T09:00"; empty if the task runs when it is started. */
  once: string
  triggers: TriggerFields[]
  interval: typeof INTERVALS[number]
  custom: string
  at: string
  days: string[]
  day: string
  timezone: string
  missed: 'run_once' | 'skip'
  mode: typeof MODES[number] | typeof OTHER_MODES[number]
  firstN: string
  cwd: string
  agent: string
  model: string
  instructions: string
  usd: string
  minutes: string
  /** The local time at which the task ends; empty for none. */
  ends: string
}

/** The fields of a trigger. */
export type TriggerFields =
  | { type: 'files', path: string, glob: string }
  | { type: 'task', taskId: string, on: 'completed' | 'failed' }

/** The fields of a form, and the function that changes some of them. */
export interface FieldsProps {
  values: FormValues
  set: (some: Partial<FormValues>) => void
}

export const NEW_TASK: FormValues = {
  name: '',
  goal: '',
  taskType: 'one_shot',
  hasOwnTime: false,
  once: '',
  triggers: [],
  interval: 'daily',
  custom: '',
  at: '09:00',
  days: ['monday'],
  day: '1',
  timezone: '',
  missed: 'run_once',
  mode: 'changes',
  firstN: '3',
  cwd: '',
  agent: '',
  model: '',
  instructions: '',
  usd: '',
  minutes: '',
  ends: ''
}

/** Returns the fields for a task that is edited. A schedule without matching fields becomes the text of `custom`. */
export function valuesOf ({ name, goal, taskType, schedule, triggers = [], approval, cwd, endsAt, options = {} }: Task): FormValues {
  return {
    ...NEW_TASK,
    ...schedule && scheduleValues(schedule),
    name,
    goal,
    taskType,
    triggers: triggers.map((trigger) => trigger.type === 'files' ? { ...trigger, glob: trigger.glob ?? '' } : trigger),
    mode: approval.mode,
    firstN: String(approval.firstN),
    cwd,
    agent: options.agent ?? '',
    model: options.model ?? '',
    instructions: options.instructions ?? '',
    usd: String(options.budget?.usd ?? ''),
    minutes: String(options.budget?.minutes ?? ''),
    ends: endsAt === undefined ? '' : localFieldOf(endsAt)
  }
}

/** Returns the fields for a schedule. A schedule without matching fields becomes the text of `custom`. */
export function scheduleValues (schedule: Schedule): Partial<FormValues> {
  const { interval = '', at = '09:00', on, timezone = '', missed = 'run_once' } = schedule
  const shared = { timezone, missed, at, custom: interval, once: onceText(schedule) }
  const word = INTERVALS.find((name) => name === interval && name !== 'custom')
  const days = on === undefined ? ['monday'] : Array.isArray(on) ? on : String(on).split(/\s*,\s*|\s+and\s+/)
  const isPlain = /^\d\d:\d\d$/.test(at)
  if (word === undefined || !isPlain) return { ...shared, interval: 'custom' }
  if (word === 'monthly') return { ...shared, interval: word, day: String(on ?? 1) }
  if (word !== 'weekly') return { ...shared, interval: word }
  return days.every((day) => WEEKDAYS.includes(day)) ? { ...shared, interval: word, days } : { ...shared, interval: 'custom' }
}

/**
 * Returns the single time of a schedule as the value of a date field: without seconds, and in the browser's time zone if the schedule names
 * none.
 */
function onceText ({ once }: Schedule): string {
  if (typeof once !== 'number') return once?.slice(0, 16) ?? ''
  return localFieldOf(once)
}

/** Returns the schedule of the form; undefined for a task that runs only when it is started or triggered. */
export function formSchedule (values: FormValues, before?: Schedule): Schedule | undefined {
  if (values.taskType === 'recurring') return scheduleOf(values, before)
  if (values.taskType === 'triggered') return undefined
  const { once, timezone } = values
  // Keeps a time that the field cannot show, such as "in 2 hours" of a task that was not started.
  if (before !== undefined && once === onceText(before) && timezone.trim() === (before.timezone ?? '')) return before
  return once === '' ? undefined : { once, ...timezone.trim() !== '' && { timezone: timezone.trim() } }
}

/** Returns the triggers of the form. */
const triggersOf = ({ triggers }: FormValues): Trigger[] => triggers.map((each) => {
  if (each.type === 'task') return each
  const { type, path, glob } = each
  return { type, path: path.trim(), ...glob.trim() !== '' && { glob: glob.trim() } }
})

/** Returns the recurring schedule of the form. Parts of the earlier schedule without a field are kept. */
function scheduleOf ({ interval, custom, at, days, day, timezone, missed }: FormValues, before?: Schedule): Schedule {
  const { startAt, maxRuns, graceMs } = before ?? {}
  const kept = {
    ...startAt !== undefined && { startAt },
    ...maxRuns !== undefined && { maxRuns },
    ...graceMs !== undefined && { graceMs },
    ...timezone.trim() !== '' && { timezone: timezone.trim() },
    ...missed === 'skip' && { missed }
  }
  switch (interval) {
    case 'custom': {
      // An unchanged interval text keeps its time of day and its days.
      const same = before?.interval === custom.trim() ? before : undefined
      return {
        ...kept,
        interval: custom.trim(),
        ...same?.at !== undefined && { at: same.at },
        ...same?.on !== undefined && { on: same.on }
      }
    }
    case 'hourly':
      return { ...kept, interval }
    case 'weekly':
      return { ...kept, interval, at, on: days }
    case 'monthly':
      return { ...kept, interval, at, on: /^\d+$/.test(day) ? Number(day) : day }
    default:
      return { ...kept, interval, at }
  }
}

function optionsOf ({ agent, model, instructions, usd, minutes }: FormValues, before: RunOptions = {}): RunOptions {
  const { agent: _agent, model: _model, instructions: _instructions, budget: had = {}, ...kept } = before
  const { usd: _usd, minutes: _minutes, ...budget } = had
  const limits = { ...budget, ...usd !== '' && { usd: Number(usd) }, ...minutes !== '' && { minutes: Number(minutes) } }
  return {
    ...kept,
    ...agent !== '' && { agent },
    ...model.trim() !== '' && { model: model.trim() },
    ...instructions.trim() !== '' && { instructions: instructions.trim() },
    ...Object.keys(limits).length > 0 && { budget: limits }
  }
}

/** Returns true if the mode asks during the first runs, whose number can be chosen. */
export const countsRuns = (mode: FormValues['mode']): boolean => mode === 'changes' || mode === 'first_n'
const approvalOf = ({ mode, firstN }: FormValues) => ({ mode, ...countsRuns(mode) && firstN !== '' && { firstN: Number(firstN) } })

/** Returns the body of the request that creates a task. */
export function bodyOf (values: FormValues): TaskBody {
  const options = optionsOf(values)
  const schedule = formSchedule(values)
  return {
    ...values.name.trim() !== '' && { name: values.name.trim() },
    goal: values.goal.trim(),
    taskType: values.taskType,
    ...schedule && { schedule },
    ...values.taskType !== 'one_shot' && values.triggers.length > 0 && { triggers: triggersOf(values) },
    approval: approvalOf(values),
    ...values.cwd.trim() !== '' && { cwd: values.cwd.trim() },
    ...values.ends !== '' && { endsAt: new Date(values.ends).getTime() },
    ...Object.keys(options).length > 0 && { options }
  }
}

/** Returns the end time of a form; 0 for none. An unchanged end time keeps its seconds. */
function endOf (ends: string, before: number | undefined): number {
  if (before !== undefined && ends === localFieldOf(before)) return before
  return ends === '' ? 0 : new Date(ends).getTime()
}

/** Returns the changes from the task to the values of the form; undefined if there are none. */
export function changesOf (values: FormValues, task: Task): TaskChanges | undefined {
  const { schedule, triggers = [], approval: { mode, firstN } } = task
  const next = {
    goal: values.goal.trim(),
    name: values.name.trim(),
    approval: approvalOf(values),
    schedule: formSchedule(values, schedule) ?? schedule,
    ...task.taskType !== 'one_shot' && { triggers: triggersOf(values) },
    cwd: values.cwd.trim() === '' ? task.cwd : values.cwd.trim(),
    endsAt: endOf(values.ends, task.endsAt),
    options: optionsOf(values, task.options)
  }
  const now = {
    goal: task.goal,
    name: task.name,
    approval: { mode, ...countsRuns(mode) && { firstN } },
    schedule,
    triggers,
    cwd: task.cwd,
    endsAt: task.endsAt ?? 0,
    options: task.options ?? {}
  }
  const changed = Object.entries(next).filter(([name, value]) => !isSame(value, now[name as keyof typeof now]))
  return changed.length === 0 ? undefined : Object.fromEntries(changed)
}

/** Returns true if two values have the same JSON, in any order of fields. */
function isSame (one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other
  const names = new Set([...Object.keys(one), ...Object.keys(other)])
  return [...names].every((name) => isSame(one[name as keyof typeof one], other[name as keyof typeof other]))
}
