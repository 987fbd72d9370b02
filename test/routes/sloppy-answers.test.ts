import { readFileSync } from 'node:fs'
import t from 'tap'
import { answer, asked, of, say } from '../harness/agent.ts'
import { append, effects } from '../harness/effects.ts'
import { DONE, type RawReply, SLOPPY_WIRES, withSloppyServer } from '../harness/sloppy-wires.ts'
import { textOf } from '../harness/sse.ts'

const WORDS = 'your trial is over'
const count = (text: string, value: unknown) => JSON.stringify(value).split(text).length - 1
const errorIn = (events: Parameters<typeof of>[0]) => of(events, 'error').map(({ errorText }) => errorText).join()
/** Says the next thing in a thread, of which the service holds the rest. */
const goOn = (app: Parameters<typeof say>[0], id: string) =>
  say(app, '', { id, messages: undefined, message: { role: 'user', content: 'and?' } })
const ALLOWED = { config: { permissions: { runCommand: 'allow' }, sandbox: { commands: 'off' } } }

for (const wire of SLOPPY_WIRES) {
  const { text, call, end, noise, reasons, results } = wire
  const fine = text('fi') + text('ne')
  const whole: RawReply = { body: fine + end(reasons.stop) + DONE }

  t.test(wire.name, async (t) => {
    let reply: (nth: number, body: any) => RawReply
    const { app, bodies } = await withSloppyServer(t, wire, (nth, body) => reply(nth, body), ALLOWED)
    /** Answers the next calls in turn, and all after them as `whole`. */
    const answerWith = (...all: string[]) => {
      const base = bodies.length
      reply = (nth) => nth - base < all.length ? { body: all[nth - base] } : whole
    }

    await t.test('an answer is read once, however it is written and ended', async (t) => {
      const replies: Record<string, RawReply> = {
        noise: { body: `: a comment\n\n${noise}${fine}${noise}${end(reasons.stop)}${DONE}` },
        'an unknown reason': { body: fine + end('odd_reason') + DONE },
        'the mark of the end without a reason': { body: fine + DONE },
        'no blank line at the end': { body: `${fine}${DONE}`.trimEnd() },
        'no blanks, other line ends': { body: (fine + end(reasons.stop)).replaceAll('data: ', 'data:').replaceAll('\n', '\r\n') },
        'one document': { body: JSON.stringify(wire.document('fine')), type: 'application/json' },
        'one document, named a stream': { body: JSON.stringify(wire.document('fine'), null, 2) }
      }
      for (const [what, each] of Object.entries(replies)) {
        reply = () => each
        const before = bodies.length
        const { events } = await say(app, 'go', { id: what })
        t.equal(textOf(events), 'fine', what)
        t.equal(errorIn(events), '', what)
        t.equal(bodies.length - before, 1, `${what}: one try`)
        await goOn(app, what)
        t.equal(count('"fine"', bodies.at(-1)), 1, `${what}: the next request holds the answer once`)
      }
    })

    await t.test('an answer without an end, or with a broken one, is asked for again', async (t) => {
      for (const [n, broken] of [text('fi'), DONE, text('fi') + end('cancelled') + DONE, `${text('fi')}data: {"cut`].entries()) {
        const id = `broken ${n}`
        answerWith(broken)
        const before = bodies.length
        const { events } = await say(app, 'go', { id })
        t.equal(bodies.length - before, 2, JSON.stringify(broken))
        await goOn(app, id)
        t.equal(count('"fine"', bodies.at(-1)), 1)
        t.equal(count('"fi"', bodies.at(-1)), 0, 'nothing of the first try is left')
        t.equal(errorIn(events), '')
      }
    })

    await t.test("the provider's own words are told, and the conversation is too long only when it is", async (t) => {
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
      for (const each of replies) {
        reply = () => each
        const before = bodies.length
        const { events } = await say(app, 'go')
        t.match(errorIn(events), WORDS, JSON.stringify(each))
        t.notMatch(errorIn(events), /shorten|Begin a new one/i)
        // What only refuses may refuse the form: a server of open models is asked again, then in the plain form. Its first words are told.
        const isAskedPlainly = wire === SLOPPY_WIRES[0] && [400, 422].includes(each.status ?? 200)
        t.equal(bodies.length - before, isAskedPlainly ? 3 : 1, JSON.stringify(each))
        if (isAskedPlainly) t.same([bodies.at(-2).tools?.length > 0, bodies.at(-1).tools], [true, undefined], 'with tools, then in words')
      }
      const tooLong = { error: { message: 'The prompt is too long: 9000 tokens > 8192' } }
      reply = () => ({ body: JSON.stringify(tooLong), status: 400, type: json })
      t.match(errorIn((await say(app, 'go')).events), /Begin a new one, shorten the message/)
    })

    await t.test('what a call does is done once, though the server sends it twice or breaks off behind it', async (t) => {
      const { toolName, input } = append('x')
      const twice = call(toolName, input, 'k1').repeat(2)
      const calls = twice + end(reasons.calls) + DONE
      const other = call(toolName, append('y').input, 'k1')
      const effectsOf = async (...all: string[]) => {
        answerWith(...all)
        const before = effects(app.cwd).length
        const { events } = await say(app, 'go')
        t.match(textOf(events), /fine$/)
        return effects(app.cwd).slice(before)
      }
      t.equal(await effectsOf(calls), 'x')
      t.equal(results(bodies.at(-1)).length, 1, 'the model gets one result')
      t.equal(await effectsOf(twice + DONE), 'x', 'a whole call and the mark of the end')
      t.equal(await effectsOf(twice, calls), 'x', 'a stream that breaks off behind a whole call is void')
      t.equal(await effectsOf(twice + end('cancelled'), twice, calls), 'x', 'twice')
      t.equal(await effectsOf(twice + other + end(reasons.calls) + DONE), 'xy', 'another call with the same id is another call')
    })

    await t.test('a call that is sent twice is approved once and carried out once', async (t) => {
      const before = bodies.length
      answerWith(call('writeFile', { path: 'a.txt', content: 'once' }, 'k1').repeat(2) + end(reasons.calls) + DONE)
      const { events } = await say(app, 'write', { id: 'write' })
      const [approvalId, ...more] = asked(events)
      t.same(more, [], 'one question')
      const done = await answer(app, { [approvalId]: true }, { id: 'write' })
      t.equal(textOf(done.events), 'fine')
      t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'once')
      t.equal(results(bodies.at(-1)).length, 1)
      t.equal(bodies.length - before, 2)
    })
  })
}

t.test('Google: equal calls without ids are one, unless two signatures show that two are meant', async (t) => {
  const google = SLOPPY_WIRES.find(({ name }) => name === 'Google')!
  const part = (thoughtSignature?: string) => {
    const { toolName: name, input: args } = append('x')
    return { functionCall: { name, args }, thoughtSignature }
  }
  const chunk = (...parts: object[]) => `data: ${JSON.stringify({ candidates: [{ content: { parts } }] })}\n\n`
  const end = google.end('STOP')
  const answers: Array<[body: string, effects: string]> = [
    [chunk(part(), part()), 'x'],
    [chunk(part()) + chunk(part()), 'x'],
    [chunk(part('a')) + chunk(part('a')), 'x'],
    [chunk(part('a'), part()), 'x'],
    [chunk(part('a'), part('b')), 'xx']
  ]
  let calls = ''
  const { app } = await withSloppyServer(t, google, (nth) => ({ body: nth % 2 === 0 ? calls + end : google.text('fine') + end }), ALLOWED)
  for (const [body, done] of answers) {
    calls = body
    const before = effects(app.cwd).length
    t.equal(textOf((await say(app, 'go')).events), 'fine')
    t.equal(effects(app.cwd).slice(before), done, body)
  }
})

const NO_AUTO = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'

for (const wire of SLOPPY_WIRES.slice(0, 4)) {
  t.test(`${wire.name}: a server that takes no free choice of tools is asked without it`, async (t) => {
    const choices: unknown[] = []
    const { app } = await withSloppyServer(t, wire, (_nth, body) => {
      const choice = body.tool_choice ?? body.toolConfig
      choices.push(choice)
      if (choice === undefined) return { body: wire.text('fine') + DONE }
      return { body: JSON.stringify({ object: 'error', message: NO_AUTO }), status: 400, type: 'application/json' }
    })
    t.equal(textOf((await say(app, 'go')).events), 'fine')
    t.equal(choices.length, 2)
  })
}

for (const wire of SLOPPY_WIRES.slice(0, 4)) {
  t.test(`${wire.name}: where that does not help, the server is asked without tools, and the user hears of it`, async (t) => {
    const { app, bodies } = await withSloppyServer(t, wire, (_nth, body) =>
      body.tools === undefined
        ? { body: wire.text('fine') + DONE }
        : { body: JSON.stringify({ error: { message: NO_AUTO } }), status: 400, type: 'application/json' })
    const { events } = await say(app, 'go')
    t.equal(textOf(events), 'fine')
    t.match(of(events, 'data-notice'), [{ data: { code: 'no-tools' } }])
    t.equal(bodies.length, 3)
    t.match(JSON.stringify(bodies[2]), /<tools>.*readFile/, 'tools are described in words')
    await say(app, 'again')
    t.equal(bodies.length, 4, 'it is remembered')
  })
}

t.test('tools are described in words after two answers that the server itself could not read', async (t) => {
  const [chat] = SLOPPY_WIRES
  const message = 'The model produced output that does not match the expected peg-native format'
  const unread = { error: { code: 500, message, type: 'server_error' } }
  const { app, bodies } = await withSloppyServer(t, chat, (_nth, body) =>
    ({ body: body.tools === undefined ? chat.text('fine') + DONE : `data: ${JSON.stringify(unread)}\n\n` }))
  const { events } = await say(app, 'go')
  t.equal(textOf(events), 'fine')
  t.equal(errorIn(events), '')
  t.match(of(events, 'data-notice'), [{ data: { code: 'no-tools' } }])
  t.same(bodies.map(({ tools }) => tools !== undefined), [true, true, false])
})
