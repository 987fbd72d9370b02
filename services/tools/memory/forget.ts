import { Type } from '@sinclair/typebox'
import { foldText } from '../../brain/index.ts'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { namesEntry, findKnown, findSaid, LAST, type MemoryParts } from './said-words.ts'
import { textOf } from '../../lib/in-words.ts'

interface Input {
  id?: string
  about?: string
  span: string
}

/** Characters of what names a thing or a person. */
const MAX_ABOUT = 200
const RESTORED = 'It is hidden and can be restored for 30 days.'
const NOT_SAID = 'Nothing was forgotten: "about" must be copied from "span", the thing or the person alone, such as "my trip to Oslo".'
const TOO_WIDE = 'Nothing was forgotten: these words could name anything. Name a thing or a person, or an entry by its id; the user ' +
  'clears the whole memory in the console or with DELETE /memory/brain.'

/** Forgets something, or everything about something, because the user said so in this conversation. It can be restored. */
export function createForget (parts: MemoryParts): BuiltinTool<Input> {
  const { brain, userWords } = parts
  return {
    model: {
      name: 'forget',
      description: 'Forget one thing that is remembered of the user (id), or everything about something (about), when they ask for it. ' +
        'Tell them what was forgotten, and what waits for their confirmation.',
      schema: Type.Object({
        id: Type.Optional(Type.String({ description: `Its id or its words; "${LAST}": what was remembered last here` })),
        about: Type.Optional(Type.String({ description: 'The thing or person, copied from the span' })),
        span: Type.String({ description: 'Their words that ask for it, copied exactly' })
      }, { additionalProperties: false })
    },
    says: { en: { label: 'Forget something', does: 'forget', result: ({ message }) => textOf(message) } },
    policy: { effect: 'write', permission: 'allow', needs: ['userWords'] },
    effects: { source: 'memory' },
    async execute ({ id, about, span }, { runId }) {
      if (about !== undefined && about.trim() !== '') return forgetAbout(about, span, runId, parts)
      if (id === undefined) throw new ToolFailed('Nothing was forgotten: give "id" or "about".')
      const { text, isUnsure, said, source } = await findSaid(userWords, runId, span, { mayAsk: true })
      const entry = findKnown((await brain.known()).entries, id, source.threadId)
      const isMeant = namesEntry(text, entry, source.threadId)
      const { proposed, replaced } = await brain.ingest([{
        ...{ kind: 'fact', fact: text, replaces: [entry.id], isRetraction: true, isForgotten: true },
        ...{ isUnsure: isUnsure || !isMeant, said, source }
      }])
      if (replaced.length > 0) {
        return { forgotten: entry.fact, id: entry.id, message: `I forgot: “${entry.fact}” ${RESTORED}` }
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

async function forgetAbout (about: string, span: string, runId: string, { brain, userWords }: MemoryParts) {
  const { text, isUnsure, said, source, isDirect } = await findSaid(userWords, runId, span, { mayAsk: true })
  if (about.length > MAX_ABOUT || !foldText(text).includes(foldText(about))) throw new ToolFailed(NOT_SAID)
  const found = await brain.forgetAbout(about, { fact: text, said, source, isUnsure, isSure: isDirect })
  if (found === undefined) throw new ToolFailed(TOO_WIDE)
  const { forgotten, patterns, open, maybe } = found
  const quoted = (facts: Array<{ fact: string }>) => facts.map(({ fact }) => `“${fact}”`).join(', ')
  const messages = [
    ...forgotten.length > 0 ? [`I forgot: ${quoted(forgotten)} ${RESTORED}`] : [],
    ...patterns.length > 0 ? [`I forgot the habit: ${quoted(patterns.map(({ pattern }) => ({ fact: pattern })))}`] : [],
    ...open.length > 0
      ? [`To forget ${quoted(open)} is a proposal now, because it was typed, pinned or important. It is done once you accept it.`]
      : [],
    ...maybe.length > 0 ? [`This may be about it, too, and was kept; ask the user, and forget it by its id: ${quoted(maybe)}`] : []
  ]
  const nothing = `Nothing is remembered about “${about}”`
  return {
    ...(forgotten.length > 0 && { forgotten: forgotten.map(({ fact }) => fact) }),
    ...(open.length > 0 && { proposed: open.map(({ fact }) => fact) }),
    ...(maybe.length > 0 && { kept: maybe.map(({ id, fact }) => ({ id, fact })) }),
    message: messages.length > 0
      ? messages.join('\n')
      : `${nothing}${isUnsure ? '' : ', and nothing that you said about it so far will be'}.`
  }
}
