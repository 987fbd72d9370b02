import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { answer, asked, of, say, sayAll } from '../harness/agent.ts'
import { connect, misbehaving } from '../harness/mcp.ts'
import { unpaired } from '../harness/pairs.ts'
import { compactions, json, small, TOO_LONG, turns, user, WINDOW, words } from '../harness/small-window.ts'
import { textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

t.test('one long run is made to fit at each step, with what it did, and goes on', async (t) => {
  const { app, gateway, sent, summaries } = await small(t, {
    reply: (_request: any, nth: number) =>
      nth < 12
        ? { text: `step ${nth}`, toolCalls: [{ toolName: 'readFile', input: { path: `big${nth % 3}.txt` } }] }
        : { text: 'all read' },
    summary: (nth) =>
      nth === 0
        ? { object: { complexity: 'complex', goal: 'g', thinking: 't', qualityCriteria: [] } }
        : { object: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [], summary: 'Files were read.' } },
    config: { analysis: true }
  })
  for (const n of [0, 1, 2]) writeFileSync(`${app.cwd}/big${n}.txt`, words(`big ${n}`, 5_000))
  const { events } = await sayAll(app, [user('Read all the files.')])
  t.equal(textOf(events).slice(-8), 'all read')
  t.equal(sent().length, 13)
  for (const prompt of sent()) {
    t.same(unpaired(prompt), [])
    t.equal(prompt[1].content[0].text, 'Read all the files.')
    t.ok(json(prompt).length / 4 < WINDOW * 0.9)
  }
  t.match(sent()[12].at(-1).content[0].output, { value: { content: /big 2/ } }, 'the newest output is whole')
  t.match(json(sent()[12]), /left out to save room/)
  t.equal(summaries().length, 0, 'outputs were enough')
  t.ok(compactions(events).length > 0)
  t.ok(gateway.requests.length > 13)
})

t.test("steps of one run whose inputs are large are summed up once, behind the user's message", async (t) => {
  const { app, sent, summaries } = await small(t, {
    reply: (_request: any, nth: number) =>
      nth < 9
        ? { toolCalls: [{ toolName: 'writeFile', input: { path: `out${nth}.txt`, content: words(`text ${nth}`, 3_000) } }] }
        : { text: 'written' },
    config: { permissions: { writeFile: 'allow' } }
  })
  const { events } = await sayAll(app, [user('Write the files.')])
  t.equal(textOf(events), 'written')
  const last = sent().at(-1)!
  t.same(unpaired(last), [])
  t.equal(last[1].content[0].text, 'Write the files.')
  t.match(last[2].content[0].text, 'They talked of fado.')
  t.match(json(last.at(-2)), 'text 8')
  t.ok(summaries().length >= 1 && summaries().length <= 2, `asked ${summaries().length} times`)
})

t.test('who finds the conversation too long after all gets it shorter, once', async (t) => {
  const { app, sent } = await small(t, { reply: (_request: any, nth: number) => nth === 0 ? TOO_LONG : { text: 'now it fits' } })
  const { events } = await sayAll(app, [...turns(20, 800), user('and now?')])
  t.equal(textOf(events), 'now it fits')
  const [first, second] = sent()
  t.equal(first.length, 42)
  t.same(unpaired(second), [])
  t.ok(json(second).length < json(first).length * 0.8)
  t.equal(second.at(-1).content[0].text, 'and now?')
})

t.test('a conversation that is too long even so fails saying what to do, after one more try or none', async (t) => {
  const { app, sent } = await small(t, { reply: () => TOO_LONG })
  const failed = await sayAll(app, [...turns(20, 800), user('and now?')])
  t.equal(sent().length, 2)
  t.match(of(failed.events, 'error'), [{ code: 'ERR_CONTEXT_TOO_LONG', errorText: /test\/model[^]*a model that reads more/ }])
  await sayAll(app, [user(words('one', 12_000))])
  t.equal(sent().length, 3, 'nothing can be left out')
})

t.test('pictures count, and a run told as one object says what was done', async (t) => {
  const { app, sent } = await small(t)
  const picture = { type: 'file', mediaType: 'image/png', data: PIXEL }
  const history = Array.from(
    { length: 14 },
    (_, n) => [{ role: 'user', content: [{ type: 'text', text: `see ${n}` }, picture] }, { role: 'assistant', content: 'nice' }]
  ).flat()
  const answer = (await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [...history, user('and now?')] } })).json()
  t.equal(answer.text, 'done')
  t.match(answer.compactions, [{ outputs: 0, dropped: 0 }])
  t.ok(answer.compactions[0].summarised > 0)
  t.ok(json(sent()[0]).split('image/png').length - 1 < 14)
})

t.test('a task run is made to fit in the same way, and keeps its summary through a pause', async (t) => {
  const release = Promise.withResolvers<void>()
  const reached = Promise.withResolvers<void>()
  const { app, sent, summaries } = await small(t, {
    async reply (_request: any, nth: number) {
      if (nth === 8) {
        reached.resolve()
        await release.promise
      }
      return nth < 10
        ? { toolCalls: [{ toolName: 'writeFile', input: { path: `out${nth}.txt`, content: words(`text ${nth}`, 3_000) } }] }
        : { text: 'written' }
    }
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const task = await tasks.create('Write the files.')
  await tasks.post(`/${task.id}/start`)
  await reached.promise
  const before = summaries().length
  t.ok(before >= 1)
  await tasks.post(`/${task.id}/pause`)
  release.resolve()
  await tasks.post(`/${task.id}/resume`)
  t.match(await events.until('task:complete'), { status: 'completed' })
  for (const prompt of sent()) t.same(unpaired(prompt), [])
  const last = sent().at(-1)!
  t.equal(last[1].content[0].text, 'Write the files.')
  t.match(last[2].content[0].text, 'They talked of fado.')
  t.match(sent()[9][2].content[0].text, 'They talked of fado.', 'right after the pause')
  t.ok(summaries().length <= before + 1, 'none was made twice')
  const [run] = await tasks.runs(task.id)
  t.notOk('summaries' in run)
  t.equal(run.toolCount, 9, 'the call of the step that was cut off is not among them')
})

const look = { toolName: 'listDirectory', input: { path: '.' } }
const run = (command: string) => ({ toolName: 'runCommand', input: { command } })

t.test('a model that calls a tool although its steps are used up leaves no call open', async (t) => {
  const { app } = await withGateway(t, () => ({ toolCalls: [look] }))
  const { events } = await say(app, 'go', { id: 'chat', options: { maxSteps: 2 } })
  t.equal(of(events, 'tool-output-available').length, 2)
  const { toolCallId } = of(events, 'tool-input-start').at(-1)!
  t.match(of(events, 'tool-input-error'), [{ toolCallId, errorText: /No tool is called any more/ }])
})

t.test('calls of one step that share an id are two calls', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth > 0
      ? { text: 'ok' }
      : { toolCalls: ['a', 'b'].map((text) => ({ toolCallId: 'same', ...run(`printf ${text} >> effects.log`) })) })
  const [a, b] = asked((await say(app, 'go')).events)
  await answer(app, { [a]: true, [b]: true })
  t.equal(readFileSync(`${app.cwd}/effects.log`, 'utf8'), 'ab')
  t.match(
    gateway.requests[1].body.prompt.slice(2),
    ['assistant', 'tool'].map((role) => ({ role, content: [{ toolCallId: 'same' }, { toolCallId: 'same-2' }] }))
  )
})

t.test('a bad call is an error the model sees, and the run goes on', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    [
      {
        toolCalls: [{ toolName: 'readFile', input: { where: 'x' } }, { toolName: 'noSuchTool', input: {} }, {
          toolName: '__proto__',
          input: {}
        }]
      },
      { toolCalls: [{ toolName: 'readFile', input: { path: 'missing.txt' } }] },
      { text: 'I see' }
    ][nth])
  const { events } = await say(app, 'go')
  t.match(of(events, 'tool-input-error'), [{ errorText: /path/ }, { errorText: /noSuchTool[\s\S]*readFile/ }, { errorText: /__proto__/ }])
  t.match(of(events, 'tool-output-error'), [{ errorText: /missing\.txt/ }])
  const results = gateway.requests[2].body.prompt.filter(({ role }: any) => role === 'tool').flatMap(({ content }: any) => content)
  t.equal(results.length, 4)
  for (const { output } of results) t.equal(output.type, 'error-text')
  t.equal(textOf(events), 'I see')
})

t.test('calls that need no approval run in the step that asks for another one', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => [{ toolCalls: [run('printf x >> effects.log'), look] }, { text: 'ok' }][nth])
  const { events } = await say(app, 'go')
  t.equal(of(events, 'tool-output-available').length, 1)
  t.equal(asked(events).length, 1)
  t.notOk(existsSync(`${app.cwd}/effects.log`))
})

t.test('permissions of config.json decide what is asked, allowed and not offered at all', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    [
      { toolCalls: [run('printf x > ran.txt'), look, { toolName: 'deleteFile', input: { path: 'ran.txt' } }] },
      { text: 'ok' }
    ][nth], { config: { permissions: { runCommand: 'allow', 'list*': 'ask', 'delete*': 'deny' } } })
  const { events } = await say(app, 'go')
  t.ok(existsSync(`${app.cwd}/ran.txt`))
  t.match(of(events, 'tool-approval-request'), [{ toolName: 'listDirectory' }])
  t.match(of(events, 'tool-input-error'), [{ toolName: 'deleteFile' }])
  const offered = gateway.requests[0].body.tools.map(({ name }: any) => name)
  t.ok(offered.includes('listDirectory'))
  t.notOk(offered.includes('deleteFile'))
})

t.test('after a denial the model is told the tool and the input, and not to try again', async (t) => {
  const plans = [{ toolCalls: [run('rm -rf precious')] }, { text: 'as you wish' }]
  const { app, gateway, systemOf } = await withGateway(t, (_request, nth) => plans[nth])
  const { events } = await say(app, 'go')
  await answer(app, { [asked(events)[0]]: false })
  t.equal(systemOf(1), systemOf(0), 'the system prompt stays')
  t.match(JSON.stringify(gateway.requests[1].body.prompt.at(-1)), /do not retry.*runCommand.*rm -rf precious/i)
})

t.test('what the model sees of an output is bounded, the stream has it whole', async (t) => {
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) => [{ toolCalls: [{ toolName: 'big', input: { bytes: 500_000 } }] }, { text: 'ok' }][nth]
  )
  await connect(app, misbehaving('odd', [], { approval: 'never' }))
  const { events } = await say(app, 'go')
  const seen = JSON.stringify(gateway.requests[1].body.prompt.at(-1).content[0].output.value)
  t.ok(seen.length <= 64 * 1024, `${seen.length} characters`)
  t.ok(JSON.stringify(of(events, 'tool-output-available')[0].output).length > seen.length)
})

t.test('a long file reaches the model in parts that nothing is cut out of', async (t) => {
  const text = Array.from({ length: 9_000 }, (_, n) => `This is "line" ${n + 1}.\n`).join('')
  const shown = (request: any) => request.body.prompt.at(-1).content.at(-1).output?.value
  const { app, gateway } = await withGateway(t, (request, nth) => {
    const { nextOffset } = nth === 0 ? { nextOffset: 1 } : shown(request)
    return nextOffset === undefined
      ? { text: 'all read' }
      : { toolCalls: [{ toolName: 'readFile', input: { path: 'long.txt', offset: nextOffset } }] }
  })
  writeFileSync(`${app.cwd}/long.txt`, text)
  t.equal(textOf((await say(app, 'read it all')).events), 'all read')
  const parts = gateway.requests.slice(1).map(shown)
  t.equal(parts.map(({ content }) => content).join(''), text.replace(/.+/g, (line) => `${/\d+/.exec(line)![0]}→${line}`))
  t.match(parts[0], { startLine: 1, totalLines: 9_000, message: /Read on with offset/ })
})

t.test('calls of a model that repeats its call ids are told apart', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => nth < 2 ? { toolCalls: [{ ...look, toolCallId: 'call_0' }] } : { text: 'ok' })
  const { events } = await say(app, 'go')
  const ids = of(events, 'tool-output-available').map(({ toolCallId }) => toolCallId)
  t.equal(new Set(ids).size, 2)
})

t.test('reads of one step run side by side, changes one after the other', async (t) => {
  const { app } = await withGateway(t, (_request, nth) =>
    [
      { toolCalls: [run('sleep 0.2; printf a >> order'), run('printf b >> order'), { toolName: 'readFile', input: { path: 'order' } }] },
      { text: 'ok' }
    ][nth], { config: { permissions: { runCommand: 'allow' } } })
  const { events } = await say(app, 'go')
  t.match(of(events, 'tool-output-available').at(-1), { output: { content: 'ab' } })
})

t.test('a model that makes more calls than anybody needs is stopped before the first of them', async (t) => {
  const calls = (count: number) => ({ toolCalls: Array.from({ length: count }, () => run('printf x >> effects.log')) })
  const { app } = await withGateway(t, (_request, nth) => [calls(129), calls(128), { text: 'ok' }][nth], {
    config: { permissions: { runCommand: 'deny' } }
  })
  const { events } = await say(app, 'go')
  t.match(of(events, 'error'), [{ errorText: /more than 128 tool calls/, code: 'ERR_TOO_MANY_CALLS' }])
  t.equal(of(events, 'tool-input-error').length, 0)
  t.equal(of((await say(app, 'go')).events, 'tool-input-error').length, 128)
})

t.test('inputs of calls cannot fill the memory', async (t) => {
  const call = { type: 'tool-call', toolName: 'readFile', input: JSON.stringify({ path: 'x'.repeat(6 * 1024 * 1024) }) }
  const { app } = await withGateway(t, () => ({ parts: [1, 2, 3].map((n) => ({ ...call, toolCallId: `call_${n}` })) }))
  t.match(of((await say(app, 'go')).events, 'error'), [{ errorText: /grew beyond 16 MiB/, code: 'ERR_RUN_TOO_LONG' }])
})
