import type { LanguageModelV4ToolResultPart } from '@ai-sdk/provider'
import { tokensIn } from './token-estimate.ts'
import { cut, outputText, withResults, type Unit } from './units.ts'

/** An output as small as this stays. */
const SMALL_TOKENS = 100
/** Shortest form of an output that the model has not seen yet, characters. */
const SHORTEST = 800

/** Leaves the outputs of tools out, with a word in the place of each that is large. */
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

/** Cuts the outputs of tools to what is left of `tokens` for each. */
export function shortened (unit: Unit, tokens: number): Unit {
  const count = unit.messages.reduce((sum, message) => sum + (message.role === 'tool' ? message.content.length : 0), 0)
  const most = Math.max(SHORTEST, Math.floor(tokens * 3 / Math.max(count, 1)))
  return withResults(unit, (result) =>
    result.output.type === 'execution-denied' || outputText(result.output).length <= most
      ? result
      : withText(result, cut(outputText(result.output), most)))
}

const withText = (result: LanguageModelV4ToolResultPart, value: string): LanguageModelV4ToolResultPart => ({
  ...result,
  output: { type: result.output.type.startsWith('error') ? 'error-text' : 'text', value }
})
