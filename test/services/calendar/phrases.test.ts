import t from 'tap'
import { upcoming } from '../../../services/calendar/due.ts'
import { readText } from '../../../services/calendar/read-schedule.ts'
import { PHRASES as heldPhrases } from './cases/times-held.ts'
import { PHRASES, type Expected } from './cases/times-open.ts'

const NOW = Date.parse('2026-03-18T10:00:00+01:00')
const timezone = 'Europe/Berlin'

const timesOf = (expected: Expected) => expected === 'refused' ? undefined : 'once' in expected ? expected.once : expected.every

/** Returns the first times as the cases have them; undefined for what is refused, with a sentence. */
async function read (phrase: string): Promise<string | undefined> {
  const found = await readText(phrase, { timezone, now: NOW }).catch((error) => {
    if (error.code !== 'ERR_BAD_SCHEDULE' || error.message.length < 30) throw error
  })
  if (found === undefined) return undefined
  return upcoming(found.plan, NOW, 4).map((at) => new Date(at).toLocaleString('sv', { timeZone: timezone }).slice(0, 16)).join(', ')
}

for (const [half, phrases, mostUnread] of [['seen', PHRASES, 0], ['unseen', heldPhrases, 8]] as const) {
  t.test(`of ${phrases.length} times as people write them (${half}) none is misread, and few are not read`, async (t) => {
    const unread: string[] = []
    for (const [phrase, expected] of phrases) {
      const found = await read(phrase)
      if (found === undefined && expected !== 'refused') unread.push(phrase)
      else t.equal(found, timesOf(expected), phrase)
    }
    t.ok(unread.length <= mostUnread, `${unread.length} are not read`)
  })
}

t.test('a day ahead, a zone, a first run and words for an hour are read; spans and what is over are refused', async (t) => {
  const rows: Array<[phrase: string, times: string | undefined]> = [
    ['wed, april 1, 2026 at 9:00 am', '2026-04-01 09:00'],
    ['wed, april 2, 2026 at 9:00 am', undefined],
    ['a week on friday at 9am', '2026-03-27 09:00'],
    ['at five minutes to nine tomorrow', '2026-03-19 08:55'],
    ['9 to 5 on weekdays', undefined],
    ['last tuesday at 9am', undefined],
    ['9am EST daily', undefined],
    ['9:00 Asia/Tokyo daily', '2026-03-19 01:00, 2026-03-20 01:00, 2026-03-21 01:00, 2026-03-22 01:00'],
    ['starting monday, every day at 9am', '2026-03-23 09:00, 2026-03-24 09:00, 2026-03-25 09:00, 2026-03-26 09:00']
  ]
  for (const [phrase, times] of rows) t.equal(await read(phrase), times, phrase)
  const refusals: Array<[phrase: string, sentence: RegExp]> = [
    ['every 2 hours from 8am', /write "every 2 hours from 8am tomorrow", or with its end, as in "every 2 hours between 8am and 6pm"/],
    ['every 2 hours from 8am on weekdays', /write "every 2 hours from 8am tomorrow"/],
    ['every hour from 8', /write "every hour from 8:00 tomorrow"/],
    ['daily from 8am', /or "daily at 8am"/],
    ['every monday from 2 march', /with its year/]
  ]
  for (const [phrase, message] of refusals) await t.rejects(readText(phrase, { timezone, now: NOW }), { message }, phrase)
  t.match(await read('every 2 hours from 11am'), /^2026-03-18 11:00, 2026-03-18 13:00/)
  await t.rejects(readText('9am EST daily', { timezone, now: NOW }), { message: /"EST" may be several time zones/ })
})
