import { Type, type Static } from '@sinclair/typebox'
import { ref, Timestamp } from './common.ts'
import * as examples from './examples/schedule.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Bounds of a schedule, which its schema and its parser share. */
export const SCHEDULE_LIMITS = {
  text: 200,
  periodMs: { min: 1_000, max: 10 * 366 * DAY_MS },
  maxRuns: 1_000_000,
  graceMs: { default: DAY_MS, max: 366 * DAY_MS },
  upcoming: { default: 10, max: 100 }
} as const

const Text = (description: string) => Type.String({ minLength: 1, maxLength: SCHEDULE_LIMITS.text, description })

/** When a task runs. What the texts may say is checked by `parseSchedule`; docs/schedules.md has all of it. */
export const ScheduleSchema = Type.Object({
  interval: Text(
    'A word (hourly, daily, weekdays, weekends, weekly, monthly, yearly), weekdays ("every monday and thursday"), ' +
      'a duration ("30m", "2 days", "every 6 hours", "P1D") or a cron line ("0 9 * * 1-5", "@daily")'
  ),
  timezone: Type.Optional(Text("IANA time zone, such as Europe/Berlin. By default the machine's, and with it when the machine moves")),
  at: Type.Optional(
    Text('Time of day: "09:00", "17:30:15", "9am". By default that of startAt; else 09:00 for words, the time of the start for durations')
  ),
  on: Type.Optional(Type.Union([
    Text('A weekday or several ("monday", "mon and thu"); for months a day ("15", "last")'),
    Type.Integer({ minimum: 1, maximum: 31, description: 'For months: the day, or the last one of a shorter month' }),
    Type.Array(Text('A weekday'), { minItems: 1, maxItems: 7 })
  ], {
    description:
      'Weekdays for weeks, a day for months. By default that of startAt; else Monday and the 1st for words, the day of the start for durations'
  })),
  startAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Not before this time, in milliseconds since the Unix epoch; durations are counted from it, their first run is then'
    })
  ),
  maxRuns: Type.Optional(
    Type.Integer({ minimum: 1, maximum: SCHEDULE_LIMITS.maxRuns, description: 'The task is completed after so many runs of its schedule' })
  ),
  missed: Type.Optional(Type.Union([Type.Literal('run_once'), Type.Literal('skip')], {
    description:
      'What becomes of times that passed while the machine slept or the service was not there: one run for all of them (the default), or none'
  })),
  graceMs: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: SCHEDULE_LIMITS.graceMs.max,
    description: 'How late that one run may be, in milliseconds; by default 24 hours. What is older is missed'
  }))
}, { $id: 'Schedule', additionalProperties: false, description: 'When a task runs', examples: [examples.schedule] })
export type Schedule = Static<typeof ScheduleSchema>

export const FateSchema = Type.Union([Type.Literal('run'), Type.Literal('coalesced'), Type.Literal('skipped'), Type.Literal('missed')], {
  description:
    'run: it ran (`runId`); coalesced: the run at `into` stood for it; skipped: on purpose (`reason`); missed: too long ago to be made up for'
})
export type Fate = Static<typeof FateSchema>

/** What became of one time of a schedule, or of very many in a row. Every time that has passed is in exactly one slot. */
export const SlotSchema = Type.Object({
  at: Type.Integer({ description: 'The time that was planned; of several in a row the last. Milliseconds since the Unix epoch' }),
  fate: FateSchema,
  from: Type.Optional(Type.Integer({ description: 'Of several in a row: the first' })),
  count: Type.Optional(Type.Integer({ minimum: 2, description: 'Of several in a row: how many' })),
  reason: Type.Optional(
    Type.String({
      description:
        'Why it was skipped: overlap (a run was under way or waited for an answer), late (missed: skip), paused (the task was), changed or cancelled (just then)'
    })
  ),
  into: Type.Optional(Type.Integer({ description: 'The planned time of the run that stood for it' })),
  runId: Type.Optional(Type.String({ description: 'The run that it became or that stood for it' })),
  settledAt: Type.Optional(
    Type.Integer({
      description:
        'When that was decided: later than `at` when the machine slept or the service was not there. Milliseconds since the Unix epoch'
    })
  )
}, { $id: 'Slot', description: 'What became of a planned time', examples: [examples.slot] })
export type Slot = Static<typeof SlotSchema>

export const TaskScheduleSchema = Type.Object({
  schedule: ref(ScheduleSchema),
  upcoming: Type.Array(Timestamp, {
    description: 'The next planned times, the nearest first; of a schedule that is not under way, as if it were started or resumed now'
  }),
  slots: Type.Array(ref(SlotSchema), { description: 'What became of the planned times that have passed, the newest first' }),
  nextCursor: Type.Optional(Type.String({ description: 'Give it as `cursor` for older slots' }))
}, { $id: 'TaskSchedule', description: 'A schedule, what is ahead and what has been', examples: [examples.taskSchedule] })
export type TaskSchedule = Static<typeof TaskScheduleSchema>

export const UpcomingQuery = Type.Integer({
  minimum: 0,
  maximum: SCHEDULE_LIMITS.upcoming.max,
  default: SCHEDULE_LIMITS.upcoming.default,
  description: 'How many of the next planned times'
})
