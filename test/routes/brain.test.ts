import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { memoryOf } from '../harness/brain.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'

const call = async (app: App, method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => {
  const answer = await app.inject({ method, url, payload })
  return { status: answer.statusCode, body: answer.json() }
}
const recall = (app: App) => call(app, 'GET', '/memory/brain').then(({ body }) => body)
const learn = (app: App, fact: unknown) => call(app, 'POST', '/memory/brain/fact', { fact })
const forget = (app: App, fact: unknown) => call(app, 'DELETE', '/memory/brain/fact', { fact })
const prefer = (app: App, key: unknown, value: unknown) => call(app, 'POST', '/memory/brain/pref', { key, value })

/** The service with a brain that holds `facts` and `preferences` from the start. */
async function remembering (t: Test, brain: Parameters<typeof memoryOf>[0]) {
  const app = await build(t)
  await app.store.record<object>('brain', () => ({})).update(() => memoryOf(brain))
  return app
}

t.test('a new brain is empty, whole, and adds nothing to a prompt', async (t) => {
  t.strictSame(await recall(await build(t)), { brain: { facts: [], preferences: {}, patterns: [], updatedAt: 0 }, contextPreview: '' })
})

t.test('facts are learned and removed, preferences set and overwritten, everything cleared', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const empty = { facts: [], preferences: {}, patterns: [] }
  t.strictSame(await learn(app, 'Likes tea'), {
    status: 200,
    body: { status: 'learned', brain: { ...empty, facts: ['Likes tea'], updatedAt: clock.now() } }
  })
  await learn(app, 'Lives in Bremen')
  t.strictSame(await prefer(app, 'theme', 'light'), {
    status: 200,
    body: {
      status: 'set',
      brain: { ...empty, facts: ['Likes tea', 'Lives in Bremen'], preferences: { theme: 'light' }, updatedAt: clock.now() }
    }
  })
  t.strictSame((await prefer(app, 'theme', 'dark')).body.brain.preferences, { theme: 'dark' })
  t.strictSame(await forget(app, 'Likes tea'), {
    status: 200,
    body: { status: 'removed', brain: { ...empty, facts: ['Lives in Bremen'], preferences: { theme: 'dark' }, updatedAt: clock.now() } }
  })
  t.strictSame(await recall(app), {
    brain: { facts: ['Lives in Bremen'], preferences: { theme: 'dark' }, patterns: [], updatedAt: clock.now() },
    contextPreview: '## Known facts\n- Lives in Bremen\n\n## Preferences\n- theme: dark'
  })
  t.strictSame(await call(app, 'DELETE', '/memory/brain'), { status: 200, body: { status: 'cleared' } })
  t.strictSame(await recall(app), { brain: { ...empty, updatedAt: clock.now() }, contextPreview: '' })
})

t.test('forgetting a fact that is not stored answers 404 and changes nothing', async (t) => {
  const app = await build(t)
  await learn(app, 'Prefers tea')
  for (const other of ['prefers coffee', 'prefers tea', 'Prefers te']) {
    t.match(
      await forget(app, other),
      { status: 404, body: { error: /No stored fact/, code: 'ERR_FACT_NOT_FOUND', statusCode: 404 } },
      other
    )
  }
  t.same((await recall(app)).brain.facts, ['Prefers tea'])
})

t.test('only the fact that was given is forgotten', async (t) => {
  const app = await remembering(t, { facts: ['one', 'two', 'three'] })
  t.same((await forget(app, 'two')).body.brain.facts, ['one', 'three'])
})

t.test('a fact is kept trimmed and composed, and forgotten however it is padded or composed', async (t) => {
  const app = await build(t)
  t.same((await learn(app, '  Owns a cafe\u0301\n')).body.brain.facts, ['Owns a café'])
  t.same((await forget(app, '\tOwns a cafe\u0301 ')).body.brain.facts, [])
})

t.test('a fact known in another case is learned without a double, as it was first said', async (t) => {
  const app = await build(t)
  await learn(app, 'Lives in MÜNCHEN')
  t.match(await learn(app, ' lives in mu\u0308nchen '), {
    status: 200,
    body: { status: 'learned', brain: { facts: ['Lives in MÜNCHEN'] } }
  })
  t.same((await recall(app)).brain.facts, ['Lives in MÜNCHEN'])
})

t.test('only what changes something changes the time', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const timeAfter = async (change: () => Promise<unknown>) => {
    await clock.advance(1_000)
    await change()
    return (await recall(app)).brain.updatedAt === clock.now()
  }
  t.notOk(await timeAfter(() => call(app, 'DELETE', '/memory/brain')), 'cleared while empty')
  t.ok(await timeAfter(() => learn(app, 'Likes tea')), 'learned')
  t.notOk(await timeAfter(() => learn(app, 'likes TEA')), 'learned again')
  t.ok(await timeAfter(() => prefer(app, 'theme', 'dark')), 'set')
  t.notOk(await timeAfter(() => prefer(app, 'theme', 'dark')), 'set to the same')
  t.ok(await timeAfter(() => prefer(app, 'theme', 'light')), 'overwritten')
  t.notOk(await timeAfter(() => forget(app, 'Likes coffee')), 'not found')
  t.notOk(await timeAfter(() => learn(app, '')), 'refused')
  t.ok(await timeAfter(() => forget(app, 'Likes tea')), 'forgotten')
  t.ok(await timeAfter(() => call(app, 'DELETE', '/memory/brain')), 'cleared')
})

t.test('facts have 1 to 2,000 characters after trimming', async (t) => {
  const app = await build(t)
  for (const fact of ['x', ` ${'😀'.repeat(2_000)} `]) t.equal((await learn(app, fact)).status, 200)
  for (const fact of ['', ' \n ', 'x'.repeat(2_001)]) {
    for (const change of [learn, forget]) {
      t.match(await change(app, fact), {
        status: 400,
        body: { error: /body\.fact must have 1 to 2000 characters/, code: 'ERR_INVALID_REQUEST', statusCode: 400 }
      })
    }
  }
  t.equal((await recall(app)).brain.facts.length, 2)
})

t.test('keys have 1 to 200 characters after trimming, values up to 2,000, kept as they are', async (t) => {
  const app = await build(t)
  t.same((await prefer(app, ` ${'k'.repeat(200)}\n`, `  ${'v'.repeat(1_998)}`)).body.brain.preferences, {
    ['k'.repeat(200)]: `  ${'v'.repeat(1_998)}`
  })
  t.equal((await prefer(app, 'empty', '')).body.brain.preferences.empty, '')
  for (const key of ['', ' ', 'k'.repeat(201)]) {
    t.match(await prefer(app, key, 'v'), { status: 400, body: { error: /body\.key must have 1 to 200 characters/ } })
  }
  t.match(await prefer(app, 'k', 'v'.repeat(2_001)), { status: 400, body: { error: /body\.value .*2000/, details: [{ path: '/value' }] } })
  t.equal(Object.keys((await recall(app)).brain.preferences).length, 2)
})

t.test('bodies that are not what is documented are refused, with the field and the allowed names', async (t) => {
  const app = await build(t)
  for (const fact of [undefined, null, 5, ['x'], {}]) {
    t.match(await learn(app, fact), { status: 400, body: { error: /fact/, details: [{ message: String }] } })
    t.match(await forget(app, fact), { status: 400, body: { error: /fact/ } })
  }
  for (const [key, value] of [['k', 5], ['k', undefined], [undefined, 'v'], [null, 'v']]) {
    t.match(await prefer(app, key, value), { status: 400, body: { error: /key|value/ } })
  }
  t.match(await call(app, 'POST', '/memory/brain/fact', { fact: 'x', facts: [] }), {
    status: 400,
    body: { error: /unknown field "facts"; allowed are fact/ }
  })
  t.match(await call(app, 'POST', '/memory/brain/pref', { key: 'k', value: 'v', other: 1 }), {
    status: 400,
    body: { error: /unknown field "other"; allowed are key, value/ }
  })
  t.match(await call(app, 'POST', '/memory/brain/fact'), { status: 400, body: { error: /body is missing/ } })
  t.equal((await recall(app)).brain.updatedAt, 0)
})

t.test('beyond 1,000 facts a new one is a 409 that says what to do; a known one is still learned', async (t) => {
  const facts = Array.from({ length: 999 }, (_, i) => `fact ${i}`)
  const app = await remembering(t, { facts })
  t.equal((await learn(app, 'the last one')).status, 200)
  t.match(await learn(app, 'one more'), {
    status: 409,
    body: { error: /DELETE \/memory\/brain\/fact/, code: 'ERR_TOO_MANY_FACTS', statusCode: 409 }
  })
  t.equal((await learn(app, 'FACT 7')).status, 200)
  t.equal((await recall(app)).brain.facts.length, 1_000)
  await forget(app, 'fact 7')
  t.equal((await learn(app, 'one more')).status, 200)
})

t.test('beyond 1,000 preferences a new key is a 409; a known one is overwritten', async (t) => {
  const app = await remembering(t, { preferences: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`key ${i}`, 'v'])) })
  for (const key of ['one more', 'toString']) {
    t.match(await prefer(app, key, 'v'), {
      status: 409,
      body: { error: /DELETE \/memory\/brain/, code: 'ERR_TOO_MANY_PREFERENCES', statusCode: 409 }
    })
  }
  t.equal((await prefer(app, 'key 7', 'w')).body.brain.preferences['key 7'], 'w')
})

t.test('names that every object has are keys like any other', async (t) => {
  const app = await build(t)
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'length', '7', 'two\nlines']
  for (const name of names) {
    t.equal((await prefer(app, name, `first ${name}`)).status, 200, name)
    t.equal((await prefer(app, name, `my ${name}`)).status, 200, name)
  }
  await app.close()
  const { brain, contextPreview } = await recall(await build(t, { home: (app as any).home, cwd: (app as any).cwd }))
  t.strictSame(Object.entries(brain.preferences).sort(), names.map((name) => [name, `my ${name}`]).sort())
  for (const name of names.slice(0, -1)) t.match(contextPreview, `\n- ${name}: my ${name}`)
  t.match(contextPreview, '\n- two lines: my two lines')
  t.equal(({} as any).my, undefined)
})

t.test('`__proto__` as a key of a body itself is refused', async (t) => {
  const app = await build(t)
  const answer = await app.inject({
    method: 'POST',
    url: '/memory/brain/pref',
    headers: { 'content-type': 'application/json' },
    payload: '{"key":"k","value":"v","__proto__":{"value":"w"}}'
  })
  t.match([answer.statusCode, answer.json().error], [400, /__proto__/])
})
