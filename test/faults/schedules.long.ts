import { spawnSync } from 'node:child_process'
import t from 'tap'
import { segmentAt } from '../../services/calendar/zone.ts'
import { cases, ZONES } from '../services/calendar/cases.ts'
import { compareZone } from '../services/calendar/compare.ts'
import { live } from '../services/calendar/simulation.ts'

const DAY = 86_400_000

for (const [zone, [timezone, [first]]] of Object.entries(ZONES).entries()) {
  t.test(`ten years in ${timezone} are as Temporal and croner have them, in both directions and counted`, async (t) => {
    const { compared, differences } = await compareZone(timezone, { whole: true })

    t.equal(compared, cases(first).length)
    t.same(differences, [])
  })

  t.test(`ten years of sleeps, restarts and steps of the clock in ${timezone} leave every time with one fate`, async (t) => {
    // A third of the kinds: the oracles are slow.
    for (const kind of cases(first).filter((_, i) => i % 3 === zone % 3)) {
      const from = Date.UTC(first, 2, 1)
      t.same(await live(kind, timezone, from, from + 9.8 * 365 * DAY, 1_000 + zone), [])
    }
  })
}

t.test('the clocks of every zone are changed when the runtime says, looked at every day for sixty years', async (t) => {
  for (const timezone of Intl.supportedValuesOf('timeZone')) {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, timeZoneName: 'longOffset' })
    const wrong: string[] = []
    for (let time = Date.UTC(1975, 0, 1, 12); time < Date.UTC(2035, 0, 1); time += DAY) {
      const [, sign, hours, minutes, seconds] = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?/.exec(format.format(time))!
      const offset = sign === undefined
        ? 0
        : Number(`${sign}1`) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds ?? 0)) * 1_000
      if (segmentAt(timezone, time).offset !== offset) wrong.push(new Date(time).toISOString())
    }
    t.same(wrong.slice(0, 3), [], timezone)
  }
})

t.test('a machine whose zone is Apia, where a day was left out, plans the same', (t) => {
  const { stdout } = spawnSync(process.execPath, [
    '--input-type=module',
    '-e',
    `
    const { parseSchedule } = await import(${
      JSON.stringify(new URL('../../services/calendar/parse-schedule.ts', import.meta.url).href)
    })
    const { upcoming } = await import(${JSON.stringify(new URL('../../services/calendar/due.ts', import.meta.url).href)})
    const now = Date.UTC(2011, 11, 29)
    console.log(upcoming(await parseSchedule({ interval: 'daily', timezone: 'Europe/Berlin' }, { timezone: 'UTC', now }), now, 3).join())`
  ], { env: { ...process.env, TZ: 'Pacific/Apia' }, encoding: 'utf8' })

  t.equal(stdout.trim(), [0, 1, 2].map((day) => Date.UTC(2011, 11, 29 + day, 8)).join())
  t.end()
})
