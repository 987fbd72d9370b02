import { Type, type Static } from '@sinclair/typebox'
import { oneOf, ref, Timestamp } from './common.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** Limits of a schedule, shared by its schema and its parser. */
export const SCHEDULE_LIMITS = {
  text: 200,
  periodMs: { min: 1_000, max: 10 * 366 * DAY_MS },
  maxRuns: 1_000_000,
  graceMs: { max: 366 * DAY_MS },
  upcoming: { default: 10, max: 100 }
} as const

const Text = (description: string) => Type.String({ minLength: 1, maxLength: SCHEDULE_LIMITS.text, description })

/** The times at which a task runs. `parseSchedule` checks the notation of the text fields; docs/schedules.md describes it. */
export const ScheduleSchema = Type.Object({
  interval: Type.Optional(Text(
    'How often: a word (hourly, daily, weekdays, weekends, weekly, biweekly, monthly, quarterly, yearly), days ("every monday and ' +
      'thursday", "every other friday", "first monday", "1st and 15th"), a duration ("30m", "2 days", "every 6 hours", "P1D", "every 10 ' +
      'minutes between 9 and 17") or a cron line ("0 9 * * 1-5", "@daily"). A schedule has either this, `once` or `in`'
  )),
  once: Type.Optional(Type.Union([
    Text('A local time, read in `timezone`: "2026-12-24T09:00"'),
    Type.Integer({ minimum: 0, description: 'Milliseconds since the Unix epoch' })
  ], { description: 'One time, for tasks of type one_shot. It must still be to come' })),
  in: Type.Optional(Text('One time, counted from the start of the task: "30 minutes", "2h", "3 days"')),
  timezone: Type.Optional(Text("IANA time zone, such as Europe/Berlin. By default the machine's time zone, including its later changes")),
  at: Type.Optional(
    Text(
      'Time of day: "09:00", "17:30:15", "9am". By default the time of startAt; without startAt, 09:00 for words and the time of the ' +
      'start for durations'
    )
  ),
  on: Type.Optional(Type.Union([
    Text('One or more weekdays ("monday", "mon and thu"); for months, a day ("15", "last")'),
    Type.Integer({ minimum: 1, maximum: 31, description: 'For months: the day; in a shorter month its last day' }),
    Type.Array(Text('A weekday'), { minItems: 1, maxItems: 7 })
  ], {
    description:
      'Weekdays for weekly schedules, a day for monthly ones. By default the day of startAt; without startAt, Monday and the 1st for ' +
      'words and the day of the start for durations'
  })),
  except: Type.Optional(Type.Union([Text('What is left out'), Type.Array(Text('A weekday or a date'), { minItems: 1, maxItems: 366 })], {
    description: 'Weekdays and dates that are left out: "sundays", "24 december", "2026-12-24"'
  })),
  startAt: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'Earliest time of a run, in milliseconds since the Unix epoch. Durations are counted from it, and their first run is ' +
        'at this time'
    })
  ),
  maxRuns: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: SCHEDULE_LIMITS.maxRuns,
      description: 'Number of scheduled runs after which the task is completed'
    })
  ),
  missed: Type.Optional(oneOf(['run_once', 'skip'], {
    description:
      'How to handle planned times that passed while the machine slept or the service did not run: run_once starts one run for all of ' +
      'them (the default), skip none'
  })),
  graceMs: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: SCHEDULE_LIMITS.graceMs.max,
    description: 'Maximum delay of that one run, in milliseconds; by default half of the time to the next planned one, at least 24 hours ' +
      'and at most 7 days. Older planned times are missed'
  }))
}, { $id: 'Schedule', additionalProperties: false, description: 'The times at which a task runs' })
export type Schedule = Static<typeof ScheduleSchema>

const FateSchema = oneOf(['run', 'coalesced', 'skipped', 'missed'], {
  description:
    'run: the planned time became the run `runId`; coalesced: the run planned for `into` replaced it; skipped: left out on purpose ' +
    '(`reason`); missed: too old for a catch-up run'
})
export type Fate = Static<typeof FateSchema>

/** The outcome of one planned time, or of consecutive planned times. Every past time belongs to exactly one slot. */
export const SlotSchema = Type.Object({
  at: Type.Integer({ description: 'The planned time; for several in a row, the last one. Milliseconds since the Unix epoch' }),
  fate: FateSchema,
  from: Type.Optional(Type.Integer({ description: 'For several planned times in a row: the first one' })),
  count: Type.Optional(Type.Integer({ minimum: 2, description: 'For several planned times in a row: their number' })),
  reason: Type.Optional(
    Type.String({
      description:
        'Why the planned time was skipped: overlap (a run was active), waiting (a run waited for a person, since `since`; all such times ' +
        'in a row are one entry), late (the schedule has missed: skip), ' +
        'paused (the task was paused), failing (the task is failing, and is tried less often), budget (the tasks had used up their ' +
        'budget of the day), changed or cancelled (the task was changed or cancelled at that moment), ended (the end time of the task came)'
    })
  ),
  since: Type.Optional(Type.Integer({
    description: 'For the reason waiting: the time since which the run waited. Milliseconds since the Unix epoch'
  })),
  into: Type.Optional(Type.Integer({ description: 'The planned time of the run that replaced it' })),
  runId: Type.Optional(Type.String({ description: 'The run of this planned time, or the run that replaced it' })),
  settledAt: Type.Optional(
    Type.Integer({
      description:
        'The time of that decision; it is later than `at` if the machine slept or the service did not run. Milliseconds since the Unix ' +
        'epoch'
    })
  )
}, { $id: 'Slot', description: 'The outcome of a planned time' })
export type Slot = Static<typeof SlotSchema>

const Words = Type.String({ description: 'When it runs, as it was understood: "every other week on Friday at 09:00"' })

export const TaskScheduleSchema = Type.Object({
  schedule: ref(ScheduleSchema),
  words: Type.Optional(Words),
  upcoming: Type.Array(Timestamp, {
    description: 'The next planned times, earliest first. For an inactive schedule, the times that would apply if it were started or ' +
      'resumed now'
  }),
  slots: Type.Array(ref(SlotSchema), { description: 'The outcomes of past planned times, newest first' }),
  nextCursor: Type.Optional(Type.String({ description: 'The `cursor` of the request for older slots' }))
}, {
  $id: 'TaskSchedule',
  description: 'A schedule, its next planned times and the outcomes of past ones'
})
export type TaskSchedule = Static<typeof TaskScheduleSchema>

export const PreviewScheduleBodySchema = Type.Object({
  schedule: Type.Optional(ref(ScheduleSchema)),
  text: Type.Optional(Type.String({ minLength: 1, maxLength: SCHEDULE_LIMITS.text, description: 'A time in words: "tomorrow at 5pm"' })),
  timezone: Type.Optional(Text('With `text`: the time zone that it is read in'))
}, {
  $id: 'PreviewScheduleBody',
  additionalProperties: false,
  description: 'Either a schedule, or a time in words',
  examples: [{ text: 'every other friday at 9am', timezone: 'Europe/Berlin' }, { schedule: { once: '2030-12-24T09:00' } }]
})
export type PreviewScheduleBody = Static<typeof PreviewScheduleBodySchema>

export const SchedulePreviewSchema = Type.Union([
  Type.Object({
    understood: Type.Literal(true),
    schedule: ref(ScheduleSchema),
    words: Words,
    zone: Type.String({ description: 'The time zone of its local times' }),
    next: Type.Array(Timestamp, { description: 'The next planned times, at most five, if it were started now' }),
    confirm: Type.Optional(Type.String({
      description: 'Why a person should confirm the schedule first: it runs more often than hourly'
    }))
  }),
  Type.Object({
    understood: Type.Literal(false),
    reason: Type.String({ description: 'Why nothing is planned, and what can be written' })
  })
], { $id: 'SchedulePreview', description: 'What a schedule or a text about time means' })
export type SchedulePreview = Static<typeof SchedulePreviewSchema>

export const UpcomingQuery = Type.Integer({
  minimum: 0,
  maximum: SCHEDULE_LIMITS.upcoming.max,
  default: SCHEDULE_LIMITS.upcoming.default,
  description: 'Number of next planned times'
})
