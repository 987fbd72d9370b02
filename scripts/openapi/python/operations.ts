import { createTypes } from './models.ts'
import { docstring, literal, snakeCase } from './words.ts'

type Json = any

const STREAM = 'text/event-stream'
/** Returns true for pages and their files, which are only for browsers. */
const isPage = ({ responses, operationId }: Json) => responses[200]?.content?.['text/html'] !== undefined || operationId.endsWith('File')

/** Returns the module of operations, with a method for each operation, for the synchronous or the asyncio client. */
export function operationsModule (document: Json, isAsync: boolean): string {
  const prefix = isAsync ? 'Async' : ''
  const methods = Object.entries<Json>(document.paths).flatMap(([path, each]) => Object.entries<Json>(each)
    .filter(([, operation]) => !isPage(operation))
    .flatMap(([method, operation]) => methodOf(method.toUpperCase(), path, operation, isAsync)))
  const code = methods.join('\n').replace(/"""[\s\S]*?"""/g, '')
  const used = new Set(code.match(/\b[A-Z][A-Za-z]+\b/g))
  const models = Object.keys(document.components.schemas).filter((name) => used.has(name))
  const constants = [...new Set(code.match(/\b[A-Z]+(?:_[A-Z]+)*_EVENTS\b/g))]
  const iterators = isAsync ? 'AsyncIterator' : 'Iterator'
  return [
    '"""A method for each operation of the service. Made of openapi.json by `npm run openapi`: do not edit."""',
    '',
    'from __future__ import annotations',
    '',
    `from collections.abc import ${iterators}, Mapping`,
    'from typing import Any, Literal',
    '',
    'from .._model import UnknownEvent',
    `from .._${isAsync ? 'async' : 'sync'}.transport import ${prefix}Transport`,
    'from ..models import (', ...[...constants, ...models].map((name) => `    ${name},`), ')',
    '', '',
    `class ${prefix}Operations(${prefix}Transport):`,
    '    """Each operation of the service by its name. A failure is an AgentError."""',
    ...methods,
    ''
  ].join('\n')
}

interface Parameter { name: string, wire: string, in: string, type: string, isRequired: boolean }

function parametersOf (operation: Json): Parameter[] {
  const { typeOf } = createTypes()
  return (operation.parameters ?? []).map((each: Json) => ({
    name: snakeCase(each.name),
    wire: each.name,
    in: each.in,
    type: typeOf(each.schema, 'Any').replace(/^Annotated\[(.*), AnyText\]$/, '$1'),
    isRequired: each.required === true
  }))
}

interface Answer { type: string, kind: 'model' | 'union' | 'json' | 'bytes' | 'stream', events?: string }

function answerOf (operation: Json): Answer {
  const [, response] = Object.entries<Json>(operation.responses).find(([status]) => status.startsWith('2'))!
  const content = response.content ?? {}
  const stream = content[STREAM]?.['x-event-schema']?.$ref?.split('/').at(-1)
  if (stream !== undefined && content['application/json'] === undefined) {
    return { type: stream, kind: 'stream', events: `${snakeCase(stream).toUpperCase()}S` }
  }
  const schema = content['application/json']?.schema
  if (schema === undefined || content['application/octet-stream'] !== undefined) return { type: 'bytes', kind: 'bytes' }
  const type = createTypes().typeOf(schema, 'Any')
  if (schema.$ref === undefined) return { type, kind: type.includes('|') ? 'union' : 'json' }
  return { type, kind: ['Answers', 'SchedulePreview', 'ConnectBody', 'Trigger', 'ConfigView'].includes(type) ? 'union' : 'model' }
}

/** Returns the type of a request body, and whether it is required; undefined if there is no body. */
function bodyOf (operation: Json): { type: string, isRequired: boolean } | undefined {
  const { content, required } = operation.requestBody ?? {}
  if (content === undefined) return undefined
  if (content['application/octet-stream'] !== undefined) return { type: 'bytes', isRequired: true }
  const { schema } = content['application/json']
  const isNamed = schema.$ref !== undefined || schema.anyOf?.every((each: Json) => each.$ref !== undefined)
  const model = isNamed ? [createTypes().typeOf(schema, 'Any')] : []
  return { type: [...model, 'Mapping[str, Any]'].join(' | '), isRequired: required !== false }
}

function returnTypeOf ({ kind, type }: Answer, iterator: string): string {
  if (kind === 'stream') return `${iterator}[${type} | UnknownEvent]`
  return kind === 'json' ? 'Any' : type
}

function methodOf (method: string, path: string, operation: Json, isAsync: boolean): string[] {
  const parameters = parametersOf(operation)
  const inPath = parameters.filter((each) => each.in === 'path')
  const others = parameters.filter((each) => each.in !== 'path')
  const body = bodyOf(operation)
  const answer = answerOf(operation)
  const signature = [
    'self',
    ...inPath.map(({ name }) => `${name}: str`),
    ...body === undefined ? [] : [`body: ${body.type}${body.isRequired ? '' : ' | None = None'}`],
    ...others.length === 0 ? [] : ['*'],
    ...others.toSorted((a, b) => Number(b.isRequired) - Number(a.isRequired))
      .map(({ name, type, isRequired }) => `${name}: ${type}${isRequired ? '' : ' | None = None'}`)
  ]
  const pairs = (place: string) =>
    others.filter((each) => each.in === place).map(({ name, wire }) => `${literal(wire)}: ${name}`).join(', ')
  const values = [
    literal(method),
    inPath.length === 0 ? literal(path) : `self._path(${[literal(path), ...inPath.map(({ name }) => name)].join(', ')})`,
    ...answer.kind === 'bytes' ? [] : [answer.kind === 'json' ? 'None' : answer.events ?? answer.type],
    ...body === undefined ? [] : ['body=body'],
    ...pairs('query') === '' ? [] : [`query={${pairs('query')}}`],
    ...pairs('header') === '' ? [] : [`headers={${pairs('header')}}`]
  ]
  const iterator = isAsync ? 'AsyncIterator' : 'Iterator'
  const type = returnTypeOf(answer, iterator)
  const call = { model: '_call', union: '_call_any', json: '_call_any', bytes: '_call_bytes', stream: '_stream' }[answer.kind]
  const wait = isAsync && answer.kind !== 'stream' ? 'await ' : ''
  const about = [operation.summary, operation.description].filter(Boolean).join('. ').replaceAll('..', '.')
  const lines = [...values.map((value) => `            ${value},`), '        )']
  const returned = answer.kind === 'union'
    ? [`        answer: ${type} = ${wait}self.${call}(`, ...lines, '        return answer']
    : [`        return ${wait}self.${call}(`, ...lines]
  return [
    '',
    `    ${isAsync && answer.kind !== 'stream' ? 'async ' : ''}def ${snakeCase(operation.operationId)}(`,
    ...signature.map((each) => `        ${each},`),
    `    ) -> ${type}:`,
    ...docstring(about, '        '),
    ...returned
  ]
}
