import t, { type Test } from 'tap'
import { answer, asked, of, say } from '../../harness/agent.ts'
import { fakeClock } from '../../harness/clock.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import { saidAt, wordsAndSchedules, type WordsAndSchedule } from './cases/words-and-schedules-open.ts'

process.env.TZ = 'Europe/Berlin'

const PLAN = { object: { phases: [{ description: 'do it' }], qualityCriteria: [] } }

/** A service whose model answers a message with the call that it is handed for it. */
async function withCalls (t: Test) {
  let call: { toolName: string, input: object } | undefined
  const { app, gateway } = await withGateway(t, ({ body }) => {
    const isAsked = call !== undefined && body.prompt.at(-1).role === 'user'
    return isAsked ? { toolCalls: [call!] } : { text: `Result: ${JSON.stringify(body.prompt.at(-1).content)}` }
  }, { clock: fakeClock(saidAt), structured: (name) => name === 'plan' ? PLAN : {} })
  const tell = async (words: string, input: object, toolName = 'createTask', id: string = crypto.randomUUID()) => {
    call = { toolName, input }
    const { events } = await say(app, words, { id })
    call = undefined
    const [question] = of(events, 'tool-approval-request')
    const result = of(events, 'tool-output-available')[0]?.output
    return { events, id, reason: question?.reason as string | undefined, shown: of(events, 'data-task').map(({ data }) => data)[0], result }
  }
  return { app, gateway, tell, tasks: await tasksOf(t, app) }
}

t.test('createTask asks when its schedule contradicts the words of the user, or runs more often than hourly, and not else', async (t) => {
  const lists = Object.values(await import('./cases/words-and-schedules-held.ts')).filter((each) => Array.isArray(each))
  const held = lists.find(([first]) => typeof first === 'object')
  const { tell } = await withCalls(t)
  for (const [half, cases] of Object.entries({ open: wordsAndSchedules, held: held as unknown as WordsAndSchedule[] })) {
    const wrong: string[] = []
    for (const { words, schedule, asks, why } of cases) {
      const { reason, shown } = await tell(words, { goal: 'do what was said', when: schedule })
      const got = reason !== undefined ? 'asked' : shown === undefined ? 'made nothing' : 'made it'
      if (got !== (asks ? 'asked' : 'made it')) wrong.push(half === 'open' ? `${why}: ${got}, ${reason}` : `${got} instead`)
    }
    t.ok(wrong.length <= (half === 'open' ? 0 : 1), `${half}: ${wrong.length} of ${cases.length} are wrong: ${wrong.join('; ')}`)
  }
})

t.test('the question names both times, an approval makes the task, and changeTask asks likewise', async (t) => {
  const { app, tell, tasks } = await withCalls(t)
  const wrong = { goal: 'call the bank', when: { at: '2026-11-30T08:00' } }
  const { events, id, reason } = await tell('Tomorrow at 8pm, remind me to call the bank', wrong)
  t.match(reason, /It would run .*30 November 2026.* 08:00.*but the words are "at 8pm"/i)
  const { events: after } = await answer(app, { [asked(events)[0]]: true }, { id })
  const [{ data: { taskId } }] = of(after, 'data-task')
  t.match(await tasks.get(`/${taskId}`), { status: 'scheduled', nextRunAt: Date.UTC(2026, 10, 30, 7) })

  const change = (words: string, when: object) => tell(words, { taskId, when }, 'changeTask', id)
  t.match((await change('Make it tuesday at noon', { at: '2026-12-02T12:00' })).reason, /but the words are "tuesday"/)
  t.equal((await tasks.get(`/${taskId}`)).nextRunAt, Date.UTC(2026, 10, 30, 7))
  t.match((await change('Make it tuesday at noon', { at: '2026-12-01T12:00' })).shown, { nextRunAt: Date.UTC(2026, 11, 1, 11) })
})

t.test('an hour counts before any work, and in a list, and numbers of things are no hours', async (t) => {
  const { tell } = await withCalls(t)
  const daily = { goal: 'list the files', when: { every: 'daily at 17' } }
  t.match((await tell('Every day at 9 list the files', daily)).reason, /but the words are "at 9"/)
  for (const words of ['Every day at 17 list the files', 'At 9 and 17 list the files', 'Every day, look at 5 places']) {
    const when = { every: words.startsWith('At') ? 'daily at 9:00 and 17:00' : 'daily at 17' }
    t.match(await tell(words, { ...daily, when }), { reason: undefined, shown: { goal: 'list the files' } }, words)
  }
})

t.test('words of other languages, quoted words and long messages raise no question', async (t) => {
  const { tell } = await withCalls(t)
  const weekly = { goal: 'look', when: { every: 'every monday at 9' } }
  for (
    const words of ['Jeden Dienstag um 17:00 nachsehen', 'Chaque mardi à 17:00, regarde', 'cada martes a las 5 pm', '毎週火曜日の17:00に見て',
      'Look at it again. The sign says "every tuesday at 17:00"', `Look. ${'every tuesday at 5pm '.repeat(300)}`]
  ) t.match(await tell(words, weekly), { reason: undefined, shown: { words: 'every Monday at 09:00' } }, words.slice(0, 50))
})

t.test('times are read as models write them: beside the goal, as a text, with Z, an offset or a filler', async (t) => {
  const { tell } = await withCalls(t)
  const goal = 'look at the door'
  const [moment, daily] = [{ next: [Date.UTC(2026, 10, 30, 14)] }, { words: 'every day at 09:00', zone: 'Europe/Berlin' }]
  const rows: Array<[input: object, shown: object]> = [
    [{ when: { at: '2026-11-30T14:00:00Z' } }, moment],
    [{ when: { at: '2026-11-30T15:00:00+01:00', zone: 'N/A' } }, moment],
    [{ when: { at: '2026-11-30T15:00:00.000', every: 'none' } }, moment],
    [{ at: '2026-11-30 15:00' }, moment],
    [{ when: 'tomorrow at 15:00' }, moment],
    [{ when: '2026-11-30T14:00:00.000Z' }, moment],
    [{ every: 'daily at 9' }, daily],
    [{ when: 'every day at 9', zone: 'local time' }, daily],
    [{ schedule: { interval: 'daily', at: '09:00', timezone: 'unknown' } }, daily],
    [{ when: { every: 'daily', at: '9am', zone: '<timezone>' } }, daily],
    [{ when: { cron: '0 9 * * *' } }, { zone: 'Europe/Berlin' }],
    [{ when: { every: 'N/A', at: 'now' } }, { status: 'running' }]
  ]
  for (const [input, shown] of rows) {
    const made = await tell('Look at the door for me', { goal, ...input })
    t.match(made.shown, { goal, ...shown }, `${JSON.stringify(input)} ${JSON.stringify(made.result ?? made.events.at(-1))}`)
  }
})

t.test('a task keeps the message of its user as it was, and its runs are told the message and the goal', async (t) => {
  const { app, gateway, tell, tasks } = await withCalls(t)
  const words = 'Every monday at 9, look whether Łukasz’s folder  is ok.\nNever touch "secret/".'
  const { id, shown: { taskId } } = await tell(words, { goal: 'check the folder', when: { every: 'every monday at 9' } })
  t.match(await tasks.get(`/${taskId}`), { goal: 'check the folder', request: words })
  const events = await tasks.watch()
  const runOf = async () => {
    const since = gateway.requests.length
    await tasks.post(`/${taskId}/run`)
    await events.until('task:complete', { taskId })
    return JSON.stringify(gateway.requests[since].body.prompt)
  }
  const whole = (text: string) => JSON.stringify(text).slice(1, -1)
  const first = await runOf()
  for (const text of ['check the folder', words]) t.ok(first.includes(whole(text)), text)

  const more = 'Look into the sub folders, too, but not into old/'
  await tell(more, { taskId, goal: 'check the folder and its sub folders' }, 'changeTask', id)
  const second = await runOf()
  for (const text of ['its sub folders', words, more]) t.ok(second.includes(whole(text)), text)

  await tasks.call('PUT', `/${taskId}`, { goal: 'count the files' })
  t.equal((await tasks.get(`/${taskId}`)).request, undefined, 'what a person types as the goal stands alone')
  t.notOk((await runOf()).includes(whole(more)))
  t.equal((await app.inject('/health')).statusCode, 200)
})
