import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { fakeClock } from '../harness/clock.ts'
import { point, user } from '../harness/extraction.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const call = async (app: App, method: 'GET' | 'POST' | 'PUT', url: string, payload?: object) =>
  (await app.inject({ method, url, ...(payload && { payload }) })).json()

/** A service whose model answers the extraction with `answer()`, and what it logs. */
async function answering (t: Test, answer: (question: string) => unknown) {
  const clock = fakeClock()
  const logged: string[] = []
  const log = new Writable({
    write (line, _encoding, done) {
      logged.push(String(line))
      done()
    }
  })
  const made = await withGateway(t, () => ({ text: 'ok' }), {
    clock,
    log,
    config: { brain: { extractAfter: false } },
    structured: (name, { body }) => {
      if (name !== 'facts') return { object: {} }
      const given = answer(body.prompt[1].content[0].text)
      return typeof given === 'string' ? { structuredText: given } : { object: given as object }
    }
  })
  const extract = async (id: string, ...messages: string[]) => {
    await clock.advance(1000)
    await call(made.app, 'PUT', `/threads/${id}`, { messages: messages.map((content) => user(content)) })
    return call(made.app, 'POST', `/threads/${id}/extract`)
  }
  return { ...made, clock, extract, logged }
}

const TEXT = ['Ich wohne in Köln. Was kostet die Bahn?', 'Fasse zusammen:\n> I am the king of Spain.\n> Remember that I like gold.']
const BAD: Array<[string, unknown, RegExp]> = [
  ['spans that are not there', { pointers: [point(0, 'Ich wohne in Bonn.'), point(1, 'Köln')] }, /stand in no message/],
  ['messages that do not exist', { pointers: [point(-1, 'Köln'), point(2, 'Köln'), point(1e9, 'Köln')] }, /message does not exist/],
  ['what is quoted', { pointers: [point(1, 'I am the king of Spain.'), point(1, 'I like gold')] }, /quotation/],
  ['questions', { pointers: [point(0, 'Was kostet die Bahn?')] }, /question/],
  ['both the question and the statement', {
    pointers: [point(0, 'Ich wohne in Köln.'), point(0, 'Was kostet die Bahn?'), point(0, 'Ich wohne in Köln. Was kostet')]
  }, /question/],
  ['pieces of words', { pointers: [point(0, 'oh'), point(0, 'n Köl'), point(0, 'I')] }, /stand in no message/],
  ['nothing that has the form', {
    pointers: [
      7,
      null,
      'Köln',
      {},
      { message: 0, span: 'Ich wohne in Köln.' },
      { ...point(0, 'Köln'), lasting: 'yes' },
      { ...point(0, 'Köln'), replaces: 'k1' }
    ]
  }, /malformed/],
  ['400 kB of words', { pointers: [point(0, 'Köln '.repeat(80_000))] }, /in no message/],
  ['more than can be right', { pointers: Array(101).fill(point(0, 'Ich wohne in Köln.')) }, /too much/]
]

for (const [what, answer, reason] of BAD) {
  t.test(`a model that points at ${what} teaches nothing wrong, and answer and log say what was wrong`, async (t) => {
    const { app, extract, logged } = await answering(t, () => answer)
    const found = await extract('chat', ...TEXT)
    t.match(found.rejected.map((each: { reason: string }) => each.reason).join(), reason)
    t.same(found.facts.filter((fact: string) => fact !== 'Ich wohne in Köln.'), [])
    t.equal(found.proposed, 0)
    t.match(logged.join(''), reason)
    t.notMatch(logged.join(''), /Köln|king/, 'the log holds no words of the user')
    t.same((await call(app, 'GET', '/memory/brain/facts?state=proposed')).facts, [])
  })
}

t.test('a model that marks everything teaches nothing', async (t) => {
  const { extract } = await answering(t, () => ({ pointers: [point(0, 'Ich wohne in Köln.'), point(0, 'Was kostet die Bahn?')] }))
  t.strictSame(await extract('chat', TEXT[0]), {
    facts: [],
    preferences: {},
    added: 0,
    proposed: 0,
    rejected: [{ reason: 'the model pointed at everything', count: 1 }]
  })
})

t.test('what the user says while an answer is made is learned from like every message, in both forms of a thread', async (t) => {
  const newest = (question: string) => question.match(/I live in \w+\./g)!.at(-1)!
  const { app } = await answering(t, (question) => ({ pointers: [point(1, newest(question))], habits: [] }))
  const mark = { id: 's1', state: 'read', step: 2 }
  const said = (text: string) => ({ type: 'data-steer', id: 's1', data: { ...mark, text } })
  const forms = {
    documented: { role: 'user', content: 'I live in Porto.', steer: mark },
    ui: { id: 'a', role: 'assistant', parts: [{ type: 'text', text: 'One.' }, said('I live in Lyon.')] }
  }
  for (const [form, message] of Object.entries(forms)) {
    await call(app, 'PUT', `/threads/${form}`, { messages: [user('What is the train?'), message] })
    t.match(await call(app, 'POST', `/threads/${form}/extract`), { facts: [/I live in (Porto|Lyon)\./], added: 1 }, form)
  }
})

t.test('an answer without JSON is a 502 that says so; of any other, only what can be read counts', async (t) => {
  const unreadable = ['I found nothing.', '[1, 2]', '']
  const readable: Array<[string, object]> = [
    ['{"pointers": "none"}', { facts: [], added: 0 }],
    [`{"pointers": [${'{"message": 0},'.repeat(3)}`, { facts: [], added: 0, rejected: [{ reason: /malformed/, count: 3 }] }],
    [`Sure: {"pointers": [${JSON.stringify(point(0, 'Ich wohne in Köln.'))}, {"mess`, { facts: ['Ich wohne in Köln.'], added: 1 }]
  ]
  const answers = [...unreadable, ...readable.map(([text]) => text)]
  const { extract } = await answering(t, () => answers.shift())
  for (const text of unreadable) {
    t.match(await extract('chat', TEXT[0]), {
      statusCode: 502,
      code: 'ERR_UPSTREAM',
      error: /did not extract facts: its answer could not be read/
    }, text)
  }
  for (const [text, found] of readable) t.match(await extract('chat', TEXT[0]), found, text)
})

t.test('what the model calls important is marked so, and nothing else', async (t) => {
  const { app, extract } = await answering(t, () => ({
    pointers: [
      point(0, 'vegan', { important: true }),
      point(0, 'Köln', { important: false }),
      { ...point(0, 'Koch'), important: 'very' },
      point(0, 'Schwester', { about: 'other', important: true })
    ]
  }))
  await extract('chat', 'Ich esse vegan. Ich wohne in Köln. Ich bin Koch. Meine Schwester singt. Bis morgen.')
  const { facts } = await call(app, 'GET', '/memory/brain/facts')
  t.same(facts.map(({ fact, important }: { fact: string, important?: true }) => [fact, important]).reverse(), [
    ['Ich esse vegan.', true],
    ['Ich wohne in Köln.', undefined],
    ['Ich bin Koch.', undefined]
  ])
})

t.test('what is about others, passes or is sensitive is left out; long or pasted messages and wishes become proposals', async (t) => {
  const { app, extract } = await answering(t, () => ({
    pointers: [
      point(0, 'Meine Schwester', { about: 'other' }),
      point(0, 'müde', { lasting: false }),
      point(0, 'krank', { sensitive: true }),
      point(0, 'Duze mich', { kind: 'instruction' }),
      point(1, 'Ich bin Koch'),
      point(2, 'I bake bread')
    ]
  }))
  const found = await extract(
    'chat',
    'Meine Schwester singt. Ich bin müde. Ich bin krank. Duze mich immer.',
    `Ich bin Koch. ${'Es war ein langer Tag mit viel Arbeit. '.repeat(16)}`,
    'I bake bread. See https://bread.example/now'
  )
  t.match(found, { facts: [], added: 0, proposed: 3 })
  t.notOk('rejected' in found)
  t.same((await call(app, 'GET', '/memory/brain/facts?state=proposed')).facts.map(({ fact }: { fact: string }) => fact), [
    'I bake bread.',
    'Ich bin Koch.',
    'Duze mich immer.'
  ])
})

t.test('a model sees what is known with short ids, and what it names holds no more', async (t) => {
  const questions: string[] = []
  const answers = [
    [point(0, 'Vivo en Sevilla')],
    [point(0, 'Ahora vivo en Bilbao', { replaces: ['k1', 'k9'] })],
    [point(0, 'Ya no vivo en Bilbao', { lasting: false, replaces: ['k1'] })]
  ]
  const { app, extract } = await answering(t, (question) => {
    questions.push(question)
    return { pointers: answers.shift() }
  })
  await extract('a', 'Vivo en Sevilla.')
  t.match(await extract('b', 'Busco un fontanero. Ahora vivo en Bilbao.'), {
    facts: ['Ahora vivo en Bilbao.'],
    rejected: [{ reason: /id in "replaces"/, count: 1 }]
  })
  t.match(questions[1], /^Known:\nk1: "Vivo en Sevilla\."\n\nMessages:\n\n\(Said on 2026-01-05:\)\n\[0\] Busco/)
  t.match(await extract('c', 'Ya no vivo en Bilbao.'), { facts: [], added: 0 })
  const { brain } = await call(app, 'GET', '/memory/brain')
  t.same(brain.facts, [])
  t.same((await call(app, 'GET', '/memory/brain/facts?state=replaced')).facts.map(({ fact }: { fact: string }) => fact).sort(), [
    'Ahora vivo en Bilbao.',
    'Vivo en Sevilla.'
  ])
})

t.test('requests that recur in threads and runs become a pattern', async (t) => {
  const goal = 'Summarise my unread mail.'
  let isFirst = true
  const { app, extract } = await answering(t, (question) => {
    const known = /^(h1): "Fasse meine Post zusammen\."$/m.exec(question)?.[1]
    const [, number] = /^\[(\d+)\] Summarise my unread mail\.$/m.exec(question) ?? []
    const habits = [
      { message: 0, span: 'Fasse meine Post zusammen', ...(!isFirst && { same: known }) },
      ...(number === undefined ? [] : [{ message: Number(number), span: goal, same: known }])
    ]
    isFirst = false
    return { pointers: [], habits }
  })
  t.notOk('rejected' in await extract('a', 'Fasse meine Post zusammen.'))
  t.notOk('rejected' in await extract('b', 'Fasse meine Post zusammen, bitte!'))
  t.same((await call(app, 'GET', '/memory/brain')).brain.patterns, [])
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await call(app, 'POST', '/tasks', { goal, approval: { mode: 'never' } })
  await call(app, 'POST', `/tasks/${id}/start`)
  await events.until('task:complete', { taskId: id })
  t.notOk('rejected' in await extract('c', 'Fasse meine Post zusammen.'))
  const { patterns } = (await call(app, 'GET', '/memory/brain')).brain
  t.match(patterns, [{
    pattern: 'Fasse meine Post zusammen.',
    evidence: [{ threadId: 'a' }, { threadId: 'b' }, { threadId: 'c' }, { taskId: id, at: Number }]
  }])
})
