import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { FORMATS } from '../../schemas/formats.ts'
import { build } from '../harness/helper.ts'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

/** What dialects of regular expressions lack or read differently, with the dialect. */
const FORBIDDEN: Array<[RegExp, string]> = [
  [/\\[pP]/, 'a class of Unicode: other letters without the flag u, unknown to Python'],
  [/\\[dDwWsSbB]/, 'a class that Python and JavaScript extend beyond ASCII'],
  [/\(\?[=!<]/, 'look-around: unknown to RE2'],
  [/\\[1-9]|\\k/, 'a reference: unknown to RE2'],
  [/\\u|\\c|\\[AzZ]/, 'an escape that RE2 or JavaScript lacks'],
  [/\[[^\]]*(?<!\\)[/({|})-]\]|\[[^\]]*(?<!\\)[/({|})]/, 'punctuation in a class without a backslash: an error with the flag v'],
  [/[^\0-\x7f]/, 'a character outside of ASCII: two of them without the flag u']
]

/** The patterns of schemas and of the names of fields, with their places. */
function patternsOf (value: any, place = '#', found = new Map<string, string>()): Map<string, string> {
  if (typeof value !== 'object' || value === null) return found
  if (typeof value.pattern === 'string' && !place.includes('/examples')) found.set(value.pattern, place)
  for (const name of Object.keys(value.patternProperties ?? {})) found.set(name, `${place}/patternProperties`)
  for (const [key, each] of Object.entries(value)) patternsOf(each, `${place}/${key}`, found)
  return found
}
const patterns = patternsOf(document)

t.test('every pattern of the document is a regular expression in JavaScript with and without flags, and in Python', async (t) => {
  t.ok(patterns.size >= 8)
  for (const [pattern, place] of patterns) {
    for (const flags of ['', 'u', 'v']) t.doesNotThrow(() => new RegExp(pattern, flags), `${place}: ${pattern} with "${flags}"`)
    for (const [construct, why] of FORBIDDEN) t.notMatch(pattern, construct, `${place}: ${why}`)
  }
  const program = 'import json, re, sys\nfor each in json.load(sys.stdin): re.compile(each)'
  t.doesNotThrow(() => execFileSync('python3', ['-W', 'error', '-c', program], { input: JSON.stringify([...patterns.keys()]) }))
})

t.test('the formats of the document are those that the service checks, and binary', async (t) => {
  const formats = new Set<string>()
  JSON.stringify(document, (key, value) => {
    if (key === 'format' && typeof value === 'string') formats.add(value)
    return ['example', 'examples'].includes(key) ? undefined : value
  })
  t.same([...formats].sort(), ['binary', ...Object.keys(FORMATS)].sort())
})

t.test('the service refuses what the portable pattern of an id cannot say', async (t) => {
  const app = await build(t)
  const named = (id: string) => app.inject({ method: 'POST', url: '/threads', payload: { id } })
  for (const id of ['a', '\u{1f600}'.repeat(128), 'Zoë’s chat', 'x '.repeat(64)]) t.equal((await named(id)).statusCode, 201, id)
  for (const id of ['', 'a/b', 'a\nb', 'a\u0085', '\ud800', 'x'.repeat(129), '\u{1f600}'.repeat(129)]) {
    t.match((await named(id)).json(), { statusCode: 400, code: 'ERR_INVALID_REQUEST' }, JSON.stringify(id))
  }
  t.match((await named('\udc00x')).json(), { error: 'body.id must be up to 128 printable characters without "/".' })
  for (const goal of [' \t\n', '\u3000\u00a0']) {
    t.equal((await app.inject({ method: 'POST', url: '/tasks', payload: { goal } })).statusCode, 400)
  }
})
