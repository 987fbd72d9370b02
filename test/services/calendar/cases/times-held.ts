/** When: one moment, the first four of many, or a question back. All local, `YYYY-MM-DD HH:MM` in Europe/Berlin. */
export type Expected = { once: string } | { every: string } | 'refused'

/** What people write for when a task shall run, said on Wednesday 2026-03-18 at 10:00 in Europe/Berlin. */
export const PHRASES: Array<[phrase: string, expected: Expected]> = [
  /** Once, so much later. */
  ['an hour from now', { once: '2026-03-18 11:00' }],
  ['in two and a half hours', { once: '2026-03-18 12:30' }],
  ['in 10 mins', { once: '2026-03-18 10:10' }],
  ['in three quarters of an hour', { once: '2026-03-18 10:45' }],
  ['in 1h 15m', { once: '2026-03-18 11:15' }],
  ['in 100 minutes', { once: '2026-03-18 11:40' }],
  ['in 120 seconds', { once: '2026-03-18 10:02' }],
  ['6 hours from now', { once: '2026-03-18 16:00' }],
  ['in five days at 8:20', { once: '2026-03-23 08:20' }],
  ['three weeks from today at 4pm', { once: '2026-04-08 16:00' }],
  ['in a week at half past nine in the morning', { once: '2026-03-25 09:30' }],
  ['two days from now at midday', { once: '2026-03-20 12:00' }],
  /** Once, on a day that is told from today. */
  ['tomorrow, 17:05', { once: '2026-03-19 17:05' }],
  ['tmrw 8am', { once: '2026-03-19 08:00' }],
  ['tomorrow evening at 8', { once: '2026-03-19 20:00' }],
  ['day after tomorrow 6:30 am', { once: '2026-03-20 06:30' }],
  ['tonight at ten to ten', { once: '2026-03-18 21:50' }],
  ['this afternoon at 3', { once: '2026-03-18 15:00' }],
  ['later today, at 18.20', { once: '2026-03-18 18:20' }],
  ['at a quarter to twelve this morning', { once: '2026-03-18 11:45' }],
  ['next monday 7am', { once: '2026-03-23 07:00' }],
  ['coming sunday at 9pm', { once: '2026-03-22 21:00' }],
  ['thursday, 10 past 8 in the morning', { once: '2026-03-19 08:10' }],
  ['Sat 13:00', { once: '2026-03-21 13:00' }],
  ['wednesday next week at 11:00', { once: '2026-03-25 11:00' }],
  ['5pm today', { once: '2026-03-18 17:00' }],
  ['the first of next month at 10am', { once: '2026-04-01 10:00' }],
  /** Once, on a date. */
  ['May 9th, 8.15pm', { once: '2026-05-09 20:15' }],
  ['the 25th of this month at 14:00', { once: '2026-03-25 14:00' }],
  ['2026-12-01 at 23:30', { once: '2026-12-01 23:30' }],
  ['15.08.2026 07:45', { once: '2026-08-15 07:45' }],
  ['friday 3 april, noon', { once: '2026-04-03 12:00' }],
  ["on new year's eve at 11pm", { once: '2026-12-31 23:00' }],
  ['29 february 2028 at 9am', { once: '2028-02-29 09:00' }],
  ['on march 29th at 1:30 am', { once: '2026-03-29 01:30' }],
  ['20 Mar 2026, 16:00', { once: '2026-03-20 16:00' }],
  ['July 1 at twelve noon', { once: '2026-07-01 12:00' }],
  /** Once, by the clocks of another place. */
  ['today 18:00 London time', { once: '2026-03-18 19:00' }],
  ['tomorrow at 5pm in Tokyo', { once: '2026-03-19 09:00' }],
  ['2026-03-31T09:00:00+05:30', { once: '2026-03-31 05:30' }],
  /** Again and again, by the day of the week. */
  ['tuesdays at 7pm', { every: '2026-03-24 19:00, 2026-03-31 19:00, 2026-04-07 19:00, 2026-04-14 19:00' }],
  ['every day at quarter past eight in the morning', { every: '2026-03-19 08:15, 2026-03-20 08:15, 2026-03-21 08:15, 2026-03-22 08:15' }],
  ['each day, 22:40', { every: '2026-03-18 22:40, 2026-03-19 22:40, 2026-03-20 22:40, 2026-03-21 22:40' }],
  ['on workdays at 9.15', { every: '2026-03-19 09:15, 2026-03-20 09:15, 2026-03-23 09:15, 2026-03-24 09:15' }],
  ['every sunday evening at 6', { every: '2026-03-22 18:00, 2026-03-29 18:00, 2026-04-05 18:00, 2026-04-12 18:00' }],
  ['wed + sat 12:30', { every: '2026-03-18 12:30, 2026-03-21 12:30, 2026-03-25 12:30, 2026-03-28 12:30' }],
  ['mondays, tuesdays and fridays at 8am', { every: '2026-03-20 08:00, 2026-03-23 08:00, 2026-03-24 08:00, 2026-03-27 08:00' }],
  ['mon-fri 18:00', { every: '2026-03-18 18:00, 2026-03-19 18:00, 2026-03-20 18:00, 2026-03-23 18:00' }],
  ['every weekend, saturday and sunday, at 9am', { every: '2026-03-21 09:00, 2026-03-22 09:00, 2026-03-28 09:00, 2026-03-29 09:00' }],
  ['11 every night', { every: '2026-03-18 23:00, 2026-03-19 23:00, 2026-03-20 23:00, 2026-03-21 23:00' }],
  ['at noon every day', { every: '2026-03-18 12:00, 2026-03-19 12:00, 2026-03-20 12:00, 2026-03-21 12:00' }],
  ['every midnight', { every: '2026-03-19 00:00, 2026-03-20 00:00, 2026-03-21 00:00, 2026-03-22 00:00' }],
  ['daily, ten past five in the afternoon', { every: '2026-03-18 17:10, 2026-03-19 17:10, 2026-03-20 17:10, 2026-03-21 17:10' }],
  ['once a day at 6am', { every: '2026-03-19 06:00, 2026-03-20 06:00, 2026-03-21 06:00, 2026-03-22 06:00' }],
  ['everyday 7 a.m.', { every: '2026-03-19 07:00, 2026-03-20 07:00, 2026-03-21 07:00, 2026-03-22 07:00' }],
  ['weekly on wednesdays at 16:30', { every: '2026-03-18 16:30, 2026-03-25 16:30, 2026-04-01 16:30, 2026-04-08 16:30' }],
  ['every day but saturday at 20:00', { every: '2026-03-18 20:00, 2026-03-19 20:00, 2026-03-20 20:00, 2026-03-22 20:00' }],
  ['tuesday through saturday at 10:10', { every: '2026-03-18 10:10, 2026-03-19 10:10, 2026-03-20 10:10, 2026-03-21 10:10' }],
  ['every thursday, half past one pm', { every: '2026-03-19 13:30, 2026-03-26 13:30, 2026-04-02 13:30, 2026-04-09 13:30' }],
  ['at 9am and 1pm on weekdays', { every: '2026-03-18 13:00, 2026-03-19 09:00, 2026-03-19 13:00, 2026-03-20 09:00' }],
  ['mornings at 7 and evenings at 7', { every: '2026-03-18 19:00, 2026-03-19 07:00, 2026-03-19 19:00, 2026-03-20 07:00' }],
  ['every friday at 8am, noon and 5pm', { every: '2026-03-20 08:00, 2026-03-20 12:00, 2026-03-20 17:00, 2026-03-27 08:00' }],
  /** Again and again, with steps. */
  ['every 10 minutes', { every: '2026-03-18 10:10, 2026-03-18 10:20, 2026-03-18 10:30, 2026-03-18 10:40' }],
  ['hourly', { every: '2026-03-18 11:00, 2026-03-18 12:00, 2026-03-18 13:00, 2026-03-18 14:00' }],
  ['every quarter of an hour', { every: '2026-03-18 10:15, 2026-03-18 10:30, 2026-03-18 10:45, 2026-03-18 11:00' }],
  ['every hour at ten past', { every: '2026-03-18 10:10, 2026-03-18 11:10, 2026-03-18 12:10, 2026-03-18 13:10' }],
  ['every 90 minutes from now on', { every: '2026-03-18 11:30, 2026-03-18 13:00, 2026-03-18 14:30, 2026-03-18 16:00' }],
  ['every hour from 8 to 12 on saturdays', { every: '2026-03-21 08:00, 2026-03-21 09:00, 2026-03-21 10:00, 2026-03-21 11:00' }],
  ['every other monday at 10am, the first one next monday', {
    every: '2026-03-23 10:00, 2026-04-06 10:00, 2026-04-20 10:00, 2026-05-04 10:00'
  }],
  ['every second day at 7am starting tomorrow', { every: '2026-03-19 07:00, 2026-03-21 07:00, 2026-03-23 07:00, 2026-03-25 07:00' }],
  ['every three weeks on thursday at 14:00, beginning tomorrow', {
    every: '2026-03-19 14:00, 2026-04-09 14:00, 2026-04-30 14:00, 2026-05-21 14:00'
  }],
  /** Again and again, by the month and the year. */
  ['the 10th of every month, 8:30', { every: '2026-04-10 08:30, 2026-05-10 08:30, 2026-06-10 08:30, 2026-07-10 08:30' }],
  ['first sunday of each month at 11am', { every: '2026-04-05 11:00, 2026-05-03 11:00, 2026-06-07 11:00, 2026-07-05 11:00' }],
  ['second and fourth wednesday of the month at 15:00', {
    every: '2026-03-25 15:00, 2026-04-08 15:00, 2026-04-22 15:00, 2026-05-13 15:00'
  }],
  ['every month on the last monday at 9am', { every: '2026-03-30 09:00, 2026-04-27 09:00, 2026-05-25 09:00, 2026-06-29 09:00' }],
  ['at month end, on the last day, at 23:00', { every: '2026-03-31 23:00, 2026-04-30 23:00, 2026-05-31 23:00, 2026-06-30 23:00' }],
  ['on the 5th, 15th and 25th of each month at noon', { every: '2026-03-25 12:00, 2026-04-05 12:00, 2026-04-15 12:00, 2026-04-25 12:00' }],
  ['the last working day of every month at 16:00', { every: '2026-03-31 16:00, 2026-04-30 16:00, 2026-05-29 16:00, 2026-06-30 16:00' }],
  ['every 7 july at 8am', { every: '2026-07-07 08:00, 2027-07-07 08:00, 2028-07-07 08:00, 2029-07-07 08:00' }],
  ['yearly on 1 october at 18:30', { every: '2026-10-01 18:30, 2027-10-01 18:30, 2028-10-01 18:30, 2029-10-01 18:30' }],
  ['on the 1st of january and the 1st of july at 9am each year', {
    every: '2026-07-01 09:00, 2027-01-01 09:00, 2027-07-01 09:00, 2028-01-01 09:00'
  }],
  ['each month on the 28th at 6:45 am', { every: '2026-03-28 06:45, 2026-04-28 06:45, 2026-05-28 06:45, 2026-06-28 06:45' }],
  /** Again and again, by the clocks of another place. */
  ['daily at 06:00 UTC', { every: '2026-03-19 07:00, 2026-03-20 07:00, 2026-03-21 07:00, 2026-03-22 07:00' }],
  ['every saturday 20:00 UTC', { every: '2026-03-21 21:00, 2026-03-28 21:00, 2026-04-04 22:00, 2026-04-11 22:00' }],
  ['mondays at 10am London time', { every: '2026-03-23 11:00, 2026-03-30 11:00, 2026-04-06 11:00, 2026-04-13 11:00' }],
  /** Vague, impossible, past or at odds with itself. */
  ['later', 'refused'],
  ['from time to time', 'refused'],
  ['as often as you like', 'refused'],
  ['one of these days', 'refused'],
  ['three times a week', 'refused'],
  ['on 31 june at 10am', 'refused'],
  ['29 february 2027 at 8am', 'refused'],
  ['at 9:75', 'refused'],
  ['last friday at noon', 'refused'],
  ['weekdays, only on sundays, at 9am', 'refused'],
  ['on friday 20 april 2026 at 3pm', 'refused'],
  ['every minus 5 minutes', 'refused'],
  ['on the 0th of every month at 8am', 'refused'],
  ['tomorrow at 13 am', 'refused'],
  ['when the weather is better', 'refused']
]
