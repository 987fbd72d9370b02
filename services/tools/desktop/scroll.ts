import { Type, type Static } from '@sinclair/typebox'
import type { Direction } from './control/desktop-rpc.ts'
import type { Desktop } from './control/desktop.ts'
import type { Tool } from '../../contracts/tool.ts'
import type { LastViews } from './last-views.ts'
import { placeFields } from './place-input.ts'

const DIRECTIONS: Direction[] = ['up', 'down', 'left', 'right']

const Input = Type.Object({
  direction: Type.Union(DIRECTIONS.map((direction) => Type.Literal(direction))),
  amount: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Notches of the mouse wheel. Default 3.' })),
  x: Type.Optional(placeFields.x),
  y: Type.Optional(placeFields.y),
  view: placeFields.view
}, { additionalProperties: false })

/** `{direction, amount?, screen}` */
export function createScroll ({ desktop, views }: { desktop: Desktop, views: LastViews }): Tool<Static<typeof Input>> {
  return {
    name: 'scroll',
    description: 'Turn the mouse wheel where the mouse is, or at x and y. Take a screenshot to see what came of it.',
    inputSchema: Input,
    effect: 'external',
    // No approval by default: scrolling changes no data and can be undone.
    permission: 'allow',
    unavailable: desktop.problem,
    async execute (input, { signal, runId }) {
      views.assertKnown(runId, input)
      const { direction, amount } = input
      return { direction, ...amount !== undefined && { amount }, ...await desktop.run('scroll', input, signal) }
    }
  }
}
