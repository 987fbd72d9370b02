import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { ERROR_STATUS } from '../../schemas/error-codes.ts'
import { FORMATS } from '../../schemas/formats.ts'
import { generateClient } from '../../scripts/openapi/client.ts'
import { makeDocument, textOf } from '../../scripts/openapi/document.ts'
import { pythonFiles } from '../../scripts/openapi/python/python-client.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')

const { document, narrow, endpoints } = await makeDocument()
const operations = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
  Object.entries<any>(methods).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, path, method, operation }))
)

t.test('openapi.json and the clients are what the schemas say; "npm run openapi" refreshes them', async (t) => {
  t.ok(read('openapi.json') === textOf(document), 'openapi.json')
  const dir = t.testdir({})
  await generateClient(narrow, dir)
  for (const file of ['types.gen.ts', 'sdk.gen.ts', 'index.ts', 'client/client.gen.ts']) {
    t.ok(read(`client/generated/${file}`) === readFileSync(`${dir}/${file}`, 'utf8'), file)
  }
  const source = 'clients/python/src/local_agent/'
  const made = pythonFiles(document, `${fileURLToPath(root)}${source}`)
  for (const [file, text] of Object.entries(made)) t.ok(read(source + file) === text, file)
})

t.test('every route is in the document, and nothing else is', async (t) => {
  t.same(operations.map(({ name }) => name.replace(/\{(\w+)\}/g, ':$1')).sort(), endpoints.toSorted())
})

/** Returns the operations that a page names as `GET /path` and the document lacks; a parameter may have any name. */
function unknownOperations (text: string): string[] {
  const plain = (operation: string) => operation.replaceAll(/:\w+|\{\w+\}/g, ':')
  const known = new Set(endpoints.map(plain))
  const named = [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE)\s+(\/[\w/:.{}-]*)/g)].map(([, method, path]) => `${method} ${path}`)
  return named.filter((operation) => !known.has(plain(operation.replace(/\.$/, ''))))
}

t.test('the pages name operations and events that there are', async (t) => {
  const pages = ['README.md', ...readdirSync(new URL('docs', root)).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)]
  t.same(pages.flatMap((page) => unknownOperations(read(page)).map((operation) => `${page}: ${operation}`)), [])
  t.same(unknownOperations('`GET /gone`, `PUT /health`, `GET /runs/{runId}`, `POST /run/:id/stop`.'), ['GET /gone', 'PUT /health'])

  const table = read('docs/api.md').split('### Events of a run')[1].split('\n## ')[0]
  const named = [...table.matchAll(/^\| (`.+?) \|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`([\w-]+)`/g)].map(([, type]) => type))
  const types = Object.keys(document.components.schemas.RunStreamEvent.discriminator.mapping)
  t.ok(named.length > 20)
  t.same(named.filter((type) => !types.includes(type)), [])
})

t.test('every $ref resolves', async (t) => {
  const broken: string[] = []
  walk(document, ({ $ref }) => {
    if (typeof $ref !== 'string') return
    const target = $ref.split('/').slice(1).reduce((found, key) => found?.[key], document)
    if (!$ref.startsWith('#/components/') || target === undefined) broken.push($ref)
  })
  t.same(broken, [])
})

t.test('every operation says what it is, what it takes and what it answers', async (t) => {
  const ids = operations.map(({ operation }) => operation.operationId)
  t.same(ids.filter((id, at) => ids.indexOf(id) !== at), [], 'ids are unique')
  const tags = document.tags.map(({ name }: { name: string }) => name)
  for (const { name, path, method, operation } of operations) {
    t.match(operation, { operationId: /^[a-z]+[A-Za-z]*$/, summary: /^[A-Z].+[^.]$/, tags: [String], description: /^.+\.$/s }, name)
    t.ok(operation.tags.every((tag: string) => tags.includes(tag)), `${name}: its tags are described`)
    t.same(
      operation.parameters?.filter((each: any) => each.in === 'path').map((each: any) => each.name) ?? [],
      [...path.matchAll(/\{(\w+)\}/g)].map(([, each]) => each),
      `${name}: its path's parameters`
    )
    t.ok(Object.keys(operation.responses).some((status) => status.startsWith('2')), `${name}: an answer`)
    for (const [status, response] of Object.entries<any>(operation.responses)) {
      const { description, content = {} } = response.$ref ? document.components.responses[response.$ref.split('/').at(-1)] : response
      t.ok(
        status === '204' || (description && !['Default Response', 'OK', 'Nothing'].includes(description)),
        `${name} ${status}: a description`
      )
      if (status < '400' || (name === 'GET /ready' && status === '503')) continue
      const shape = path.startsWith('/v1/') ? 'ChatError' : 'Error'
      t.same(content['application/json']?.schema, { $ref: `#/components/schemas/${shape}` }, `${name} ${status}: an error`)
    }
    const own = ['400', '403', '500', ...method === 'get' ? [] : ['413', '415']]
    t.same(own.filter((status) => operation.responses[status] === undefined), [], `${name}: what the gate refuses`)
    t.equal(operation.security.length === 0, operation.responses[401] === undefined, `${name}: 401 where a token is asked for`)
  }
})

t.test('the document lists every error code', async (t) => {
  t.same(document.components.schemas.Error.properties.code.examples, Object.keys(ERROR_STATUS))
})

t.test('the components that the interface names are there, and each of ours has an example that fits it', async (t) => {
  const { schemas, securitySchemes } = document.components
  for (const name of ['Brain', 'Error', 'Approval', 'RunResult', 'RunStreamEvent', 'ToolApprovalRequestEvent']) t.ok(schemas[name], name)
  t.match(securitySchemes.token, { type: 'http', scheme: 'bearer' })
  const ajv = new Ajv2020({ strict: false, formats: FORMATS })
  ajv.addSchema(document, 'document')
  for (const [name, schema] of Object.entries<any>(schemas)) {
    const fits = ajv.getSchema(`document#/components/schemas/${name}`)!
    if (!schema.oneOf) t.ok(schema.examples?.length > 0, `${name} has an example`)
    for (const example of schema.examples ?? []) t.ok(fits(example), `${name}: ${ajv.errorsText(fits.errors)}`)
  }
  for (const [name, { content }] of Object.entries<any>(document.components.responses)) {
    t.ok(ajv.getSchema('document#/components/schemas/Error')!(content['application/json'].example), name)
  }
})

/** Returns the examples of the bodies that an operation takes. */
function bodiesOf ({ requestBody }: any): unknown[] {
  return Object.values<any>(requestBody?.content ?? {}).flatMap(({ schema, example, examples = {} }) => {
    const { examples: ofSchema = [] } = schema.$ref ? document.components.schemas[schema.$ref.split('/').at(-1)] : schema
    const named = Object.values<any>(examples).map((each) => each.value ?? each)
    return [...ofSchema, ...named, ...example === undefined ? [] : [example]]
  })
}

t.test('examples of requests start no program, name no folder that is there, call no other computer and give no key', async (t) => {
  const wrong: string[] = []
  let examples = 0
  for (const { name, operation } of operations) {
    for (const body of bodiesOf(operation)) {
      examples++
      // The input of a grant is a rule for calls, and none of them.
      walk(name === 'POST /grants' ? {} : body, ({ command, cwd, keys, gateway_key: gatewayKey, start }) => {
        if (command !== undefined && !command.startsWith('/opt/example/')) wrong.push(`${name} starts ${command}`)
        if (cwd !== undefined && existsSync(cwd)) wrong.push(`${name} works in ${cwd}`)
        if (keys ?? gatewayKey) wrong.push(`${name} gives a key, which the next requests use`)
        if (start) wrong.push(`${name} starts a task`)
      })
      const addresses = JSON.stringify(body).match(/https?:\/\/(?!127\.0\.0\.1[:/])[^"]*/g)
      if (addresses) wrong.push(`${name} calls ${addresses.join()}`)
    }
  }
  t.ok(examples > 40, String(examples))
  t.same(wrong, [])
})

t.test('a union of events has a discriminator that names each of them', async (t) => {
  const unions = Object.entries<any>(document.components.schemas).filter(([, { oneOf }]) => oneOf)
  t.match(unions.map(([name]) => name).join(), /RunStreamEvent.*TaskStreamEvent/)
  for (const [name, { oneOf, discriminator }] of unions) {
    t.equal(discriminator.propertyName, 'type', name)
    t.same(Object.values(discriminator.mapping), oneOf.map(({ $ref }: any) => $ref), name)
    for (const [type, $ref] of Object.entries<string>(discriminator.mapping)) {
      t.equal(document.components.schemas[$ref.split('/').at(-1)!].properties.type.const, type, `${name}: ${type}`)
    }
  }
})

t.test('what linters of documents warn of is not there', async (t) => {
  t.ok(document.info.contact.name && document.info.license.identifier && document.info.description, 'info')
  const used = new Set<string>()
  walk(document, ({ $ref, discriminator }) => {
    if (typeof $ref === 'string') used.add($ref)
    if (discriminator?.mapping) Object.values<string>(discriminator.mapping).forEach((each) => used.add(each))
  })
  for (const [kind, components] of Object.entries<any>(document.components)) {
    if (kind === 'securitySchemes') continue
    t.same(Object.keys(components).filter((name) => !used.has(`#/components/${kind}/${name}`)), [], `every one of ${kind} is used`)
  }
})

t.test('generators of clients in other languages can read it', async (t) => {
  const wrong: string[] = []
  walk({ ...document, components: { ...document.components, schemas: document.components.schemas } }, (schema) => {
    const types = [schema.type].flat()
    const { minimum = -Infinity, maximum = Infinity, format } = schema
    if (types.includes('integer')) {
      const isSmall = minimum >= -(2 ** 31) && maximum < 2 ** 31
      if (format !== (isSmall ? 'int32' : 'int64')) wrong.push(`an integer without its format: ${JSON.stringify(schema)}`)
    }
    if (schema.type === 'null' || schema.const === null) wrong.push('null without another type')
    if (typeof schema.const === 'boolean') wrong.push('a constant that is a boolean')
    if (schema.anyOf?.length > 1 && schema.anyOf.some(isFreeObject)) wrong.push(`a union with any object: ${JSON.stringify(schema)}`)
    const stream = schema['text/event-stream']
    if (stream !== undefined && (stream.schema?.type !== 'string' || stream['x-event-schema']?.$ref === undefined)) wrong.push('a stream')
  })
  t.same(wrong, [])
  t.same(collisions(), [])
})

/** Java cannot name the class of such a member of a union. */
const isFreeObject = ({ type, properties }: any) => [type].flat().includes('object') && Object.keys(properties ?? {}).length === 0

/** Names that generators make of two things: of an inline schema by where it stands, of an operation, or of a constructor in Go. */
function collisions (): string[] {
  const names = Object.keys(document.components.schemas)
  const made = new Set(['Response', ...names.map((name) => `New${name}`)])
  for (const name of names) {
    for (const [property, schema] of Object.entries<any>(document.components.schemas[name].properties ?? {})) {
      if (pascal(property) === name && schema.type === 'array') made.add(name)
      if (schema.enum !== undefined || schema.properties !== undefined) made.add(`${name}${pascal(property)}`)
    }
  }
  for (const { operation } of operations) {
    const name = pascal(operation.operationId)
    for (const suffix of ['Request', 'Response', 'Params', 'JSONBody', 'JSONRequestBody']) made.add(`${name}${suffix}`)
  }
  const lower = names.map((name) => name.toLowerCase())
  return [...names.filter((name) => made.has(name)), ...lower.filter((name, at) => lower.indexOf(name) !== at)]
}

const pascal = (name: string) => name.split(/[^A-Za-z0-9]+/).map((word) => `${word[0]?.toUpperCase() ?? ''}${word.slice(1)}`).join('')

function walk (value: any, visit: (object: any) => void) {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) visit(value)
  Object.values(value).forEach((each) => walk(each, visit))
}
