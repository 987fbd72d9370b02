import { readFileSync } from 'node:fs'
import t from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { append, effects } from '../harness/effects.ts'
import { DONE, type RawReply, SLOPPY_WIRES, withSloppyServer } from '../harness/sloppy-wires.ts'
import { textOf } from '../harness/sse.ts'

const WORDS = 'your trial is over'
const count = (text: string, value: unknown) => JSON.stringify(value).split(text).length - 1
const errorIn = (events: Array<Record<string, any>>) => of(events as never, 'error').map(({ errorText, error }) => errorText ?? error).join()
/** Says the next thing in a thread, of which the service holds the rest. */
const goOn = (app: Parameters<typeof say>[0], id: string) => say(app, '', { id, messages: undefined, message: { role: 'user', content: 'and?' } })
const ALLOWED = { config: { permissions: { runCommand: 'allow' }, sandbox: { commands: 'off' } } }

for (const wire of SLOPPY_WIRES) {
  const { name, text, call, end, noise, reasons, results } = wire
  const fine = text('fi') + text('ne')

  t.test(`${name}: an answer is read once, however it is written and ended`, async (t) => {
    const replies: Record<string, RawReply> = {
      noise: { body: `: a comment\n\n${noise}${fine}${noise}${end(reasons.stop)}${DONE}` },
      'an unknown reason': { body: fine + end('odd_reason') + DONE },
      'the mark of the end without a reason': { body: fine + DONE },
      'no blank line at the end': { body: `${fine}${DONE}`.trimEnd() },
      'no blanks, other line ends': { body: (fine + end(reasons.stop)).replaceAll('data: ', 'data:').replaceAll('\n', '\r\n') },
      'one document': { body: JSON.stringify(wire.document('fine')), type: 'application/json' },
      'one document, named a stream': { body: JSON.stringify(wire.document('fine'), null, 2) }
    }
    let reply: RawReply
    const { app, bodies } = await withSloppyServer(t, wire, () => reply)
    for (const [what, each] of Object.entries(replies)) {
      reply = each
      const before = bodies.length
      const { events } = await say(app, 'go', { id: what })
      t.equal(textOf(events), 'fine', what)
      t.equal(errorIn(events), '', what)
      t.equal(bodies.length - before, 1, `${what}: one try`)
      await goOn(app, what)
      t.equal(count('"fine"', bodies.at(-1)), 1, `${what}: the next request holds the answer once`)
    }
  })

  t.test(`${name}: an answer without an end, or with a broken one, is asked for again`, async (t) => {
    let first = ''
    let base = 0
    const { app, bodies } = await withSloppyServer(t, wire, (nth) => ({ body: nth === base ? first : fine + end(reasons.stop) + DONE }))
    for (const broken of [text('fi'), DONE, text('fi') + end('cancelled') + DONE, `${text('fi')}data: {"cut`]) {
      first = broken
      base = bodies.length
      const { events } = await say(app, 'go', { id: `thread ${base}` })
      t.equal(bodies.length - base, 2, JSON.stringify(broken))
      await goOn(app, `thread ${base}`)
      t.equal(count('"fine"', bodies.at(-1)), 1)
      t.equal(count('"fi"', bodies.at(-1)), 0, 'nothing of the first try is left')
      t.equal(errorIn(events), '')
    }
  })

  t.test(`${name}: the provider's own words are told, and the conversation is too long only when it is`, async (t) => {
    let reply: RawReply
    const { app, bodies } = await withSloppyServer(t, wire, () => reply)
    const json = 'application/json'
    const replies: RawReply[] = [
      { body: JSON.stringify({ error: { message: WORDS, code: 'trial' } }), type: json },
      { body: JSON.stringify({ error: WORDS }), type: 'text/plain' },
      { body: `data: {"error":"${WORDS}"}\n\n` },
      { body: `event: error\ndata: {"message":"${WORDS}"}\n\n` },
      { body: WORDS, status: 400, type: 'text/plain' },
      { body: JSON.stringify({ detail: [{ loc: ['body'], msg: WORDS }] }), status: 422, type: json },
      { body: JSON.stringify({ error: WORDS }), status: 400, type: json },
      { body: JSON.stringify({ message: WORDS }), status: 403, type: json },
      { body: JSON.stringify({ error: { code: 400, message: WORDS, status: 'INVALID_ARGUMENT' } }), status: 400 }
    ]
    for (reply of replies) {
      const before = bodies.length
      const { events } = await say(app, 'go')
      t.match(errorIn(events), WORDS, JSON.stringify(reply))
      t.notMatch(errorIn(events), /shorten|Begin a new one/i)
      t.equal(bodies.length - before, 1, 'it is not asked again')
    }
    reply = { body: JSON.stringify({ error: { message: 'The prompt is too long: 9000 tokens > 8192' } }), status: 400, type: json }
    t.match(errorIn((await say(app, 'go')).events), /Begin a new one, shorten the message/)
  })

  t.test(`${name}: what a call does is done once, though the server sends it twice or breaks off behind it`, async (t) => {
    const { toolName, input } = append('x')
    const twice = call(toolName, input, 'k1')
    const calls = twice + twice + end(reasons.calls) + DONE
    const other = call(toolName, append('y').input, 'k1')
    let base = 0
    let answers: string[] = []
    const { app, bodies } = await withSloppyServer(
      t,
      wire,
      (nth) => ({ body: answers[nth - base] ?? fine + end(reasons.stop) + DONE }),
      ALLOWED
    )
    const effectsOf = async (...all: string[]) => {
      answers = all
      base = bodies.length
      const before = effects(app.cwd).length
      const { events } = await say(app, 'go')
      t.equal(textOf(events).replace(/^.*?(?=fine)/, ''), 'fine')
      return effects(app.cwd).slice(before)
    }
    t.equal(await effectsOf(calls), 'x')
    t.equal(results(bodies.at(-1)).length, 1, 'the model gets one result')
    t.equal(await effectsOf(twice + DONE), 'x', 'a whole call and the mark of the end')
    t.equal(await effectsOf(twice, calls), 'x', 'a stream that breaks off behind a whole call is void')
    t.equal(await effectsOf(twice + end('cancelled'), twice + twice, calls), 'x', 'twice')
    t.equal(await effectsOf(twice + other + end(reasons.calls) + DONE), 'xy', 'another call with the same id is another call')
  })

  t.test(`${name}: a call that is sent twice is approved once and carried out once`, async (t) => {
    const twice = call('writeFile', { path: 'a.txt', content: 'once' }, 'k1')
    const { app, bodies } = await withSloppyServer(t, wire, (_nth, body) =>
      ({ body: results(body).length > 0 ? fine + end(reasons.stop) + DONE : twice + twice + end(reasons.calls) + DONE }))
    const { events } = await say(app, 'write', { id: 'thread' })
    const [approvalId, ...more] = asked(events)
    t.same(more, [], 'one question')
    const done = await answer(app, { [approvalId]: true }, { id: 'thread' })
    t.equal(textOf(done.events), 'fine')
    t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'once')
    t.equal(results(bodies.at(-1)).length, 1)
    t.equal(bodies.length, 2)
  })
}
