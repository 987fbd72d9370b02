import { Type } from '@sinclair/typebox'
import { foldText, loadPointers } from '../../brain/index.ts'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { namesEntry, findKnown, findSaid, LAST, type MemoryParts } from './said-words.ts'
import { textOf } from '../../lib/in-words.ts'

interface Input {
  span: string
  kind: 'fact' | 'preference' | 'instruction'
  key?: string
  value?: string
  replaces?: string[]
}

const InputSchema = Type.Object({
  span: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description: 'Words of the user, copied exactly'
  }),
  kind: Type.Unsafe<Input['kind']>({
    type: 'string',
    enum: ['fact', 'preference', 'instruction'],
    description: 'instruction: how the user wants to be served'
  }),
  key: Type.Optional(Type.String({ maxLength: 200, description: 'Of a preference: what it is about' })),
  value: Type.Optional(Type.String({ maxLength: 2_000, description: 'Of a preference: copied from the span' })),
  replaces: Type.Optional(Type.Array(Type.String(), {
    maxItems: 20,
    description: `Ids or words of entries no longer true; "${LAST}": what was remembered last here`
  }))
}, { additionalProperties: false })

/** Creates the tool that remembers a statement of the user from this conversation, as the user's own whole sentence. */
export function createRemember ({ brain, userWords }: MemoryParts): BuiltinTool<Input> {
  return {
    model: {
      name: 'remember',
      description: 'Remember something when the user asks for it; the whole sentence is kept. ' +
        'Tell them what was stored, and whether it waits for their confirmation.',
      schema: InputSchema
    },
    says: { en: { label: 'Remember something', does: 'remember', result: ({ message }) => textOf(message) } },
    policy: { effect: 'write', permission: 'allow', needs: ['userWords'] },
    effects: { source: 'memory' },
    async execute ({ span, replaces = [], ...given }, { runId }) {
      const { text: fact, isUnsure, said, source } = await findSaid(userWords, runId, span, { mayAsk: given.kind === 'instruction' })
      const { entries } = await brain.known()
      const { contentOf } = await loadPointers()
      const content = { fact, ...contentOf(given, fact) }
      const named = replaces.map((each) => findKnown(entries, each, source.threadId))
      // If the model names several entries, only those that the new fact is about, or that come from this conversation, are replaced. The
      // others stay until the conversation is read as a whole.
      const among = { entries: [], threadId: source.threadId }
      const targets = named.filter((entry) => named.length === 1 || namesEntry(fact, entry, among)).map((entry) => entry.id)
      const { known, proposed, replaced } = await brain.ingest([
        { ...content, replaces: targets, isRetraction: false, isUnsure, said, source }
      ])
      const [stored] = [...known, ...proposed]
      if (stored === undefined) {
        const isKnown = entries.some((entry) => foldText(entry.fact) === foldText(fact))
        return isKnown
          ? { stored: 'known', fact, message: `This is known already: “${fact}”` }
          : {
              stored: 'nothing',
              fact,
              message: 'Nothing was stored: it waits for a confirmation already, was removed since, or the memory is full.'
            }
      }
      const { id, state } = stored
      return {
        stored: state === 'known' ? 'known' : 'proposal',
        id,
        fact,
        ...(replaced.length > 0 && { replaced: replaced.map((entry) => entry.fact) }),
        message: state === 'known'
          ? `I remember: “${fact}”`
          : `“${fact}” is a proposal now. It is used once you accept it.`
      }
    }
  }
}
