import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { fitting, oddText, oddValue, spoiled } from './values.ts'

type Schema = Record<string, any>

/** A request, as it goes onto the wire. */
export interface Made {
  method: string
  path: string
  headers: Record<string, string>
  body?: Buffer
}

export interface Operation {
  /** `METHOD /path/{id}`. */
  name: string
  statuses: string[]
  /** Requests to it: right ones, and ones with something wrong anywhere. `ids` are those that answers have named. */
  requests(ids: () => string[]): fc.Arbitrary<Made>
  /** Requests that are right but for their body, which the schema refuses; undefined where there is none. */
  refused?: fc.Arbitrary<Made>
  /** What is wrong with a JSON answer; undefined when it is as documented. */
  wrongWith(status: number, body: unknown): string | undefined
}

/** Every operation that openapi.json describes, whoever added it. */
export function operations (): Operation[] {
  const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'document')
  const at = (...keys: string[]) =>
    `document#/${keys.map((each) => encodeURIComponent(each.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`
  const compile = (ref: string) => ajv.compile({ $ref: ref })
  const find = (ref: string): Schema =>
    ref.slice(2).split('/').reduce((value, each) => value[each.replaceAll('~1', '/').replaceAll('~0', '~')], document)
  const resolved = (value: Schema): Schema => value.$ref ? find(value.$ref) : value

  return Object.entries(document.paths as Schema).flatMap(([path, methods]) =>
    Object.entries(methods as Schema).map(([method, operation]): Operation => {
      const parameters: Schema[] = (operation.parameters ?? []).map(resolved)
      const body: Schema | undefined = operation.requestBody?.content?.['application/json']?.schema
      const right = body && fitting(body, find)
      const accepts = body && compile(at('paths', path, method, 'requestBody', 'content', 'application/json', 'schema'))
      const answers = new Map<string, ValidateFunction | undefined>()
      const make = (
        { path: given, query, headers, body }: { path: string, query: string, headers: Record<string, string>, body?: Buffer }
      ): Made => ({ method: method.toUpperCase(), path: query ? `${given}?${query}` : given, headers, body })

      return {
        name: `${method.toUpperCase()} ${path}`,
        statuses: Object.keys(operation.responses),
        requests: (ids) =>
          fc.record({
            path: filled(path, ids),
            query: queries(parameters.filter((each) => each.in === 'query'), find),
            headers: headers(),
            body: bodies(right, method)
          }).map(make),
        refused: right && accepts &&
          filled(path, () => []).chain((path) =>
            right.chain(spoiled).map((value) => value === undefined ? undefined : JSON.parse(JSON.stringify(value)))
              // Where a body may be left out, null is none.
              .filter((value) => value !== undefined && !accepts(value) && (value !== null || operation.requestBody.required))
              .map((value) =>
                make({ path, query: '', headers: { 'content-type': 'application/json' }, body: Buffer.from(JSON.stringify(value)) })
              )
          ),
        wrongWith (status, body) {
          const key = String(status)
          if (!answers.has(key)) {
            const schema = resolved(operation.responses[key] ?? {}).content?.['application/json']?.schema
            answers.set(
              key,
              !schema
                ? undefined
                : operation.responses[key].$ref
                  ? compile(`document${operation.responses[key].$ref}/content/application~1json/schema`)
                  : compile(at('paths', path, method, 'responses', key, 'content', 'application/json', 'schema'))
            )
          }
          const validate = answers.get(key)
          return validate && !validate(body) ? ajv.errorsText(validate.errors) : undefined
        }
      }
    })
  )
}

/** The path with something in each of its places: known ids, ids like those, and what is none. */
function filled (path: string, ids: () => string[]): fc.Arbitrary<string> {
  const encoded = oddText.map((text) => encodeURIComponent(text.toWellFormed()) || '-')
  const id = fc.oneof(
    fc.nat().map((n) => encodeURIComponent(ids()[n % Math.max(1, ids().length)] ?? 'nobody')),
    encoded.filter((text) => text.length < 12_000),
    fc.constantFrom(
      '..',
      '.',
      '%2e%2e',
      '%2f',
      '%5c',
      '%00',
      '%',
      '%zz',
      '%c0%af',
      '%ff',
      '%u0041',
      ';',
      ':id',
      '*',
      'x'.repeat(10_240),
      '%F0%9F%98%80'
    ),
    fc.uuid()
  )
  const parts = path.split('/')
  return fc.tuple(...parts.map((part) => part.startsWith('{') ? id : fc.constant(part))).map((each) => each.join('/'))
}

function queries (parameters: Schema[], find: (ref: string) => Schema): fc.Arbitrary<string> {
  if (parameters.length === 0) return fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: oddText.map(encode) })
  const one = fc.constantFrom(...parameters).chain(({ name, schema }) =>
    fc.oneof(fitting(schema, find), oddText).map((value) => `${name}=${encode(String(value))}`)
  )
  return fc.oneof(
    fc.constant(''),
    fc.array(one, { maxLength: 3 }).map((each) => each.join('&')),
    fc.constantFrom('__proto__=1', '&&&', '=', '%', 'limit[]=1', 'limit=1&limit=2')
  )
}

const encode = (text: string) => encodeURIComponent(text.toWellFormed()).slice(0, 4_000)

function headers (): fc.Arbitrary<Record<string, string>> {
  const type = fc.oneof({ weight: 12, arbitrary: fc.constant('application/json') }, {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json; charset=utf-16',
      'text/plain',
      ';',
      '',
      'multipart/form-data'
    )
  })
  const latin = fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).filter((code) => code !== 0x7f).map((code) => String.fromCharCode(code)),
    maxLength: 60
  })
  const more = fc.dictionary(
    fc.constantFrom(
      'accept',
      'accept-encoding',
      'content-encoding',
      'idempotency-key',
      'if-none-match',
      'range',
      'cookie',
      'x-forwarded-host',
      'x-http-method-override',
      'last-event-id',
      'forwarded'
    ),
    latin,
    { maxKeys: 2 }
  )
  return fc.tuple(type, fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: more })).map(([type, rest]) => ({
    'content-type': type,
    ...rest
  }))
}

function bodies (right: fc.Arbitrary<unknown> | undefined, method: string): fc.Arbitrary<Buffer | undefined> {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '')
  const raw = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.constantFrom(
      '{',
      '[1,]',
      '{"a":1,"a":2}',
      '\ufeff{}',
      '{"__proto__":{}}',
      '{"constructor":{"prototype":{"x":1}}}',
      '"\\ud800"',
      '1e999',
      'nul',
      '{}{}',
      "{'a':1}",
      '['.repeat(70) + ']'.repeat(70),
      '\0',
      '{"a":\u0000}',
      '// c\n{}',
      'NaN'
    ).map((text) => Buffer.from(text)),
    fc.constantFrom(Buffer.from([0x22, 0xff, 0x22]), Buffer.from('{"a":"é"}', 'latin1'), Buffer.from('{}', 'utf16le'))
  )
  if (right === undefined) {
    return method === 'get'
      ? fc.constant(undefined)
      : fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.oneof(oddValue.map(json), raw) })
  }
  return fc.oneof(
    { weight: 4, arbitrary: right.map(json) },
    { weight: 4, arbitrary: right.chain(spoiled).map(json) },
    { weight: 1, arbitrary: oddValue.map(json) },
    { weight: 1, arbitrary: raw },
    { weight: 1, arbitrary: fc.constant(undefined) }
  )
}
