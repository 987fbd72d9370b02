import { readFile } from 'node:fs/promises'
import { Type, type TSchema } from '@sinclair/typebox'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { lazyCompilers } from '../../plugins/core/compilers.ts'
import errors from '../../plugins/core/errors.ts'
import routeTable from '../../plugins/core/route-table.ts'
import { defineError } from '../../services/lib/service-error.ts'
import { ERROR_STATUS } from '../../schemas/error-codes.ts'
import { NOT_BLANK } from '../../schemas/ids.ts'
import { projectFiles, textOf } from '../harness/source-tree.ts'

async function serviceThat (t: Test, fails: () => unknown) {
  const logged: string[] = []
  const app = Fastify({
    logger: {
      level: 'error',
      stream: {
        write: (line) => {
          logged.push(line)
        }
      }
    },
    schemaController: { compilersFactory: lazyCompilers() }
  })
  t.teardown(() => app.close())
  await app.register(routeTable)
  await app.register(errors)
  app.get('/', async () => fails())
  return { app, logged }
}

t.test('an error of ours is answered as it is', async (t) => {
  const { app, logged } = await serviceThat(t, () => {
    throw new (defineError('ERR_TASK_STATE', 'Task "%s" is running.'))('x')
  })
  const answer = await app.inject('/')
  t.equal(answer.statusCode, 409)
  t.same(answer.json(), { error: 'Task "x" is running.', code: 'ERR_TASK_STATE', statusCode: 409 })
  t.same(logged, [])
})

const foreign: Array<[string, () => unknown]> = [
  ['a bug', () => {
    throw new TypeError('secret detail')
  }],
  ['an error of the file system', () => readFile('/secret/detail')],
  ["an error of Node's", () => {
    throw Object.assign(new Error('secret detail'), { code: 'ERR_INVALID_ARG_TYPE' })
  }],
  ['an error of a provider, with a status of its own', () => {
    throw Object.assign(new Error('secret detail'), { statusCode: 401 })
  }],
  ['what is no error', () => {
    // eslint-disable-next-line no-throw-literal
    throw 'secret detail'
  }]
]
for (const [what, fails] of foreign) {
  t.test(`${what} is answered without a word of it, and is logged`, async (t) => {
    const { app, logged } = await serviceThat(t, fails)
    const answer = await app.inject('/')
    t.equal(answer.statusCode, 500)
    t.same(answer.json(), { error: 'Something went wrong inside the service; its log says more.', code: 'ERR_INTERNAL', statusCode: 500 })
    t.match(logged.join(''), /secret/)
  })
}

/** What a body of that schema is answered with. */
async function saidOf (t: Test, schema: TSchema, payload: unknown) {
  const { app } = await serviceThat(t, () => {})
  app.post('/', { schema: { body: schema } }, async () => ({}))
  const answer = await app.inject({
    method: 'POST',
    url: '/',
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(payload)
  })
  const { error, code, details } = answer.json()
  t.match([answer.statusCode, code], [400, 'ERR_INVALID_REQUEST'])
  return { error, details }
}

const Fact = Type.Object({ fact: Type.String({ minLength: 1 }), notes: Type.Optional(Type.String()) }, { additionalProperties: false })
const Mode = Type.Object({ mode: Type.Union(['always', 'first_n', 'never'].map((mode) => Type.Literal(mode))) })
const Either = Type.Object({ item: Type.Union([Type.String(), Type.Object({ deep: Type.Object({ n: Type.Integer() }) })]) })
const Name = Type.Object({ name: Type.String({ pattern: '^[a-z]+$', description: 'Lower-case letters' }) })

const Lone = Type.Record(Type.String(), Type.String(), { maxProperties: 1 })
const Goal = Type.Object({ goal: Type.String({ ...NOT_BLANK, description: 'The goal' }) })
const Names = Type.Union([
  Type.Object({ names: Type.Object({}, { propertyNames: { pattern: '^[a-z]+$', description: 'Lower-case letters' } }) }),
  Type.Object({ other: Type.String() })
])

const Ending = Type.Object({ endsAt: Type.Integer({ description: 'Milliseconds since the Unix epoch; 0 for none' }) })

const invalid: Array<[string, TSchema, unknown, string, { path: string, message: string }]> = [
  [
    'an unknown field, with the allowed ones',
    Fact,
    { fact: 'x', colour: 1 },
    'body has the unknown field "colour"; allowed are fact, notes.',
    { path: '/', message: 'has the unknown field "colour"; allowed are fact, notes' }
  ],
  ['a missing field', Fact, {}, 'body needs the field "fact".', { path: '/', message: 'needs the field "fact"' }],
  ['another type, taken literally', Fact, { fact: 5 }, 'body.fact must be string.', { path: '/fact', message: 'must be string' }],
  ['a value outside a list, with the list', Mode, { mode: 'x' }, 'body.mode must be one of always, first_n, never.', {
    path: '/mode',
    message: 'must be one of always, first_n, never'
  }],
  ['a list that got another type', Mode, { mode: 5 }, 'body.mode must be one of always, first_n, never.', {
    path: '/mode',
    message: 'must be one of always, first_n, never'
  }],
  ['the form that was meant', Either, { item: { deep: { n: 'x' } } }, 'body.item.deep.n must be integer.', {
    path: '/item/deep/n',
    message: 'must be integer'
  }],
  [
    'a time in another notation, with its milliseconds',
    Ending,
    { endsAt: '2026-12-24T09:00:00Z' },
    'body.endsAt must be integer, in milliseconds since the Unix epoch: 1798102800000 for "2026-12-24T09:00:00Z".',
    { path: '/endsAt', message: 'must be integer, in milliseconds since the Unix epoch: 1798102800000 for "2026-12-24T09:00:00Z"' }
  ],
  ['none of the forms', Either, { item: 5 }, 'body.item has none of the allowed forms.', {
    path: '/item',
    message: 'has none of the allowed forms'
  }],
  ['a pattern, in words', Name, { name: 'X' }, 'body.name must be lower-case letters.', {
    path: '/name',
    message: 'must be lower-case letters'
  }],
  ['a blank text', Goal, { goal: ' ' }, 'body.goal must not be blank.', {
    path: '/goal',
    message: 'must not be blank'
  }],
  ['a field name, in one of two forms', Names, { names: { X: 1 } }, 'body.names has the name "X", which must be lower-case letters.', {
    path: '/names',
    message: 'has the name "X", which must be lower-case letters'
  }],
  ['too many fields', Lone, { a: 'b', c: 'd' }, 'body must have at most 1 field.', {
    path: '/',
    message: 'must have at most 1 field'
  }],
  [
    'too few entries',
    Type.Object({ list: Type.Array(Type.String(), { minItems: 2 }) }),
    { list: [] },
    'body.list needs at least 2 entries.',
    { path: '/list', message: 'needs at least 2 entries' }
  ]
]
for (const [what, schema, payload, error, detail] of invalid) {
  t.test(`an invalid body is told: ${what}`, async (t) => {
    t.same(await saidOf(t, schema, payload), { error, details: [detail] })
  })
}

const sources = projectFiles().filter((path) => /^(?:app|(?:services|plugins|routes|workers)\/.*)\.ts$/.test(path)).map(textOf)
const found = (pattern: RegExp, texts: string[]) => texts.flatMap((text) => [...text.matchAll(pattern)].map(([, ...groups]) => groups))

t.test('every code of the table belongs to an error of the service', async (t) => {
  const named = new Set(found(/'(ERR_[A-Z_]+)'/g, sources).flat())
  t.same(Object.keys(ERROR_STATUS).filter((code) => !named.has(code)), [])
})

t.test('every error that the service defines has a status', async (t) => {
  const defined = found(/(?:defineError|new ServiceError|body|kind)\(\s*'(ERR_[A-Z_]+)'/g, sources).flat()
  t.ok(defined.length > 70)
  t.same(defined.filter((code) => !Object.hasOwn(ERROR_STATUS, code)), [])
})

t.test('the docs name codes that exist, beside their own status', async (t) => {
  const docs = projectFiles().filter((path) => /^(?:README|docs\/.*)\.md$/.test(path)).map(textOf)
  const codes: Record<string, number | undefined> = ERROR_STATUS
  t.same(found(/`(ERR_[A-Z_]+)`/g, docs).flat().filter((code) => codes[code] === undefined), [])
  const beside = found(/\b([45]\d\d),? `(ERR_[A-Z_]+)`/g, docs)
  t.ok(beside.length > 3)
  t.same(beside.filter(([status, code]) => codes[code] !== Number(status)), [])
})
