import { Type, type Static } from '@sinclair/typebox'
import type { Desktop } from './control/desktop.ts'
import type { Tool } from '../../contracts/tool.ts'
import type { LastViews } from './last-views.ts'
import { placeFields } from './place-input.ts'

const Input = Type.Object({
  ...placeFields,
  button: Type.Optional(
    Type.Union([Type.Literal('left'), Type.Literal('right'), Type.Literal('middle')], { description: 'Default left.' })
  ),
  double: Type.Optional(Type.Boolean({ description: 'true: a double click.' }))
}, { additionalProperties: false })

/** `{x, y, screen}`: the clicked point in pixels of the screen, and the screen's size. */
export function createClick ({ desktop, views }: { desktop: Desktop, views: LastViews }): Tool<Static<typeof Input>> {
  return {
    name: 'click',
    description: 'Click on the screen with the mouse. Take a screenshot first, pass its view if it has one, and take another to see ' +
      'what came of it.',
    inputSchema: Input,
    effect: 'external',
    unavailable: desktop.problem,
    async execute (input, { signal, runId }) {
      views.assertKnown(runId, input)
      return { ...await desktop.run('click', input, signal) }
    }
  }
}
