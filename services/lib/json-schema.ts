import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'

/** Returns the class of ajv for a schema: draft 2020-12, or draft-07 where the schema says so or has tuples in its form. */
export const ajvFor = ({ $schema, ...rules }: { $schema?: unknown }): typeof Ajv | typeof Ajv2020 =>
  /draft-0[3-7]/.test(String($schema)) || ($schema === undefined && usesTuples(rules)) ? Ajv : Ajv2020

/** Whether a schema has arrays with a schema for each entry in the form of draft-07. */
function usesTuples (schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return Object.entries(schema).some(([key, value]) => (key === 'items' && Array.isArray(value)) || usesTuples(value))
}
