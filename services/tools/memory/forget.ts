import { Type } from '@sinclair/typebox'
import type { Tool } from '../../contracts/tool.ts'
import { namesEntry, findKnown, findSaid, LAST, type MemoryParts } from './said-words.ts'

interface Input {
  id: string
  span: string
}

/** Forgets something because the user said so in this conversation. It is hidden, and can be restored. */
export function createForget ({ brain, userWords }: MemoryParts): Tool<Input> {
  return {
    name: 'forget',
    description: 'Forget something that is remembered of the user, when the user asks for it. It is hidden and can be restored. ' +
      'Tell the user what was forgotten, and whether it waits for their confirmation.',
    inputSchema: Type.Object({
      id: Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: `The id of what is remembered, or its words; "${LAST}": what was remembered last here`
      }),
      span: Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: 'The words by which the user asks for it, copied exactly from their message'
      })
    }, { additionalProperties: false }),
    effect: 'write',
    permission: 'allow',
    isConversational: true,
    async execute ({ id, span }, { runId }) {
      const { text, isUnsure, said, source } = await findSaid(userWords, runId, span, { mayAsk: true })
      const entry = findKnown((await brain.known()).entries, id, source.threadId)
      const isMeant = namesEntry(text, entry, source.threadId)
      const { proposed, replaced } = await brain.ingest([
        { kind: 'fact', fact: text, replaces: [entry.id], isRetraction: true, isUnsure: isUnsure || !isMeant, said, source }
      ])
      if (replaced.length > 0) {
        return { forgotten: entry.fact, id: entry.id, message: `I forgot: “${entry.fact}” It is hidden and can be restored.` }
      }
      return proposed.length > 0
        ? {
            proposed: entry.fact,
            id: proposed[0].id,
            message: `To forget “${entry.fact}” is a proposal now, because ${
              isMeant ? 'it was typed or pinned, or the message may be a quotation' : 'the words of the user do not name it'
            }. It is done once you accept it.`
          }
        : { message: `Nothing was forgotten: “${entry.fact}” is newer than these words, or to forget it waits for a confirmation already.` }
    }
  }
}
