// What users wrote about a time, beside the schedule that a model hands to createTask. `words-and-schedules-held.ts` holds as many.

export interface WordsAndSchedule {
  /** The user's message. */
  words: string
  /** The schedule as docs/schedules.md describes it, or as models write it. */
  schedule: Record<string, unknown>
  /** Whether createTask has to ask, because the schedule contradicts the words or runs more often than hourly. */
  asks: boolean
  why: string
}

/** Sunday, 29 November 2026, 10:00 in Europe/Berlin: "tomorrow" is Monday the 30th. */
export const saidAt = Date.UTC(2026, 10, 29, 9)

export const wordsAndSchedules: WordsAndSchedule[] = [
  { words: 'Every Monday at 9, send me the open issues.', schedule: { interval: 'weekly', on: 'tuesday', at: '09:00' }, asks: true, why: 'another weekday' },
  { words: 'Summarise my mail every weekday at 8am.', schedule: { interval: 'daily', at: '08:00' }, asks: true, why: 'weekends are added' },
  { words: 'Back up the folder every evening.', schedule: { interval: 'daily', at: '09:00' }, asks: true, why: 'morning for evening' },
  { words: 'Check the price every 6 hours.', schedule: { interval: 'every 12 hours' }, asks: true, why: 'another interval' },
  { words: 'Remind me tomorrow at 3pm to call the bank.', schedule: { interval: 'daily', at: '15:00' }, asks: true, why: 'once became again and again' },
  { words: 'Every day at 7 in the morning, tell me the weather.', schedule: { once: '2026-11-30T07:00' }, asks: true, why: 'again and again became once' },
  { words: 'On 24 December at 18:00 play the song list.', schedule: { once: '2026-12-25T18:00' }, asks: true, why: 'another date' },
  { words: 'Look at the status page for me.', schedule: { interval: 'every 10 minutes' }, asks: true, why: 'more often than hourly, which nobody said' },
  { words: 'Check the build every 5 minutes until I am back.', schedule: { interval: 'every 5 minutes' }, asks: true, why: 'more often than hourly, also when it was said' },
  { words: 'Send the report at 5pm every Friday.', schedule: { interval: 'weekly', on: 'friday', at: '05:00' }, asks: true, why: 'five in the morning for five in the afternoon' },
  { words: 'Check the news once a day, once a day is enough.', schedule: { interval: 'daily', at: '09:00' }, asks: false, why: 'the hour is left open' },
  { words: 'Every monday of the week at 9am, list my open invoices.', schedule: { interval: 'weekly', on: 'monday', at: '09:00' }, asks: false, why: '"of the week" adds nothing' },
  { words: 'Please water the plants log on weekdays at 17:30.', schedule: { interval: 'weekdays', at: '17:30' }, asks: false, why: '"on" beside the time' },
  { words: 'Clean the downloads folder now and then.', schedule: { interval: 'weekly', on: 'sunday', at: '09:00' }, asks: false, why: 'the words leave it open' },
  { words: 'Remind me in 2 hours to take the cake out.', schedule: { in: '2h' }, asks: false, why: 'the same' },
  { words: 'Tell me tomorrow at 3pm to call the bank.', schedule: { once: '2026-11-30T15:00' }, asks: false, why: 'the same' },
  { words: 'Back up the folder every night.', schedule: { interval: 'daily', at: '22:00' }, asks: false, why: 'ten is an hour of the night' },
  { words: 'Keep an eye on the price and tell me when it drops below 50.', schedule: { interval: 'every 6 hours' }, asks: false, why: 'no time was said' },
  { words: 'Every month, on the 15th, make the statement.', schedule: { interval: 'monthly', on: '15th', at: '09:00' }, asks: false, why: 'the hour is left open' },
  { words: 'Every two weeks on Friday at 4pm ask me for my hours.', schedule: { interval: 'every other friday', at: '16:00' }, asks: false, why: 'the same in other words' }
]

/** Requests for something to do now in which a time or a task is only mentioned: none makes a task. */
export const requestsThatOnlyMentionTime: string[] = [
  'What meetings do I have at 3pm tomorrow?',
  'Write a cron line for every monday at 6.',
  'Pause my daily report task.',
  'Why did the backup of last night fail?',
  'Translate "see you every day at noon" into Spanish.',
  'How many seconds are there in 3 days?',
  'Explain what `*/10 * * * *` means.',
  'Find all files that were changed since yesterday at 5pm.',
  'Rename weekly-report.md to monthly-report.md.',
  'Which of my tasks runs every friday?',
  'Write a poem about every morning at the lake.',
  'Add "dentist, 4 December at 9:30" to appointments.txt.',
  'In "meeting-2026-12-01.md", what was decided?',
  'Change the text on the page to "open daily from 9 to 17".',
  'Is it cheaper to fly on sunday than on monday?'
]
