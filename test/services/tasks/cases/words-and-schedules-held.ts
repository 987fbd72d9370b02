// Cases that are not read while the code is written: a test runs them, and what fails is mended by kind.
import type { WordsAndSchedule } from './words-and-schedules-open.ts'

export const wordsAndSchedulesHeld: WordsAndSchedule[] = [
  { words: 'Each Thursday at noon remind me of the standup notes.', schedule: { interval: 'weekly', on: 'thursday', at: '00:00' }, asks: true, why: 'midnight for noon' },
  { words: 'Run the import on weekends at 10.', schedule: { interval: 'weekdays', at: '10:00' }, asks: true, why: 'weekdays for weekends' },
  { words: 'Every afternoon give me a digest of new mail.', schedule: { interval: 'daily', at: '21:00' }, asks: true, why: 'night for afternoon' },
  { words: 'Poll the feed every 3 hours.', schedule: { interval: 'every 3 days' }, asks: true, why: 'days for hours' },
  { words: 'Tonight at 9pm shut the dev server down.', schedule: { interval: 'daily', at: '21:00' }, asks: true, why: 'once became again and again' },
  { words: 'Every first of the month, archive the logs.', schedule: { interval: 'monthly', on: '15th', at: '09:00' }, asks: true, why: 'another day of the month' },
  { words: 'Weekly on Wednesday morning collect the time sheets.', schedule: { once: '2026-12-02T09:00' }, asks: true, why: 'again and again became once' },
  { words: 'Watch the queue, please.', schedule: { interval: '*/2 * * * *' }, asks: true, why: 'every two minutes, which nobody said' },
  { words: 'Remind me on 3 January at 8:30 to renew the passport.', schedule: { once: '2027-03-01T08:30' }, asks: true, why: 'day and month changed places' },
  { words: 'Every hour between 9 and 17 look whether the parcel has moved.', schedule: { interval: 'every 15 minutes' }, asks: true, why: 'more often than was said, and than hourly' },
  { words: 'Do a link check of the site, weekly is fine.', schedule: { interval: 'weekly', on: 'monday', at: '09:00' }, asks: false, why: '"is fine" adds nothing; the day is left open' },
  { words: 'At 6:45 of each morning, read me the headlines.', schedule: { interval: 'daily', at: '06:45' }, asks: false, why: '"of each" beside the time' },
  { words: 'Can you on Tuesdays and Thursdays at 18:00 tell me to go running?', schedule: { interval: 'tue and thu', at: '18:00' }, asks: false, why: 'the same in short' },
  { words: 'From time to time tidy the screenshots folder.', schedule: { interval: 'monthly', on: 'last', at: '09:00' }, asks: false, why: 'the words leave it open' },
  { words: 'In half an hour tell me to stretch.', schedule: { in: '30m' }, asks: false, why: 'the same; a single time is not often' },
  { words: 'Next to the list, remind me on 24 December at 18:00 of the presents.', schedule: { once: '2026-12-24T18:00:00+01:00' }, asks: false, why: 'the same with an offset' },
  { words: 'Every morning check for new releases.', schedule: { interval: 'daily', at: '07:30' }, asks: false, why: 'an hour of the morning' },
  { words: 'Let me know as soon as tickets are sold again.', schedule: { interval: 'hourly' }, asks: false, why: 'no time was said, and hourly is not too often' },
  { words: 'Each quarter make the VAT overview.', schedule: { interval: 'quarterly', on: '1st', at: '09:00' }, asks: false, why: 'day and hour are left open' },
  { words: 'Daily at 9, except on Sundays, send me the visits of the day before.', schedule: { interval: 'daily', at: '9am', except: 'sundays', timezone: 'N/A' }, asks: false, why: 'the same; a filler as zone is no advice' }
]

/** Requests for something to do now in which a time or a task is only mentioned: none makes a task. */
export const requestsThatOnlyMentionTimeHeld: string[] = [
  'Who is in the 9am call on monday?',
  'Give me a systemd timer that fires every 15 minutes.',
  'Delete the task that runs each night.',
  'What happened on friday at 14:00 according to server.log?',
  'How would you say "twice a week" in German?',
  'If a train leaves at 8:15 and takes 3 hours, when does it arrive?',
  'Convert 5pm in Tokyo to Berlin time.',
  'Show the commits of the last 7 days.',
  'Create a folder named every-day-notes.',
  'When does my backup task run next?',
  'Write a short story that begins "Every evening at eight".',
  'Replace "tomorrow" by "2 December" in invite.txt.',
  'Put "clean the filter every 3 months" into manual.md.',
  'Fix the test "runs daily at midnight".',
  'What is the difference between weekly and biweekly?'
]
