import { Type, type Static } from '@sinclair/typebox'
import type { Desktop } from './control/desktop.ts'
import type { Tool } from '../../contracts/tool.ts'

const Input = Type.Object({
  text: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000, description: 'What to type, line ends included.' })),
  keys: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 60,
      description: 'A key or combination to press, after the text where there is one: "enter", "ctrl+s", "cmd+shift+4".'
    })
  )
}, { additionalProperties: false, minProperties: 1 })

/** `{typed}`: the number of characters typed. */
export function createType ({ desktop }: { desktop: Desktop }): Tool<Static<typeof Input>> {
  return {
    name: 'type',
    description: 'Type text, or press keys, into whatever has the focus: click there first. Take a screenshot to see what came of it.',
    inputSchema: Input,
    effect: 'external',
    unavailable: desktop.problem,
    execute: async (input, { signal }) => ({ ...await desktop.run('type', input, signal) })
  }
}
