import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { KINDS, post, type Talk } from './talks.ts'

type Model = (request: GatewayRequest) => Plan | Promise<Plan>
/** What the models of the conversations answer, by the first message of the user: one answer for each call. */
type Models = Map<string, Model[]>

const text = (...deltas: string[]): Plan => ({ text: deltas })
const call = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }] })
const AS_YOU_SAY = text('As you say.')

/** A moment at which the user says something: what the model does, what happens, and what the conversation is then. */
interface Moment {
  model (talk: () => Talk): Model[]
  happens (talk: Talk, t: Test): Promise<void>
  /** The conversation as the model gets it with the next message. */
  known: string[]
  states: string[]
}

/** A model call that waits until it is let on. */
function held () {
  const [begun, on] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const wait = () => {
    begun.resolve()
    return on.promise
  }
  return { begun: begun.promise, letOn: on.resolve, wait }
}
type Held = ReturnType<typeof held>
const moment = (make: (held: Held) => Moment) => () => make(held())

const MOMENTS: Record<string, () => Moment> = {
  'before the first token': moment((first) => ({
    model: () => [async () => { await first.wait(); return text('One.') }, () => AS_YOU_SAY],
    async happens (talk, t) {
      await first.begun
      t.match(await talk.steer('left'), { status: 200, state: 'waiting' })
      first.letOn()
      await talk.ended
    },
    known: ['> go', 'One.', '> left', 'As you say.'],
    states: ['read']
  })),
  'in a text': moment(() => ({
    model: () => [() => ({ ...text('One ', 'moment ', 'please.'), partMs: 150 }), () => AS_YOU_SAY],
    async happens (talk, t) {
      await talk.shows('One')
      t.match(await talk.steer('left'), { status: 200, state: 'waiting' })
      await talk.ended
    },
    known: ['> go', 'One moment please.', '> left', 'As you say.'],
    states: ['read']
  })),
  'in a call': moment(() => ({
    model: () => [() => call('runCommand', { command: 'until [ -e "$PWD/go" ]; do sleep 0.02; done' }), () => AS_YOU_SAY],
    async happens (talk, t) {
      await talk.shows('until')
      t.match(await talk.steer('left'), { status: 200, state: 'waiting' })
      writeFileSync(`${talk.cwd}/go`, '')
      await talk.ended
    },
    known: ['> go', 'runCommand', 'result', '> left', 'As you say.'],
    states: ['read']
  })),
  'while an approval waits': moment(() => ({
    model: () => [() => call('writeFile', { path: 'a.txt', content: 'a' }), () => AS_YOU_SAY],
    async happens (talk, t) {
      await talk.ended
      t.match(await talk.steer('left', 'own-id'), { status: 200, state: 'waiting' })
      t.match(await talk.steer('left', 'own-id'), { status: 200, state: 'waiting' }, 'the same again says nothing twice')
      t.match(await talk.steer('right', 'own-id'), { status: 409, code: 'ERR_STEERING_ID_USED' }, 'and other words are not dropped')
      await talk.approve()
    },
    known: ['> go', 'writeFile', 'result', '> left', 'As you say.'],
    states: ['read']
  })),
  'two at once, at the end': moment((first) => ({
    model: () => [async () => { await first.wait(); return text('One.') }, () => AS_YOU_SAY],
    async happens (talk, t) {
      await first.begun
      const said = await Promise.all([talk.steer('left'), talk.steer('right')])
      t.match(said, [{ status: 200 }, { status: 200 }])
      t.match(await talk.steer('up', said[0].id), { status: 409, code: 'ERR_STEERING_ID_USED' })
      first.letOn()
      await talk.ended
    },
    known: ['> go', 'One.', '> left', '> right', 'As you say.'],
    states: ['read', 'read']
  })),
  'after the end': moment(() => ({
    model: () => [() => text('One.')],
    async happens (talk, t) {
      await talk.ended
      t.match(await talk.steer('left'), { status: 404, code: 'ERR_NO_LIVE_RUN' })
    },
    known: ['> go', 'One.'],
    states: []
  })),
  'before a stop': moment(() => ({
    model: () => [() => ({ ...text('One ', 'and ', 'so on'), ending: 'stall', after: 4 })],
    async happens (talk, t) {
      await talk.shows('One')
      t.match(await talk.steer('left'), { status: 200 })
      await talk.stop()
      await talk.ended
    },
    known: ['> go', 'One ', '> left'],
    states: ['unread']
  })),
  'before an error, in the step that was to read it': moment((first) => ({
    model: () => [
      async () => { await first.wait(); return call('listDirectory', { path: '.' }) },
      () => ({ error: { status: 404, type: 'model_not_found', message: 'no such model' } })
    ],
    async happens (talk, t) {
      await first.begun
      t.match(await talk.steer('left'), { status: 200 })
      first.letOn()
      await talk.ended
    },
    known: ['> go', 'listDirectory', 'result', '> left'],
    states: ['unread']
  }))
}

/** A conversation in short: what the user said, what the model said, calls and results. */
function inShort (messages: any[]): string[] {
  const line = (role: string, part: any) => {
    if (part.type === 'text') return role === 'user' ? `> ${part.text}` : part.text
    if (part.type === 'tool-call') return part.toolName
    return part.type === 'tool-result' ? 'result' : []
  }
  const partsOf = (content: any): any[] => typeof content === 'string' ? [{ type: 'text', text: content }] : content
  return messages.flatMap(({ role, content }) => partsOf(content).flatMap((part) => line(role, part)))
}

for (const kind of KINDS) {
  t.test(`what is said to ${kind.name} is read once, or reported unread, and stays`, async (t) => {
    const models: Models = new Map()
    const prompts = new Map<string, any[]>()
    const { app } = await withGateway(t, async (request) => {
      const prompt = request.body.prompt.filter(({ role }: any) => role !== 'system')
      const [id] = prompt.flatMap(({ role, content }: any) => role === 'user' ? [content[0].text] : [])
      prompts.set(id, prompt)
      return await (models.get(id)?.shift() ?? (() => text('Yes.')))(request)
    }, { config: { permissions: { runCommand: 'allow' } } })

    for (const [name, make] of Object.entries(MOMENTS)) {
      await t.test(name, async (t) => {
        const id = `${kind.name}, ${name}`
        const { model, happens, known, states } = make()
        const place = `/run/${encodeURIComponent(id)}`
        models.set(id, model(() => talk))
        const talk: Talk = {
          ...await kind.open(app, id),
          id,
          cwd: (app as unknown as { cwd: string }).cwd,
          steer: (message, own) => post(app, `${place}/steer`, { message, ...(own && { id: own }) }),
          stop: () => post(app, `${place}/stop`)
        }
        await happens(talk, t)
        t.same(talk.states(), states, 'the client shows it')
        const { runs: [{ steered = [] }] } = (await app.inject(`/runs?threadId=${encodeURIComponent(id)}`)).json()
        t.same(steered.map(({ state }: any) => state), states, 'the run tells of it')

        const expected = [`> ${id}`, ...known.slice(1)]
        const thread = async (protocol: string) =>
          (await app.inject(`/threads/${encodeURIComponent(id)}?protocol=${protocol}`)).json().messages as any[]
        t.same(inShort(await thread('documented')), expected, 'the thread holds it')

        await talk.say('and now?')
        t.same(inShort(prompts.get(id)!), [...expected, '> and now?'], 'the model knows it')
        await talk.say('and then?')
        const whole = [...expected, '> and now?', 'Yes.', '> and then?']
        t.same(inShort(prompts.get(id)!), whole, 'and knows it for good')
        t.same(inShort(await thread('documented')), [...whole, 'Yes.'], 'in one thread')

        const loaded = await thread('ui')
        const reloaded = await app.inject({
          method: 'POST',
          url: '/run/sync',
          payload: { id, messages: [...loaded, { role: 'user', parts: [{ type: 'text', text: 'again' }] }] }
        })
        t.equal(reloaded.statusCode, 200)
        t.same(inShort(prompts.get(id)!), [...whole, 'Yes.', '> again'], 'also when a chat has loaded it')
        t.equal((await thread('ui')).length, loaded.length + 2)
      })
    }
    t.equal((await app.inject('/threads?limit=500')).json().threads.length, Object.keys(MOMENTS).length, 'no thread is made twice')
  })
}

const said = (content: string) => ({ role: 'user', content })

t.test('a history without an id is the same thread, whatever its client makes of what was said to the run', async (t) => {
  let first = held()
  let prompt: any[] = []
  const { app } = await withGateway(t, async ({ body }) => {
    prompt = body.prompt.filter(({ role }: any) => role !== 'system')
    if (inShort(prompt).length > 1) return AS_YOU_SAY
    await first.wait()
    return text('One.')
  })
  const bare = (messages: any[]) => messages.map(({ steer, id, ...message }) => message)
  const ways: Record<string, (messages: any[]) => any[]> = {
    'as the answer has it': (messages) => messages,
    'as any message of the user': bare,
    'not at all': (messages) => bare(messages).filter(({ role }) => role !== 'user'),
    'as one answer': () => [{ role: 'assistant', content: 'One.As you say.' }]
  }
  for (const [way, sentBack] of Object.entries(ways)) {
    first = held()
    const running = post(app, '/run/sync', { messages: [said(way)] })
    await first.begun
    const { runs: [{ threadId }] } = (await app.inject('/runs?limit=1')).json()
    await post(app, `/run/${threadId}/steer`, { message: 'left' })
    first.letOn()
    const { messages, steering } = await running
    t.match(steering, [{ text: 'left', state: 'read', step: 2 }])
    t.same(inShort(messages), ['One.', '> left', 'As you say.'])
    const next = await post(app, '/run/sync', { messages: [said(way), ...sentBack(messages), said('and now?')] })
    t.equal(next.threadId, threadId, way)
    t.same(inShort(prompt), [`> ${way}`, 'One.', '> left', 'As you say.', '> and now?'], way)
    t.equal((await app.inject(`/threads/${threadId}`)).json().messageCount, 6, `${way}: the thread goes on behind the answer`)
  }
})

t.test('what is said before the run has begun is for that run', async (t) => {
  const first = held()
  const { app } = await withGateway(t, () => first.wait().then(() => text('Yes.')))
  const beginning = app.agent.run({ id: 'new', messages: [said('go')] })
  t.match(await app.agent.steer('new', { message: 'left' }), { ok: true, threadId: 'new', state: 'waiting' })
  first.letOn()
  const run = await beginning
  const events = []
  for await (const batch of run.batches(new AbortController().signal)) events.push(...batch)
  t.match(events.filter(({ type }) => type === 'steer'), [{ state: 'waiting' }, { text: 'left', state: 'read', step: 2 }])
})

t.test('words that wait are unread when the run that waits is stopped, or another message comes; continuing reads them', async (t) => {
  let prompt: any[] = []
  const plans: Plan[] = []
  const { app } = await withGateway(t, ({ body }) => {
    prompt = body.prompt.filter(({ role }: any) => role !== 'system')
    return plans.shift() ?? text('Yes.')
  })
  const thread = async (id: string) => (await app.inject(`/threads/${id}?protocol=documented`)).json().messages as any[]
  const states = async (id: string) => (await thread(id)).flatMap(({ steer }) => steer ? [steer.state] : [])
  const waits = async (id: string) => {
    plans.push(call('writeFile', { path: 'a.txt', content: 'a' }))
    await post(app, '/run/sync', { id, messages: [said('go')] })
    t.match(await post(app, `/run/${id}/steer`, { message: 'left' }), { status: 200, threadId: id })
    t.same(await states(id), ['waiting'])
    t.equal((await app.inject(`/threads/${id}`)).json().status, 'pending_approval')
  }

  await waits('stopped')
  t.equal((await post(app, '/run/stopped/stop')).status, 200)
  t.same(await states('stopped'), ['unread'])
  t.match(await post(app, '/run/stopped/steer', { message: 'right' }), { status: 404 })
  await post(app, '/run/sync', { id: 'stopped', continue: true })
  t.match(inShort(prompt).slice(0, 4), ['> go', 'writeFile', 'result', '> left'])
  t.same(await states('stopped'), ['read'], 'the run that goes on has read it')

  await waits('superseded')
  plans.push({ error: { status: 404, type: 'model_not_found', message: 'no such model' } })
  const message = { role: 'user', parts: [{ type: 'text', text: 'not answered' }] }
  await app.inject({ method: 'POST', url: '/run?protocol=ui', payload: { id: 'superseded', message } })
  t.same(await states('superseded'), ['unread'], 'a step that says nothing has read nothing')
  await post(app, '/run/sync', { id: 'superseded', message: said('something else') })
  t.same(inShort(prompt).filter((line) => /left|else/.test(line)), ['> left', '> something else'])
  t.same(await states('superseded'), ['read'], 'the model has got it with the conversation')

  await waits('said-again')
  await post(app, '/run/said-again/stop')
  await post(app, '/run/sync', { id: 'said-again', message: said('left, then straight on') })
  t.same(inShort(prompt).filter((line) => /left/.test(line)), ['> left, then straight on'], 'who says it again says it once')
  t.same(await states('said-again'), [])

  await waits('said-otherwise')
  const { id } = await post(app, '/run/said-otherwise/steer', { message: 'right' })
  await post(app, '/run/said-otherwise/stop')
  const [first] = (await thread('said-otherwise')).filter(({ steer }) => steer)
  t.not(first.id, id)
  await post(app, '/run/sync', { id: 'said-otherwise', message: { ...said('straight on'), id: first.id } })
  t.same(inShort(prompt).filter((line) => /left|right|on$/.test(line)), ['> straight on'], 'in place of all that was unread')
  t.same(inShort(await thread('said-otherwise')).slice(-2), ['> straight on', 'Yes.'])

  await waits('another-answer')
  await post(app, '/run/another-answer/stop')
  await post(app, '/run/sync', { id: 'another-answer', messages: [said('go')], trigger: 'regenerate-message' })
  t.same(inShort(prompt), ['> go', '> left'], 'another answer hears it')
  t.same(inShort(await thread('another-answer')), ['> go', '> left', 'Yes.'])
  t.same(await states('another-answer'), ['read'])
})
