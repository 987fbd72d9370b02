import fc from 'fast-check'
import t from 'tap'
import type { AppTool, RunOptions } from '../../../schemas/run-options.ts'
import { resolveOptions } from '../../../services/runs/options/resolve-options.ts'
import { matchesTool, type NamedTool } from '../../../services/runs/options/tool-patterns.ts'

const tool = (name: string): AppTool => ({ name, description: name, inputSchema: { type: 'object' }, effect: 'read' })
const object = (title: string) => ({ schema: { type: 'object', title } })

// The layers are agent, conversation and request.
const TABLE: Array<[sentence: string, layers: RunOptions[], resolved: RunOptions | RegExp]> = [
  ['nothing is set', [{}, {}, {}], {}],
  ['one layer is left as it is', [{}, { model: 'a/b', budget: { usd: 1 } }], { model: 'a/b', budget: { usd: 1 } }],
  ['the nearest agent counts', [{ agent: 'wide' }, { agent: 'near' }, {}], { agent: 'near' }],
  ['the nearest model, effort and application count', [
    { model: 'a/a', effort: 'low', app: 'a' },
    { model: 'b/b', app: 'b' },
    { model: 'c/c' }
  ], { model: 'c/c', effort: 'low', app: 'b' }],
  ['the nearest object counts', [{ object: object('a') }, { object: object('b') }, {}], { object: object('b') }],
  ['the nearest number of steps counts, also when it is greater', [{ maxSteps: 5 }, {}, { maxSteps: 9 }], { maxSteps: 9 }],
  ['instructions of all are told, the widest first', [
    { instructions: 'Be brief.' },
    { instructions: 'Of Lisbon.' },
    { instructions: 'In French.' }
  ], { instructions: 'Be brief.\n\nOf Lisbon.\n\nIn French.' }],
  ['only tools that all allow are left', [
    { allowTools: ['a', 'b', 'c'] },
    {},
    { allowTools: ['c', 'd', 'b'] }
  ], { allowTools: ['b', 'c'] }],
  ['two lists without a common tool leave none', [{ allowTools: ['a'] }, { allowTools: ['b'] }], { allowTools: [] }],
  ['a tool of a server is the same by either name', [
    { allowTools: ['find', 'a'] },
    { allowTools: ['books_find'] }
  ], { allowTools: ['find'] }],
  ['denials add up', [{ denyTools: ['a', 'b'] }, { denyTools: ['b', 'c'] }], { denyTools: ['a', 'b', 'c'] }],
  ['of each limit the least counts', [
    { budget: { usd: 1, tokens: 900 }, maxOutputTokens: 50 },
    { budget: { usd: 2, minutes: 4 }, maxOutputTokens: 70 },
    { budget: { tokens: 800, minutes: 5 } }
  ], { budget: { usd: 1, tokens: 800, minutes: 4 }, maxOutputTokens: 50 }],
  ['the strictest box counts', [{ sandbox: 'required' }, {}, { sandbox: 'auto' }], { sandbox: 'required' }],
  ['a person is there only if nobody says otherwise', [{ interactive: false }, {}, { interactive: true }], { interactive: false }],
  ['a person is there if one says so', [{}, {}, { interactive: true }], { interactive: true }],
  ['tools of applications come together', [{ appTools: [tool('a')] }, { appTools: [tool('b')] }], { appTools: [tool('a'), tool('b')] }],
  ['a tool of two layers is refused', [{ appTools: [tool('cart')] }, {}, { appTools: [tool('Cart')] }], /"Cart" is of two of the agent/],
  [
    'more instructions than a run may have are refused',
    [{ instructions: 'x'.repeat(15_000) }, { instructions: 'y'.repeat(15_000) }],
    /instructions: .* have 30002 characters together; the limit is 20000/
  ],
  [
    'more tools than a run may have are refused',
    ['a', 'b'].map((first) => ({ appTools: Array.from({ length: 257 }, (_, n) => tool(`${first}${n}`)) })),
    /appTools: .* have 514 tools together; the limit is 512/
  ],
  [
    'more denials than a run may have are refused',
    ['a', 'b'].map((first) => ({ denyTools: Array.from({ length: 300 }, (_, n) => first + n) })),
    /denyTools: .* have 600 names together; the limit is 512/
  ]
]
/** The server `books` has a tool `find`. */
const otherNames = (name: string) => name === 'find' ? ['books_find'] : name === 'books_find' ? ['find'] : []

for (const [sentence, layers, resolved] of TABLE) {
  t.test(sentence, async (t) => {
    if (resolved instanceof RegExp) t.throws(() => resolveOptions(layers, otherNames), { code: 'ERR_INVALID_REQUEST', message: resolved })
    else t.strictSame(resolveOptions(layers, otherNames), resolved)
  })
}

const TOOLS = [{ name: 'a' }, { name: 'b' }, { name: 's_c', source: 's' }, { name: 's_d', source: 's' }, { name: 't_c', source: 't' }]
const serversOf = (name: string) => TOOLS.flatMap((tool) => tool.name === name ? tool.source ?? [] : [])
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 's_c', 't_c', 's_*', '*_c', 'server:s', 'server:t', 'server:*'), { maxLength: 4 })
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined })
const limit = fc.integer({ min: 1, max: 9 })
const layer: fc.Arbitrary<RunOptions> = fc.record({
  allowTools: names,
  denyTools: names,
  maxOutputTokens: limit,
  budget: fc.record({ usd: some(limit), tokens: some(limit), minutes: some(limit) }),
  sandbox: fc.constantFrom('auto' as const, 'required' as const),
  interactive: fc.boolean(),
  instructions: fc.constantFrom('x', 'y', 'z'),
  model: fc.constantFrom('a/a', 'b/b')
}, { requiredKeys: [] })
const isLeft = ({ allowTools, denyTools = [] }: RunOptions, tool: NamedTool) =>
  (allowTools === undefined || allowTools.some((entry) => matchesTool(entry, tool))) && !denyTools.some((entry) => matchesTool(entry, tool))

t.test('what is resolved is never wider than a layer, and the same when layers are resolved one after the other', async () => {
  fc.assert(fc.property(fc.array(layer, { minLength: 1, maxLength: 5 }), fc.nat(4), (layers, at) => {
    const resolve = (all: RunOptions[]) => resolveOptions(all, undefined, serversOf)
    const resolved = resolve(layers)
    if (!TOOLS.every((tool) => isLeft(resolved, tool) === layers.every((each) => isLeft(each, tool)))) return false
    for (const each of layers) {
      for (const key of ['usd', 'tokens', 'minutes'] as const) {
        if (!((resolved.budget?.[key] ?? Infinity) <= (each.budget?.[key] ?? Infinity))) return false
      }
      if (!((resolved.maxOutputTokens ?? Infinity) <= (each.maxOutputTokens ?? Infinity))) return false
      if (each.sandbox === 'required' && resolved.sandbox !== 'required') return false
      if (each.interactive === false && resolved.interactive !== false) return false
      if (each.instructions !== undefined && !resolved.instructions?.includes(each.instructions)) return false
    }
    const cut = Math.min(at, layers.length)
    const inTwo = resolve([resolve(layers.slice(0, cut)), resolve(layers.slice(cut))])
    const shown = (options: RunOptions) => JSON.stringify({ ...options, allowTools: options.allowTools?.toSorted() })
    return shown(inTwo) === shown(resolved)
  }))
})
