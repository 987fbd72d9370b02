import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { tokensIn } from '../../models/index.ts'
import { cut, outputText, withResults, type Unit } from './units.ts'

/** An output of at limit this many tokens is never left out. */
const SMALL_TOKENS = 100
/** The minimum length to which an output is cut that the model has not seen yet, characters. */
const MIN_OUTPUT = 800

/** Replaces each large tool output by a short text. */
export const pruned = (unit: Unit): Unit =>
  withResults(unit, (result) => {
    const { output } = result
    const isResult = output.type === 'json' || output.type === 'text' || output.type === 'content'
    if (!isResult || (output.type !== 'content' && tokensIn(outputText(output)) <= SMALL_TOKENS)) return result
    return withText(
      result,
      `[This output of ${outputText(output).length} characters was left out to save room. Call the tool again if it is needed.]`
    )
  })

/** Cuts the tool outputs of a unit to about `tokens` in all, the same share for each. */
export function shortened (unit: Unit, tokens: number): Unit {
  const count = unit.messages.reduce((sum, message) => sum + (message.role === 'tool' ? message.content.length : 0), 0)
  const limit = Math.max(MIN_OUTPUT, Math.floor(tokens * 3 / Math.max(count, 1)))
  return withResults(unit, (result) =>
    result.output.type === 'execution-denied' || outputText(result.output).length <= limit
      ? result
      : withText(result, cut(outputText(result.output), limit)))
}

const withText = (result: LanguageModelV4ToolResultPart, value: string): LanguageModelV4ToolResultPart => ({
  ...result,
  output: { type: result.output.type.startsWith('error') ? 'error-text' : 'text', value }
})
