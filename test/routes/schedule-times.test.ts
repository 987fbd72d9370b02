import t from 'tap'
import { DAY, HOUR, MINUTE, scheduling, SECOND } from '../harness/schedules.ts'

/** Monday, 09:00 UTC. */
const NOW = Date.UTC(2026, 0, 5, 9)
const jan = (day: number, hour = 0, minute = 0) => Date.UTC(2026, 0, day, hour, minute)

const SCHEDULES: Array<[object, number[]]> = [
  [{ interval: 'hourly' }, [jan(5, 10), jan(5, 11)]],
  [{ interval: 'daily' }, [jan(6, 9), jan(7, 9)]],
  [{ interval: 'daily', at: '5:30 pm' }, [jan(5, 17, 30), jan(6, 17, 30)]],
  [{ interval: 'daily', at: '09:00', timezone: 'America/New_York' }, [jan(5, 14), jan(6, 14)]],
  [{ interval: 'weekdays', startAt: jan(9, 9) }, [jan(9, 9), jan(12, 9)]],
  [{ interval: 'weekly', on: ['tue', 'friday'], at: 'noon' }, [jan(6, 12), jan(9, 12)]],
  [{ interval: 'monthly', on: 'last', at: '23:00' }, [jan(31, 23), Date.UTC(2026, 1, 28, 23)]],
  [{ interval: 'every monday and friday at 9am' }, [jan(9, 9), jan(12, 9)]],
  [{ interval: '30m' }, [NOW + 30 * MINUTE, NOW + 60 * MINUTE]],
  [{ interval: '90s' }, [NOW + 90 * SECOND, NOW + 180 * SECOND]],
  [{ interval: 'every 6 hours' }, [NOW + 6 * HOUR, NOW + 12 * HOUR]],
  [{ interval: 'PT15M', startAt: NOW + HOUR }, [NOW + HOUR, NOW + HOUR + 15 * MINUTE]],
  [{ interval: 'P1D' }, [NOW + DAY, NOW + 2 * DAY]],
  [{ interval: '2 days', at: '08:00' }, [jan(6, 8), jan(8, 8)]],
  [{ interval: '0 9 * * 1-5' }, [jan(6, 9), jan(7, 9)]],
  [{ interval: '*/20 * * * *', timezone: 'Asia/Kolkata' }, [NOW + 10 * MINUTE, NOW + 30 * MINUTE]],
  [{ interval: '@weekly', maxRuns: 1 }, [jan(11)]]
]

t.test('words, durations, ISO 8601 and cron lines plan what they say, in their time zone', async (t) => {
  const { tasks, start, schedule } = await scheduling(t)
  for (const [given, times] of SCHEDULES) {
    const task = await start('system info', given)
    t.match(task, { status: 'scheduled', nextRunAt: times[0] }, JSON.stringify(given))
    t.same((await schedule(task.id, '?upcoming=2')).upcoming, times)
    await tasks.call('DELETE', `/${task.id}`)
  }
})

t.test('what was foretold is what comes, one run each, and after maxRuns the task is completed', async (t) => {
  const { tasks, events, start, schedule, to, slots } = await scheduling(t)
  const { id } = await start('system info', { interval: '2h', maxRuns: 2 })
  const { upcoming } = await schedule(id)
  t.equal(upcoming.length, 2)
  for (const [n, at] of upcoming.entries()) {
    await to(at)
    t.match(await events.until('task:start'), { runNumber: n + 1, startedAt: at })
    await events.until('task:complete')
  }

  t.match(await tasks.get(`/${id}`), { status: 'completed', totalRuns: 2, nextRunAt: undefined })
  t.match(await tasks.runs(id), [{ trigger: 'schedule' }, { trigger: 'schedule' }])
  t.match(await slots(id, 2), upcoming.map((at: number) => ({ at, fate: 'run', runId: String, settledAt: at })))
})

t.test('what cannot be read is refused with what can, by creating and by changing', async (t) => {
  const { tasks, start } = await scheduling(t)
  const { id } = await start('system info', { interval: 'daily' })
  const refusals: Array<[object, RegExp]> = [
    [{ interval: 'sometimes' }, /"sometimes" cannot be read\. Write a word \(hourly, .*a duration \("30m".*a cron line/],
    [{ interval: '61 * * * *' }, /cron|cannot be read/],
    [{ interval: '0 0 31 2 *' }, /never/],
    [{ interval: '500ms' }, /second|cannot be read/],
    [{ interval: 'daily', timezone: 'Mars/Olympus' }, /"Mars\/Olympus" is not known: give an IANA name/],
    [{ interval: 'daily', at: '25:00' }, /at/],
    [{ interval: 'weekly', on: 'someday' }, /on/],
    [{ interval: '5m', at: '09:00' }, /cannot also be at a time of day/],
    [{ interval: 'daily', startAt: NOW + 11 * 366 * DAY }, /startAt.*ten years/],
    [{ interval: 'daily', maxRuns: 0 }, /maxRuns/],
    [{ interval: 'daily', graceMs: -1 }, /graceMs/],
    [{ interval: 'daily', missed: 'run_all' }, /missed/],
    [{ at: '09:00' }, /interval/]
  ]
  for (const [schedule, sentence] of refusals) {
    for (
      const { status, body } of [
        await tasks.call('POST', '', { goal: 'x', taskType: 'recurring', schedule }),
        await tasks.call('PUT', `/${id}`, { schedule })
      ]
    ) {
      t.equal(status, 400, JSON.stringify(schedule))
      t.match(body.error, sentence)
    }
  }
  t.match(await tasks.get(`/${id}`), { schedule: { interval: 'daily' }, nextRunAt: NOW + DAY }, 'the schedule stays as it was')
})
