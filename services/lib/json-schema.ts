import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** Returns the Ajv class for a schema: draft 2020-12, or draft-07 if the schema says so or writes tuples in that form. */
export const ajvFor = ({ $schema, ...rules }: { $schema?: unknown }): typeof Ajv | typeof Ajv2020 =>
  /draft-0[3-7]/.test(String($schema)) || ($schema === undefined && usesTuples(rules)) ? Ajv : Ajv2020

/** True if a schema writes a tuple in the form of draft-07: `items` with one schema for each entry. */
function usesTuples (schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(([key, value]) => (key === 'items' && Array.isArray(value)) || usesTuples(value))
}
