import type { ToolOutput } from '../contracts/tool.ts'
import { ToolFailed } from './tool-errors.ts'

/** Returns what an error says. */
export const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** Makes an output a JSON object: nothing becomes {}, any other value `{result: value}`. Throws ToolFailed when JSON cannot hold it. */
export function asObject (name: string, output: unknown): ToolOutput {
  try {
    JSON.stringify(output)
  } catch {
    throw new ToolFailed(`${name} answered with something that cannot be written as JSON.`)
  }
  if (output === undefined || output === null) return {}
  return typeof output === 'object' && !Array.isArray(output) ? output as ToolOutput : { result: output }
}
