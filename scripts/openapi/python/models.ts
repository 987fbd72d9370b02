import { camelCase, docstring, literal, pascalCase, snakeCase } from './words.ts'

type Json = any

type TypeOf = (schema: Json, place: string) => string

const refName = ($ref: string) => $ref.split('/').at(-1)!
const isClass = (schema: Json) => schema.properties !== undefined && Object.keys(schema.properties).length > 0

/** Creates the function that converts schemas to Python types. `classes` collects the classes of inline objects. */
export function createTypes () {
  const classes = new Map<string, Json>()

  function plainType (schema: Json, type: string, place: string): string {
    if (schema.enum !== undefined && type !== 'null') return anyText(schema.enum.filter((value: Json) => value !== null))
    if (type === 'object') {
      if (isClass(schema)) {
        classes.set(place, schema)
        return place
      }
      const values = schema.additionalProperties
      return `dict[str, ${typeof values === 'object' ? typeOf(values, `${place}Value`) : 'Any'}]`
    }
    if (type === 'array') return `list[${schema.items === undefined ? 'Any' : typeOf(schema.items, `${place}Item`)}]`
    if (type === 'string') return schema.format === 'binary' ? 'bytes' : 'str'
    return { integer: 'int', number: 'float', boolean: 'bool', null: 'None' }[type]!
  }

  /** Returns the type of a schema; `place` is the name for an inline object. */
  function typeOf (schema: Json, place: string): string {
    if (schema.$ref !== undefined) return refName(schema.$ref)
    if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`
    const union = schema.anyOf ?? schema.oneOf
    if (union !== undefined) {
      const isOne = union.filter((each: Json) => each.properties !== undefined).length === 1
      return union.map((each: Json, at: number) => typeOf(each, isOne ? place : `${place}${at + 1}`)).join(' | ')
    }
    const types = [schema.type ?? []].flat()
    return types.length === 0 ? 'Any' : types.map((type) => plainType(schema, type, place)).join(' | ')
  }

  return { typeOf, classes }
}

/** Also accepts unknown values, because a later version of the service might send them. */
const anyText = (values: string[]) => `Annotated[Literal[${values.map(literal).join(', ')}], AnyText]`

function fieldOf (parent: string, property: string, schema: Json, isRequired: boolean, typeOf: TypeOf): string[] {
  const type = typeOf(schema, `${parent}${pascalCase(property)}`)
  const isNull = type.split(' | ').includes('None')
  const name = snakeCase(property)
  const wire = camelCase(name) === property ? '' : property
  const full = isRequired || isNull || type === 'Any' ? type : `${type} | None`
  const names = `validation_alias=${literal(wire)}, serialization_alias=${literal(wire)}`
  const initial = schema.const !== undefined ? literal(schema.const) : isRequired ? undefined : 'None'
  const value = wire === ''
    ? initial === undefined ? '' : ` = ${initial}`
    : ` = Field(${initial === undefined ? '' : `default=${initial}, `}${names})`
  const lines = `    ${name}: ${full}${value}`
  return [...wrapped(lines), ...schema.description === undefined ? [] : docstring(schema.description, '    ')]
}

/** Splits a long union or list of literals into lines. */
function wrapped (line: string): string[] {
  if (line.length <= 100) return [line]
  const [, start, inner, rest] = /^(.*?Literal\[)([^\]]*)(\].*)$/.exec(line) ?? []
  if (inner === undefined) return [line]
  return [start, ...inner.split(', ').map((value) => `        ${value},`), `    ${rest}`]
}

function classOf (name: string, schema: Json, typeOf: TypeOf): string[] {
  const required: string[] = schema.required ?? []
  const fields = Object.entries<Json>(schema.properties).map(([property, each]) => ({
    isRequired: required.includes(property) && each.const === undefined,
    lines: fieldOf(name, property, each, required.includes(property), typeOf)
  }))
  // Python requires fields without a default first.
  const ordered = [...fields.filter(({ isRequired }) => isRequired), ...fields.filter(({ isRequired }) => !isRequired)]
  return [
    '', '',
    `class ${name}(Model):`,
    ...docstring(schema.description ?? `Part of a larger object of the service: ${name}.`, '    '),
    '',
    ...ordered.flatMap(({ lines }) => lines)
  ]
}

const HEAD = `"""What the service takes and answers. Made of openapi.json by \`npm run openapi\`: do not edit."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

from pydantic import Field

from ._model import AnyText, Model`

/** Returns the module of models: a pydantic class for each object of the document, and type aliases for all other components. */
export function modelsModule (document: Json): string {
  const { typeOf, classes } = createTypes()
  const schemas = Object.entries<Json>(document.components.schemas)
  const enums = schemas.filter(([, schema]) => schema.enum !== undefined)
  const aliases = schemas.filter(([, schema]) => schema.enum === undefined && !isClass(schema))
  const body: string[] = []
  for (const [name, schema] of schemas) if (isClass(schema)) body.push(...classOf(name, schema, typeOf))
  const named = aliases.map(([name, schema]) => aliasOf(name, schema, typeOf))
  // Classes of inline objects may themselves contain inline objects.
  const done = new Set<string>()
  for (let left = [...classes]; left.length > 0; left = [...classes].filter(([name]) => !done.has(name))) {
    for (const [name, schema] of left) {
      done.add(name)
      body.push(...classOf(name, schema, typeOf))
    }
  }
  const lists = enums.map(([name, schema]) => ['', ...wrapped(`${name} = ${typeOf(schema, name)}`)])
  return [HEAD, ...lists.flat(), ...body, ...named.flat(), ''].join('\n')
}

function aliasOf (name: string, schema: Json, typeOf: TypeOf): string[] {
  const { discriminator } = schema
  if (discriminator === undefined) return ['', '', `${name} = ${typeOf(schema, name)}`]
  const types = Object.entries<string>(discriminator.mapping)
  const constant = `${snakeCase(name).toUpperCase()}S`
  return [
    '', '',
    `${name} = Union[`, ...types.map(([, $ref]) => `    ${refName($ref)},`), ']',
    '',
    `${constant}: dict[str, type[Model]] = {`, ...types.map(([type, $ref]) => `    ${literal(type)}: ${refName($ref)},`), '}',
    `"""The classes of ${name} by their types."""`
  ]
}
