import { Type } from '@sinclair/typebox'
import { foldText } from '../../brain/index.ts'
import type { BuiltinTool } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { namesEntry, findKnown, findSaid, LAST, type MemoryParts } from './said-words.ts'
import { textOf } from '../../lib/in-words.ts'
import { fold, wordsIn } from '../../lib/words.ts'

interface Input {
  id?: string
  about?: string
  span: string
}

/** The most characters of the text that names the subject to forget. */
const MAX_ABOUT = 200
const RESTORED = 'It is hidden and can be restored for 30 days.'
const NOT_SAID = 'Nothing was forgotten: "about" must be copied from "span", the thing or the person alone, such as "my trip to Oslo".'
const TOO_WIDE = 'Nothing was forgotten: these words could name anything. Name a thing or a person, an entry by its id, or the user ("me").'
const foldWords = (words: string): string[] => words.split(' ').map(fold)
/** The most entries shown in the question whether to forget everything. */
const MOST_SHOWN = 50
/** Words that name the user, and words for everything, as in "everything about me". */
const SELF = new Set(foldWords('me myself mich mir moi mí me stesso mnie mną mim mig mij 私 わたし 自分 僕 我 나 저 beni ' +
  'bana hakkımda hakkımdaki меня мне'))
const EVERYTHING = new Set(foldWords(
  'everything all anything about of you know remember alles über was du weißt von tout tous ce que tu sais sur de todo lo que sabes ' +
  'sobre tutto quello che sai su di wszystko co wiesz o 全部 すべて 全て の こと のこと に ついて について 关于 所有 一切 的 전부 모든 것 her şey şeyi bildiğin ' +
  'всё что ты знаешь обо tudo o sabe allt om vad vet'))

/**
 * Creates the tool that forgets an entry, or everything about a subject, because the user asked for it in this conversation. It can be
 * restored.
 */
export function createForget (parts: MemoryParts): BuiltinTool<Input> {
  const { brain, userWords } = parts
  return {
    model: {
      ...{ name: 'forget', use: 'seldom' },
      description: 'Forget one thing that is remembered (id), or everything about something (about), when the user asks for it. ' +
        'Tell them what was forgotten, and what waits for their confirmation.',
      schema: Type.Object({
        id: Type.Optional(Type.String({ description: `Or its words; "${LAST}": what was remembered last here` })),
        about: Type.Optional(Type.String({ description: 'Copied from the span; "me": all that is remembered' })),
        span: Type.String({ description: 'Their words that ask for it, copied exactly' })
      }, { additionalProperties: false })
    },
    says: { en: { label: 'Forget something', does: 'forget', result: ({ message }) => textOf(message) } },
    policy: { effect: 'write', permission: { everyTime: askForEverything }, needs: ['userWords'] },
    effects: { source: 'memory' },
    async execute ({ id, about, span }, { runId }) {
      if (about !== undefined && isEverything(about)) return forgetEverything(span, runId)
      if (about !== undefined && about.trim() !== '') return forgetAbout(about, span, runId, parts)
      if (id === undefined) throw new ToolFailed('Nothing was forgotten: give "id" or "about".')
      const { text, isUnsure, said, source } = await findSaid(userWords, runId, span, { mayAsk: true })
      const { entries } = await brain.known()
      const entry = findKnown(entries, id, source.threadId)
      const isMeant = namesEntry(text, entry, { entries, threadId: source.threadId })
      const { proposed, replaced } = await brain.ingest([{
        ...{ kind: 'fact', fact: text, replaces: [entry.id], isRetraction: true, isForgotten: true },
        ...{ isUnsure: isUnsure || !isMeant, said, source }
      }])
      if (replaced.length > 0) {
        return { forgotten: entry.fact, id: entry.id, message: `I forgot: “${entry.fact}”. ${RESTORED}` }
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

  /**
   * Returns a question that lists the entries, for a call that would forget everything. Returns undefined for any other call, and for one
   * that the user did not ask for: it is refused when it runs.
   */
  async function askForEverything ({ about, span }: Input, { runId }: { runId: string }): Promise<string | undefined> {
    if (about === undefined || !isEverything(about)) return undefined
    const { entries } = await brain.known()
    const isWished = await findSaid(userWords, runId, span, { mayAsk: true }).then(() => true, () => false)
    if (entries.length === 0 || !isWished) return undefined
    const newest = entries.slice(-MOST_SHOWN).map(({ fact }) => `“${fact}”`).join(', ')
    const others = entries.length > MOST_SHOWN ? `, and ${entries.length - MOST_SHOWN} older ones` : ''
    return `It would forget all that is remembered of you (${entries.length}): ${newest}${others}. It can be restored for 30 days.`
  }

  async function forgetEverything (span: string, runId: string) {
    await findSaid(userWords, runId, span, { mayAsk: true })
    const forgotten = (await brain.forgetEverything()).map(({ fact }) => fact)
    const message = forgotten.length > 0
      ? `I forgot all that was remembered of you (${forgotten.length}), and nothing that you said so far will be. ${RESTORED}`
      : 'Nothing is remembered of the user, and nothing that they said so far will be.'
    return { forgotten, message }
  }
}

/** True if the words name only the user, with or without a word for everything. */
function isEverything (about: string): boolean {
  const words = [...wordsIn(about)].map(({ word }) => word)
  return words.some((word) => SELF.has(word)) && words.every((word) => SELF.has(word) || EVERYTHING.has(word))
}

async function forgetAbout (about: string, span: string, runId: string, { brain, userWords }: MemoryParts) {
  const { text, isUnsure, said, source, isDirect } = await findSaid(userWords, runId, span, { mayAsk: true })
  if (about.length > MAX_ABOUT || !foldText(text).includes(foldText(about))) throw new ToolFailed(NOT_SAID)
  const found = await brain.forgetAbout(about, { fact: text, said, source, isUnsure, isSure: isDirect })
  if (found === undefined) throw new ToolFailed(TOO_WIDE)
  const { forgotten, patterns, open, maybe } = found
  const quoted = (facts: Array<{ fact: string }>) => facts.map(({ fact }) => `“${fact}”`).join(', ')
  const messages = [
    ...forgotten.length > 0 ? [`I forgot: ${quoted(forgotten)}. ${RESTORED}`] : [],
    ...patterns.length > 0 ? [`I forgot the habit: ${quoted(patterns.map(({ pattern }) => ({ fact: pattern })))}.`] : [],
    ...open.length > 0
      ? [`To forget ${quoted(open)} is a proposal now, because it was typed, pinned or important. It is done once you accept it.`]
      : [],
    ...maybe.length > 0 ? [`This may be about it, too, and was kept; ask the user, and forget it by its id: ${quoted(maybe)}.`] : []
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
