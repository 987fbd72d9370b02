const DAY = 24 * 60 * 60_000

/** A date as a person looks at it. */
export interface Day {
  /** Counted from 1970-01-01. */
  number: number
  /** 1 is Monday, 7 is Sunday. */
  dayOfWeek: number
  day: number
  month: number
  daysInMonth: number
  name: string
}

export function dayAt (number: number): Day {
  const date = new Date(number * DAY)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return {
    number,
    dayOfWeek: date.getUTCDay() || 7,
    day: date.getUTCDate(),
    month: month + 1,
    daysInMonth: new Date(Date.UTC(year, month + 1, 0)).getUTCDate(),
    name: date.toISOString().slice(0, 10)
  }
}

/** `first` is the first day of the rule whose time is still to come, from which every other week counts. */
export type Rule = [phrases: string[], isDay: (day: Day, first: Day) => boolean, ...times: string[]]

const every = () => true
const on = (...days: number[]) => ({ dayOfWeek }: Day) => days.includes(dayOfWeek)
const workday = on(1, 2, 3, 4, 5)
const date = (...days: number[]) => ({ day }: Day) => days.includes(day)
const isLast = ({ day, daysInMonth }: Day) => day === daysInMonth
const nth = (weekday: number, ...nths: number[]) => ({ day, dayOfWeek }: Day) => dayOfWeek === weekday && nths.includes(Math.ceil(day / 7))
const lastOf = (weekday: number) => ({ day, dayOfWeek, daysInMonth }: Day) => dayOfWeek === weekday && day + 7 > daysInMonth
const isOther = (weekday: number) => (day: Day, first: Day) => day.dayOfWeek === weekday && (day.number - first.number) % 14 === 0
const isLastWorking = (day: Day) => workday(day) && (day.dayOfWeek === 5 ? day.day + 3 : day.day + 1) > day.daysInMonth
const isYearly = (month: number, day: number) => (each: Day) => each.month === month && each.day === day
const steps = (count: number) => (day: Day, first: Day) => (day.number - first.number) % count === 0

/** Repeated times, each in several of the ways in which people write them. */
export const REPEATED: Rule[] = [
  [['daily at 9', 'every day at 9', '9am every day', 'each day at 9am', 'every day 9', 'every single day at 9:00', 'daily, 9am',
    'at nine every day',
    'Everyday at 9 a.m.', 'every 9am', 'every day at 09:00', 'every morning at 9', 'at 9 every morning', "every day at 9 o'clock",
    'daily @ 9',
    'daily', 'every morning', 'once a day at 9am', '7 days a week at 9', 'every day of the week at 9am'], every, '09:00'],
  [['every day at 2:30', '2:30am daily', 'every night at half past two', 'nightly at 2.30am', 'daily 02:30', 'every day at 02h30'],
    every, '02:30'],
  [['daily 7.30', 'every morning at 7:30', 'half past seven every morning', 'at half past 7 every day', 'seven thirty every morning'],
    every, '07:30'],
  [['every midnight', 'daily at midnight', 'at midnight every day', 'every day at 00:00', 'every night at 12', 'every day at 12am'],
    every, '00:00'],
  [['every noon', 'at noon every day', 'daily at 12 noon', 'midday every day', 'every day at 12pm', 'every day at 12:00'], every, '12:00'],
  [['every evening at 8', '8pm daily', 'every day at 8 in the evening', '8 every evening', "every evening at eight o'clock",
    'each evening at 8:00',
    'every day at 20:00', 'every night at 8'], every, '20:00'],
  [['every morning and evening', 'every morning and every evening', 'twice a day at 9am and 6pm', 'daily at 9:00 and 18:00', '9am and 6pm',
    'at 9am and 6pm every day', 'two times a day, at 9 and 18', 'twice daily at 9 and 18'], every, '09:00', '18:00'],
  [['three times a day: 7am, 1pm and 7pm', 'daily at 7, 13 and 19', 'every day at 7am, 1pm & 7pm'], every, '07:00', '13:00', '19:00'],
  [['every weekday at 8', 'weekdays 8:00', 'on weekdays at 8am', 'monday to friday at 8', 'mon-fri 8am', 'Mon – Fri at 08:00',
    'every monday through friday at 8',
    'from monday to friday at 8', 'every working day at 8', 'each business day at 8am', '8am on weekdays', 'all weekdays at eight',
    'every weekday morning at 8', 'daily at 8 on weekdays', 'every day at 8 except weekends',
    'every day except on saturdays and sundays at 8'],
  workday, '08:00'],
  [['weekends at 10', 'every weekend at 10am', 'saturdays and sundays at 10', 'on saturdays and sundays at 10:00', 'sat and sun 10:00',
    'sat/sun at 10am',
    'every saturday and sunday at 10'], on(6, 7), '10:00'],
  [['from friday to monday at 9', 'friday through monday at 9am'], on(5, 6, 7, 1), '09:00'],
  [['every monday 9am', 'mondays at 9', 'on mondays at 9am', 'weekly on monday at 9', 'every week on mondays at 9',
    'once a week on monday at 9am',
    '9:00 every monday', 'each monday, 9am', 'every mon at 9', 'monday mornings at 9', 'weekly, on mondays, at 9', 'weekly',
    'every monday of the week at 9'],
  on(1), '09:00'],
  [['every sunday at 2:15 am', 'sundays 2:15am', '2:15 every sunday'], on(7), '02:15'],
  [['every tuesday and thursday at 5pm', 'tuesdays and thursdays at 17:00', 'every tue and thu at 5 pm', 'tue, thu 17:00',
    'twice a week on tuesday and thursday at 5pm',
    'tue/thu at 5pm', 'every tuesday & thursday at five in the afternoon'], on(2, 4), '17:00'],
  [['mon, wed and fri at 6:45', 'monday, wednesday and friday 6.45am',
    'every monday, wednesday and friday at a quarter to seven in the morning',
    'three times a week on mon, wed and fri at 6:45am'], on(1, 3, 5), '06:45'],
  [['every monday and friday afternoon', 'monday and friday afternoons'], on(1, 5), '14:00'],
  [['every other friday', 'every alternate friday at 9', 'fortnightly on friday at 9am', 'biweekly on fridays at 9',
    'bi-weekly on friday at 9',
    'every other friday, 9am', 'on alternate fridays at 9'], isOther(5), '09:00'],
  [['every other sunday at 2:30', '2:30am every other sunday'], isOther(7), '02:30'],
  [['biweekly', 'every fortnight'], isOther(1), '09:00'],
  [['every 2 weeks on thursday at noon', 'every two weeks on thursday at 12:00', 'every second week on thursday at noon',
    'biweekly on thursday at noon'],
  isOther(4), '12:00'],
  [['every second day at 9', 'every 2nd day at 9am', 'every 2 days at 9', 'every other day at 9am', 'every two days at 9:00'], steps(2),
    '09:00'],
  [['every third day at 8am', 'every 3 days at 8am', 'every 3rd day at 8'], steps(3), '08:00'],
  [['first monday', 'every first monday of the month at 9', 'the first monday of every month at 9am', '1st monday of each month, 9:00',
    'on the first monday of the month at nine', 'monthly on the first monday'], nth(1, 1), '09:00'],
  [['first and third monday of the month at 8', 'every first and third monday at 8:00', 'every 1st and 3rd monday of the month at 8am'],
    nth(1, 1, 3), '08:00'],
  [['second tuesday of the month at 10am', 'the second tuesday of every month at 10', 'every 2nd tuesday of the month 10:00'],
    nth(2, 2), '10:00'],
  [['monthly on the last monday', 'last monday of every month', 'the last monday of each month at 9am',
    'every last monday of the month, 9am'], lastOf(1), '09:00'],
  [['last day of the month', 'every month on the last day', 'monthly on the last day at 9', 'on the last day of every month at 9am',
    'the last day of each month'],
  isLast, '09:00'],
  [['1st and 15th', 'on the 1st and 15th of the month at 9', 'every 1st and 15th at 9am', 'the 1st and the 15th of each month',
    'monthly on the 1st and 15th',
    'twice a month on the 1st and 15th at 9'], date(1, 15), '09:00'],
  [['on the 15th and 31st of the month at 7', 'every month on the 15th and the 31st at 7am'], (day) => day.day === 15 || isLast(day),
    '07:00'],
  [['monthly', 'every month', 'first day of the month', 'the first of every month at 9', 'on the 1st of each month at 9am',
    'monthly on the 1st', 'every 1st at 9',
    'on day 1 of each month at 9am', 'once a month', 'first day of every month, 9am'], date(1), '09:00'],
  [['every 15th 9am', 'monthly on the 15th', 'on the 15th of every month', 'the 15th of each month at 9:00',
    'every month on the 15th at 9'], date(15), '09:00'],
  [['last working day of the month', 'the last business day of every month at 9', 'on the last working day of each month'],
    isLastWorking, '09:00'],
  [['quarterly', 'every quarter', 'every quarter at 9am', 'first day of each quarter at 9', 'on the first day of every quarter at 9am'],
    ({ day, month }) => day === 1 && month % 3 === 1, '09:00'],
  [['quarterly on the 15th at 8', 'every quarter on the 15th at 8am'], ({ day, month }) => day === 15 && month % 3 === 1, '08:00'],
  [['every 24 december at 18:00', 'every december 24 at 6pm', 'every year on 24 december at 6pm', 'yearly on december 24th at 18:00',
    'every year on christmas eve at 6pm', 'annually on the 24th of december at 6 in the evening', 'every christmas eve at 6pm'],
  isYearly(12, 24), '18:00'],
  [['yearly', 'every year on january 1 at 9', "every new year's day at 9am", 'once a year', 'every 1st of january at 9'],
    isYearly(1, 1), '09:00'],
  [['daily at 9 except sundays', 'every day except sunday at 9am', 'every day but sundays at 9', 'monday to saturday at 9',
    'daily except on sundays, at 9'],
  on(1, 2, 3, 4, 5, 6), '09:00'],
  [['every weekday at 8 except mondays and 24 december'], (day) => on(2, 3, 4, 5)(day) && day.name.slice(5) !== '12-24', '08:00'],
  [['daily except on 2026-03-30, 2026-10-26 and weekends'], (day) => workday(day) && !/-(?:03-30|10-26)$/.test(day.name), '09:00'],
  [['weekdays at 9:15, 12:30 and 5:45 pm', 'weekdays 9.15am, 12.30pm and 5.45pm'], workday, '09:15', '12:30', '17:45']
]

const next = (...weekdays: number[]) => (day: Day, today: Day) => day.number >= today.number && weekdays.includes(day.dayOfWeek)
const after = (count: number) => (day: Day, today: Day) => day.number === today.number + count
/** Single times; the second argument of each is today. */
export const SINGLE: Rule[] = [
  [['tomorrow at 9', 'tomorrow 9am', '9am tomorrow', 'tomorrow', 'tomorrow morning', 'tomorrow morning at 9', 'at nine tomorrow',
    "tomorrow at 9 o'clock",
    'tmrw at 9am', 'tomorrow, 9:00'], after(1), '09:00'],
  [['tomorrow at 2:30', 'tomorrow at 2:30am'], after(1), '02:30'],
  [['tomorrow afternoon at 3', 'tomorrow at 3pm', '3pm tomorrow', 'tomorrow 15:00', 'tomorrow at 3 in the afternoon',
    'at 15:00 tomorrow'], after(1), '15:00'],
  [['the day after tomorrow at noon', 'day after tomorrow at 12pm', 'in 2 days at noon', 'in two days at 12:00',
    'two days from now at noon',
    '2 days from today at noon'], after(2), '12:00'],
  [['in a week at 10am', 'a week from today at 10', 'in 7 days at 10:00', 'one week from now at 10am', 'a week today at 10am'],
    after(7), '10:00'],
  [['in two weeks at 8pm', 'in 14 days at 20:00', 'two weeks from today at 8pm', 'in a fortnight at 8pm', "in two weeks' time at 8pm"],
    after(14), '20:00'],
  [['today at 23:45', 'tonight at 11:45', 'at quarter to midnight tonight', 'at 11:45pm today'], after(0), '23:45'],
  [['today at noon', 'at noon today', '12pm today', 'today 12:00', 'at noon'], after(0), '12:00'],
  [['this evening at 7', 'this evening at seven', 'today at 7pm', '7pm today', "this evening at 7 o'clock", 'tonight at 7pm', 'at 7pm'],
    after(0), '19:00'],
  [['this afternoon', 'today in the afternoon', 'this afternoon at 2', 'at 2pm this afternoon'], after(0), '14:00'],
  [['at midnight tonight', 'tonight at midnight'], after(1), '00:00'],
  [['on the 24th of december at 6pm', '24 december 18:00', 'december 24 at 6pm', 'christmas eve at 6pm', 'on dec 24th at 18:00',
    '24 dec, 6 in the evening',
    '2026-12-24 18:00', '2026/12/24 at 6pm', '24.12.2026 at 18:00', '24/12/2026 6pm', '12/24/2026 at 6pm',
    'thursday, december 24, 2026 at 6pm',
    'Thu 24 Dec 2026 18:00'], ({ name }) => name === '2026-12-24', '18:00']
]
/** A weekday is the next one whose time is still to come. */
export const WEEKDAYS: Rule[] = [
  [['on friday at 9', 'friday 9am', 'fri at 9', '9am on friday', 'coming friday at 9am', 'friday morning', 'friday at nine',
    'on friday'], next(5), '09:00'],
  [['on wednesday at half past two in the afternoon', 'wed 2:30pm', 'wednesday at 14:30', 'wednesday afternoon at 2:30'], next(3), '14:30']
]

/** Waits, in minutes. */
export const WAITS: Array<[phrases: string[], minutes: number]> = [
  [['in 90 minutes', 'in an hour and a half', 'in one and a half hours', 'in 1.5 hours', '90 minutes from now', 'in 1h30m',
    'in 1 hour and 30 minutes',
    'in 90 mins', 'in 90m', 'in 1 hr 30 min'], 90],
  [['in half an hour', 'in 30 minutes', 'half an hour from now', 'in thirty minutes', 'in 30 min'], 30],
  [['in 2 hours', 'in two hours', '2 hours from now', 'in 2h', 'in 120 minutes', 'in 2 hrs', 'after 2 hours'], 120],
  [['in a quarter of an hour', 'in 15 minutes', 'in fifteen minutes'], 15],
  [['in 48 hours', 'in forty-eight hours'], 48 * 60]
]

/** Times within hours of the day: whenever the clock shows them. */
export const WINDOWS: Array<[phrases: string[], isDay: (day: Day) => boolean, from: string, to: string, minutes: number]> = [
  [['every ten minutes between 9 and 17 on weekdays', 'every 10 minutes from 9am to 5pm on weekdays',
    'on weekdays between 9:00 and 17:00, every 10 min',
    'every 10 minutes between 9am and 5pm, monday to friday', 'mon-fri every 10 minutes from 9 to 17'], workday, '09:00', '17:00', 10],
  [['every 30 minutes from 0:00 to 4:00', 'every half hour between midnight and 4am', 'every 30 min between 12am and 4am'], every,
    '00:00', '04:00', 30],
  [['hourly between 8am and 8pm on saturday and sunday', 'every hour from 8 to 20 on weekends',
    'every hour between 8am and 8pm on saturdays and sundays'],
  on(6, 7), '08:00', '20:00', 60],
  [['every 25 minutes between 1:10 and 2:50 except mondays'], on(2, 3, 4, 5, 6, 7), '01:10', '02:50', 25],
  [['hourly', 'every hour', 'each hour', 'every hour on the hour', 'once an hour'], every, '00:00', '23:00', 60]
]
