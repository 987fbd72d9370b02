import type { CallFact } from './call-facts.ts'
import { mentions, textOfInput } from './claim-target.ts'

/** The shortest command that is looked for in a longer target; characters. */
const SHORTEST = 4

/** Whether an input names a command or a recipient, or the target holds the whole command: a report may quote more than was run. */
export function names ({ input, target: own }: CallFact, target: string): boolean {
  const wanted = spaced(target)
  const command = own === undefined ? '' : spaced(own)
  return mentions(spaced(textOfInput(input)), wanted) || (command.length >= SHORTEST && mentions(wanted, command))
}

const spaced = (text: string) => text.normalize('NFC').toLowerCase().replace(/\s+/gu, ' ').replace(/^["'`\s]+|["'`\s]+$/gu, '')
