import { exceededLimit } from '../lib/json.ts'
import type { Validation } from './host.ts'

/** The same limit as for request bodies: a deeper value cannot be serialized as JSON again. */
const INPUT_DEPTH = 64

/** Parses and validates the input of a call, which the model wrote as JSON. For an invalid input, `error` is a text for the model. */
export function readInput (
  toolName: string,
  text: string,
  validate: (name: string, input: unknown) => Validation
): Validation & { input: unknown } {
  let input: unknown
  if (exceededLimit(Buffer.from(text), { levels: INPUT_DEPTH }) !== undefined) {
    return { ok: false, input: text, error: `The input of ${toolName} is nested deeper than ${INPUT_DEPTH} levels.` }
  }
  try {
    input = JSON.parse(text.trim() === '' ? '{}' : text)
  } catch (error) {
    return { ok: false, input: text, error: `The input of ${toolName} is not JSON: ${(error as Error).message}` }
  }
  const checked = validate(toolName, input)
  return checked.ok ? checked : { ok: false, input, error: checked.error }
}
