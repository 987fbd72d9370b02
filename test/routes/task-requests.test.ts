import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { sloppyAnswersHeld as heldAnswers } from '../services/models/cases/sloppy-answers-held.ts'
import { sloppyAnswers } from '../services/models/cases/sloppy-answers-open.ts'
import { requestsThatOnlyMentionTimeHeld as heldMentions } from '../services/tasks/cases/words-and-schedules-held.ts'
import { requestsThatOnlyMentionTime } from '../services/tasks/cases/words-and-schedules-open.ts'

/** A Monday. */
const NOW = Date.UTC(2026, 0, 5, 12)
const WEEKDAYS = {
  en: 'Every weekday at 9, check this folder',
  de: 'Prüfe jeden Werktag um 9 diesen Ordner',
  es: 'Revisa esta carpeta cada día laborable a las 9',
  ja: '平日の9時にこのフォルダを確認して'
}
const making: Plan = { toolCalls: [{ toolName: 'createTask', input: { goal: 'check this folder', when: { every: 'weekdays at 9' } } }] }

/** A service whose analysis answers with a text, and whose model makes the first call and then answers. */
async function withAnswer (t: Test, analysis: (request: string) => string, first?: Plan) {
  const { app, gateway } = await withGateway(t, ({ body }) => {
    const isFirst = body.prompt.at(-1).role === 'user'
    return first !== undefined && isFirst ? first : { text: 'Here you are.' }
  }, {
    clock: fakeClock(NOW),
    config: { analysis: true },
    structured: (name, { body }) => name === 'analysis' ? { structuredText: analysis(body.prompt.at(-1).content.at(-1).text) } : {}
  })
  return { app, tasks: await tasksOf(t, app), steps: () => gateway.requests.filter(({ structured }) => structured === undefined) }
}
const noticesOf = (events: any[]) => of(events, 'data-notice').map(({ data }) => data)
const quoting = (words: string) => JSON.stringify({ complexity: 'long_running', timeWords: words, thinking: '' })

const ANALYSES: Record<string, (request: string) => string> = {
  nothing: () => '',
  filler: () => '{"complexity":"N/A","timeWords":"N/A","thinking":"N/A"}',
  'the whole request': quoting,
  'another time': () => quoting('every day at 5pm'),
  'the older shape': () => '{"complexity":"long_running","goal":"x","when":{"at":"N/A","every":"hourly","zone":"","text":""}}'
}

t.test('work at a time becomes one task at the right time, in any language and whatever the analysis says', async (t) => {
  for (const [name, analysis] of Object.entries(ANALYSES)) {
    await t.test(name, async (t) => {
      const { app, tasks } = await withAnswer(t, analysis, making)
      for (const [language, words] of Object.entries(WEEKDAYS)) {
        const { events } = await say(app, words, { id: language })
        t.match(of(events, 'data-task').map(({ data }) => data), [{ words: 'Monday to Friday at 09:00', status: 'scheduled' }], words)
        t.same(noticesOf(events), [], words)
      }
      t.equal((await tasks.get('')).tasks.length, Object.keys(WEEKDAYS).length)
    })
  }
})

t.test('a model that only answers makes no task; in English a notice offers the schedule, in other languages none does', async (t) => {
  for (const [name, analysis] of Object.entries(ANALYSES)) {
    await t.test(name, async (t) => {
      const { app, tasks } = await withAnswer(t, analysis)
      for (const [language, words] of Object.entries(WEEKDAYS)) {
        const { events } = await say(app, words)
        t.equal(textOf(events), 'Here you are.')
        const isOffered = language === 'en' && name === 'the whole request'
        const task = { goal: 'check this folder', words: 'Monday to Friday at 09:00', next: Array }
        t.match(noticesOf(events), isOffered ? [{ code: 'no-task', task }] : [], `${name}: ${words}`)
        t.equal(noticesOf(events).length, isOffered ? 1 : 0)
      }
      t.same((await tasks.get('')).tasks, [])
    })
  }
})

t.test('the schedule of the notice is what POST /tasks takes', async (t) => {
  const { app, tasks } = await withAnswer(t, quoting)
  const [{ task: { goal, schedule, words } }] = noticesOf((await say(app, WEEKDAYS.en)).events)
  t.match(await tasks.post('', { goal, schedule }), { status: 'planned', scheduleWords: words })
})

for (const [half, requests] of Object.entries({ open: requestsThatOnlyMentionTime, held: heldMentions })) {
  t.test(`a request that only mentions a time is answered, with all tools, without a task and a notice (${half})`, async (t) => {
    const { app, tasks, steps } = await withAnswer(t, quoting)
    await say(app, 'hello')
    const tools = steps()[0].body.tools
    const wrong: unknown[] = []
    for (const request of requests) {
      const { events } = await say(app, request)
      const isSame = JSON.stringify(steps().at(-1)!.body.tools) === JSON.stringify(tools)
      const isRight = textOf(events) === 'Here you are.' && isSame && noticesOf(events).length === 0
      if (!isRight) wrong.push(half === 'open' ? request : 'one of them')
    }
    t.same(wrong, [])
    t.ok(requests.length >= 10)
    t.same((await tasks.get('')).tasks, [])
  })
}

for (const [half, answers] of Object.entries({ open: sloppyAnswers, held: heldAnswers })) {
  t.test(`no answer to the analysis takes anything from a run (${half})`, async (t) => {
    const cases = answers.filter(({ call }) => call === 'analysis')
    let answer = ''
    const looking: Plan = { text: 'I look. ', toolCalls: [{ toolName: 'systemInfo', input: {} }] }
    const { app, tasks, steps } = await withAnswer(t, () => answer, looking)
    await app.config.update((config) => ({ ...config, analysis: false }))
    const without = await say(app, 'What is in this folder?')
    const tools = steps()[0].body.tools
    await app.config.update((config) => ({ ...config, analysis: true }))
    const wrong: string[] = []
    for (const { answer: sloppy, note, request = 'What is in this folder?' } of cases) {
      answer = sloppy
      const { events } = await say(app, request)
      const prompt = JSON.stringify(steps().at(-1)!.body.prompt)
      const isWhole = textOf(events) === textOf(without.events) && of(events, 'tool-output-available').length === 1 &&
        JSON.stringify(steps().at(-1)!.body.tools) === JSON.stringify(tools) && prompt.includes(JSON.stringify(request).slice(1, -1))
      if (!isWhole) wrong.push(half === 'open' ? note : 'one of them')
    }
    t.same(wrong, [])
    t.ok(cases.length > 10, `${cases.length} answers`)
    t.same((await tasks.get('')).tasks, [])
  })
}
