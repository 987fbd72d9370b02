import { Type } from '@sinclair/typebox'
import { type Config, ConfigKeys } from './config.ts'
import { inDocument } from './ids.ts'
import { ConfigViewSchema } from './service.ts'
import { ref } from './common.ts'

/** A merge patch (RFC 7396): objects are merged, other values replace the earlier ones, and null removes a value. */
type Patch<T> = T extends unknown[] ? T : T extends object ? { [K in keyof T]?: Patch<T[K]> | null } : T
export type ConfigPatch = { [K in keyof Config]?: Patch<Config[K]> | null }

type Schema = Record<string, any>
/** Keywords that the patch's schema leaves out. They are checked on the merged value. */
const NOT_IN_DOCUMENT = ['propertyNames', 'not', '$id', 'maxProperties']
const mapped = (values: Schema, change: (schema: Schema) => Schema) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))

/** Returns the patch schema of a value: every property of an object is optional, and null is allowed. */
function patchOf (schema: Schema): Schema {
  const { type, properties, patternProperties, required, anyOf, additionalProperties, ...rest } = withoutPatterns(schema)
  if (properties !== undefined) {
    return { ...rest, type: ['object', 'null'], properties: mapped(properties, patchOf), additionalProperties: false }
  }
  if (patternProperties !== undefined) {
    return { ...rest, type: ['object', 'null'], additionalProperties: patchOf(Object.values<Schema>(patternProperties)[0]) }
  }
  if (anyOf !== undefined) return { ...rest, anyOf: [...anyOf, { const: null }] }
  return type === undefined ? rest : { ...rest, type: [type, 'null'] }
}

/**
 * Returns a pattern of config.json in the regular expressions that the OpenAPI document allows (schemas/ids.ts): white space is that of
 * ASCII.
 */
const inEveryDialect = (pattern: string) => pattern.replaceAll('\\S', '[^\\s]').replaceAll('\\s', ' \\t-\\r')

function withoutPatterns ({ pattern, ...schema }: Schema): Schema {
  const kept: Schema = Object.fromEntries(Object.entries(schema).filter(([name]) => !NOT_IN_DOCUMENT.includes(name)))
  if (pattern !== undefined) Object.assign(kept, inDocument({ pattern: inEveryDialect(pattern) }))
  if (kept.anyOf !== undefined) kept.anyOf = kept.anyOf.map(withoutPatterns)
  // Lists are replaced as a whole, so their entries are not patches. Entries of `mcp` have two forms, so their fields are checked only on
  // the merged value.
  if (kept.items !== undefined) kept.items = kept.items.anyOf ? { type: 'object', additionalProperties: true } : withoutPatterns(kept.items)
  return kept
}

export const ConfigPatchSchema = Type.Unsafe<ConfigPatch>({
  type: 'object',
  properties: mapped(ConfigKeys, patchOf),
  additionalProperties: false,
  minProperties: 1,
  $id: 'ConfigPatch',
  description: 'The keys of config.json to change, as docs/configuration.md names them, by JSON merge patch: objects are merged, lists ' +
    'and other values are replaced, and null removes a value',
  examples: [{ agent: { steps: { conversation: 50 } }, analysis: null }]
})

export const ConfigSavedSchema = Type.Object({
  status: Type.Literal('saved'),
  config: ref(ConfigViewSchema),
  restart: Type.Array(Type.String(), { description: 'The changed keys that have an effect after a restart of the service' }),
  problem: Type.Optional(Type.String({ description: 'Further errors in config.json: defaults replace those values' }))
}, { $id: 'ConfigSaved', description: 'The change is in config.json and, but for `restart`, in effect' })
