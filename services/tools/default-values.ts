type Schema = Record<string, any>

/** Values that are filled in for one call, and characters of their JSON. A list may ask for very many. */
const MOST_VALUES = 1_000
const MOST_CHARACTERS = 64 * 1024
const MOST_LEVELS = 32

/**
 * Returns an input with the default values of its schema in place of absent properties: models leave out what has a default, and some
 * tool servers require it. Follows `properties`, `items`, `allOf` and local references. Returns the input itself when nothing is added, or
 * too much would be.
 */
export function withDefaults (schema: Schema, input: unknown): unknown {
  let values = 0
  let characters = 0

  function fill (given: unknown, value: unknown, level: number): unknown {
    const rules = resolve(given, schema)
    if (rules === undefined || level > MOST_LEVELS) return value
    let filled = value
    for (const each of Array.isArray(rules.allOf) ? rules.allOf : []) filled = fill(each, filled, level + 1)
    if (Array.isArray(filled)) return isObject(rules.items) ? filled.map((each) => fill(rules.items, each, level + 1)) : filled
    if (!isObject(filled) || !isObject(rules.properties)) return filled
    const object: Schema = { ...filled }
    for (const [name, property] of Object.entries(rules.properties)) {
      if (Object.hasOwn(object, name)) object[name] = fill(property, object[name], level + 1)
      else {
        const value = resolve(property, schema)?.default
        if (value === undefined) continue
        values++
        characters += JSON.stringify(value).length
        if (values > MOST_VALUES || characters > MOST_CHARACTERS) return filled
        object[name] = value
      }
    }
    return object
  }

  const filled = fill(schema, input, 0)
  return values === 0 || values > MOST_VALUES || characters > MOST_CHARACTERS ? input : filled
}

/** Follows a reference within the schema, such as `#/$defs/name`; keywords beside it count, too. Undefined for what is no schema. */
function resolve (schema: unknown, root: Schema): Schema | undefined {
  if (!isObject(schema)) return undefined
  const { $ref, ...rest } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return schema
  let target: unknown = root
  // RFC 6901, in the fragment of a URI.
  for (const key of $ref.slice(2).split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  return isObject(target) ? { ...target, ...rest } : rest
}

const isObject = (value: unknown): value is Schema => typeof value === 'object' && value !== null && !Array.isArray(value)
