import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

/**
 * Returns the Ajv class for a JSON Schema. It is that of draft-07 if `$schema` names draft-03 to draft-07 or, without `$schema`, if the
 * schema has tuples of draft-07. Otherwise it is that of draft 2020-12.
 */
export const ajvFor = ({ $schema, ...rules }: { $schema?: unknown }): typeof Ajv | typeof Ajv2020 =>
  /draft-0[3-7]/.test(String($schema)) || ($schema === undefined && usesTuples(rules)) ? Ajv : Ajv2020

/** True if a schema has a tuple as draft-07 defines it: an `items` that is an array, with one schema for each entry. */
function usesTuples (schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(([key, value]) => (key === 'items' && Array.isArray(value)) || usesTuples(value))
}
