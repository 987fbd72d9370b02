import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import swagger from '@fastify/swagger'
import { buildApp, type App } from '../../app.ts'
import { ERROR_STATUS } from '../../schemas/error-codes.ts'
import type { Tool } from '../../services/contracts/tool.ts'
import { chatAnswer, refusalsOf, responses, sharedAnswer } from './answers.ts'
import { forGenerators } from './for-generators.ts'
import { info, securitySchemes, servers, TAGS } from './info.ts'
import { DESCRIPTIONS } from './operations.ts'

type Json = any

/** Returns the examples that scripts/examples.ts recorded, by component. */
const recorded = (): Record<string, Json[]> => JSON.parse(readFileSync(new URL('../../schemas/examples.json', import.meta.url), 'utf8'))

const METHODS = ['get', 'post', 'put', 'patch', 'delete']
/** The token is optional: requests can be sent with or without it. */
const SECURITY = [{}, { token: [] }]

/**
 * Builds the OpenAPI 3.1 document from the schemas of the routes, and a version with narrower types for the TypeScript client. Also returns
 * the endpoints and the built-in tools.
 */
export async function makeDocument (
  examples = recorded()
): Promise<{ document: Json, narrow: Json, endpoints: string[], tools: Tool[] }> {
  const home = mkdtempSync(join(tmpdir(), 'local-agent-openapi-'))
  const routes = new Map<string, Json>()
  const app = await buildApp({ host: '127.0.0.1', home, cwd: home, log: new PassThrough().resume() }, async (app: App) => {
    app.addHook('onRoute', ({ method, url, config }) => {
      for (const each of [method].flat()) routes.set(`${each.toLowerCase()} ${url.replace(/:(\w+)/g, '{$1}')}`, config)
    })
    await app.register(swagger, {
      openapi: { openapi: '3.1.0', info, servers, components: { securitySchemes, responses: responses as Json } },
      refResolver: { buildLocalReference: ({ $id }, _base, _fragment, i) => typeof $id === 'string' ? $id : `def-${i}` },
      convertConstToEnum: false
    })
  })
  try {
    const document = structuredClone(app.swagger()) as Json
    for (const [path, operations] of Object.entries<Json>(document.paths)) {
      for (const method of METHODS.filter((each) => operations[each])) finish(operations[method], method, routes.get(`${method} ${path}`))
    }
    const used = new Set(
      Object.values<Json>(document.paths).flatMap((operations) => Object.values<Json>(operations).flatMap(({ tags }) => tags))
    )
    document.tags = Object.entries(TAGS).filter(([name]) => used.has(name)).map(([name, description]) => ({ name, description }))
    document.components.schemas = Object.fromEntries(
      Object.entries<Json>(document.components.schemas).map(([name, schema]) => [
        name,
        { ...examples[name] && { examples: examples[name] }, ...discriminated(schema, document) }
      ])
    )
    // Programs look codes up here. Later versions may add some, so this is no enum.
    document.components.schemas.Error.properties.code.examples = Object.keys(ERROR_STATUS)
    const tools = app.tools.names().known.flatMap((name) => app.tools.find(name) ?? [])
    const narrow = sorted(tidied(document))
    return { document: forGenerators(narrow), narrow, endpoints: app.routeTable.endpoints, tools }
  } finally {
    await app.close()
    rmSync(home, { recursive: true, force: true })
  }
}

/** Returns the text of openapi.json. */
export const textOf = (document: Json): string => `${JSON.stringify(document, undefined, 2)}\n`

/** Completes an operation with its description, its security, its optional bodies and parameters, and the shared error responses. */
function finish (operation: Json, method: string, config: Json) {
  operation.description ??= DESCRIPTIONS[operation.operationId]
  operation.security = config?.open === true ? [] : SECURITY
  if (config?.stream || config?.rawBody) {
    operation.requestBody = { required: true, content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } } }
  }
  if (config?.optionalBody) operation.requestBody.required = false
  for (const parameter of operation.parameters ?? []) if (parameter.schema.default !== undefined) parameter.required = false
  const errorOf = operation.tags.includes('openai') ? chatAnswer : sharedAnswer
  for (const [status, response] of Object.entries<Json>(operation.responses)) {
    if (response.description === 'Default Response') response.description = STATUS_CODES[status]
    if (isError(response)) operation.responses[status] = errorOf(status)
  }
  for (const status of refusalsOf(method, config)) operation.responses[status] ??= errorOf(status)
}

const ERRORS = ['Error', 'ChatError'].map((name) => `#/components/schemas/${name}`)
const isError = ({ content }: Json) => ERRORS.includes(content?.['application/json']?.schema?.$ref)

/** Adds the discriminator `type` to a union of components that each have their own `type`. */
function discriminated ({ anyOf, ...rest }: Json, document: Json): Json {
  const mapping: Record<string, string> = {}
  for (const { $ref } of anyOf ?? []) {
    const type = document.components.schemas[$ref?.split('/').at(-1)]?.properties.type.const
    if (type !== undefined) mapping[type] = $ref
  }
  if (anyOf === undefined || Object.keys(mapping).length !== anyOf.length) return { ...anyOf && { anyOf }, ...rest }
  return { oneOf: anyOf, discriminator: { propertyName: 'type', mapping }, ...rest }
}

/**
 * Converts unions of constants to `enum`, which gives better names in generated clients, adds the rules of `inDocument`, and removes `$id`.
 */
function tidied (value: Json): Json {
  if (Array.isArray(value)) return value.map(tidied)
  if (typeof value !== 'object' || value === null) return value
  if (value['x-in-document'] !== undefined) {
    const { 'x-in-document': rules, ...rest } = value
    return tidied({ ...rest, ...rules })
  }
  if (value.anyOf?.length > 0 && value.anyOf.every((each: Json) => each.type === 'string' && each.const !== undefined)) {
    const { anyOf, ...rest } = value
    return { type: 'string', enum: anyOf.map((each: Json) => each.const), ...rest }
  }
  return Object.fromEntries(
    Object.entries(value).filter(([key, each]) => key !== '$id' && each !== undefined).map(([key, each]) => [key, tidied(each)])
  )
}

/** Sorts components by name and responses by status, so that the order of plugins does not change the document. */
function sorted (document: Json): Json {
  const { schemas, responses, securitySchemes } = document.components
  const byName = (object: Json) => Object.fromEntries(Object.entries(object).sort(([a], [b]) => a < b ? -1 : 1))
  const { openapi, info, servers, tags, paths } = document
  for (const operations of Object.values<Json>(paths)) {
    for (const operation of Object.values<Json>(operations)) operation.responses = byName(operation.responses)
  }
  return { openapi, info, servers, tags, paths, components: { schemas: byName(schemas), responses, securitySchemes } }
}
