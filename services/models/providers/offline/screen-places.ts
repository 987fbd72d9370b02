import type { MadeCall } from './prompt.ts'
import { valueOf } from './report.ts'

/**
 * Returns the input of a call with the view of the whole screen where a screenshot was scaled before it: places that a person names are
 * pixels of the screen, and click refuses places of which that is not known.
 */
export function withScreenView (toolName: string, input: object, made: MadeCall[]): object {
  if (!['click', 'scroll'].includes(toolName) || !('x' in input)) return input
  const output = made.findLast((call) => call.toolName === 'screenshot')?.output
  if (output === undefined || output.type === 'execution-denied') return input
  const { view, screen } = valueOf(output) as { view?: unknown, screen?: { width: number, height: number } }
  if (view === undefined || screen === undefined) return input
  const { width, height } = screen
  return { ...input, view: { x: 0, y: 0, width, height, imageWidth: width, imageHeight: height } }
}
