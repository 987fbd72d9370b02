import type { Log } from '../lib/log.ts'
import { type Ask, foldAdvice, isEmptyTalk, titlePrompt } from '../models/index.ts'
import type { ThreadService } from './thread-service.ts'
import { excerpt, textOf } from './thread-message.ts'
import type { ThreadRepository } from './thread-repository.ts'

/** The most threads that can wait for a title. Further threads keep their first words as title. */
const QUEUE = 50
/** A thread with more user messages than this gets no title and keeps its first words. */
const TURNS = 3
/** The maximum length of a title, characters. */
const LONGEST = 60

/** Titles that would fit any conversation. */
const ANY = new Set([
  'title', 'chat', 'conversation', 'the conversation', 'new chat', 'new conversation', 'untitled', 'conversation title', 'user',
  'assistant',
  'titel', 'unterhaltung', 'neue unterhaltung', 'gespräch', 'titre', 'nouvelle conversation', 'título', 'conversación',
  'nueva conversación',
  'conversa', 'titolo', 'conversazione', 'беседа', 'новая беседа', 'название', '会話', 'タイトル', '对话', '标题', '新对话', '대화', '제목'
])

/** Matches texts that models give instead of a title: placeholders, reasoning, and statements that are true of every conversation. */
const PLACEHOLDER = new RegExp(
  '^(?:your|insert|enter|the) (?:[\\p{L} ]{0,20})?title\\b|\\bhere$|</?think|' +
    '^(?:chat|conversation|talk|discussion) with (?:an?|the|my) (?:ai|user|assistant)\\b',
  'iu'
)

/**
 * Whether a text of a model is a title of this conversation. A text that would fit any conversation is none, and neither is a role with a
 * quotation or empty talk.
 */
const isTitle = (text: string): boolean =>
  /\p{L}{2}|[\p{Script=Han}\p{Script=Hangul}]/u.test(text) && !/^(?:user|assistant|system|human|ai)\s*:/i.test(text) &&
  !ANY.has(foldAdvice(text)) && !PLACEHOLDER.test(text) && !isEmptyTalk(text)

/** Gives titles to threads whose id a client chose, after their first exchange, in the background and one thread at a time. */
export function createTitles ({ threads, catalog, ask, isOffline, isWanted, log }: {
  threads: Pick<ThreadRepository, 'get' | 'messages'>
  catalog: Pick<ThreadService, 'isUntitled' | 'suggestTitle'>
  ask: Ask<{ signal: AbortSignal, thread: string }>
  /** Whether no model can be asked about the thread. */
  isOffline: (thread: string) => Promise<boolean>
  /** Whether the configuration enables titles. */
  isWanted: () => boolean
  log: Pick<Log, 'warn'>
}) {
  const closing = new AbortController()
  const waiting = new Set<string>()
  let working: Promise<void> | undefined

  async function work () {
    for (const id of waiting) {
      await title(id).catch((error) => {
        if (!closing.signal.aborted) log.warn({ err: error }, 'a thread could not be given a title')
      })
      waiting.delete(id)
    }
    working = undefined
  }

  async function title (id: string) {
    if (closing.signal.aborted) return
    const head = await threads.get(id)
    if (head === undefined || head.minted || head.turns > TURNS || !await catalog.isUntitled(id) || await isOffline(id)) return
    const messages = await threads.messages(id, { limit: 20 })
    const firstOf = (role: string) => textOf(messages.find((message) => message.role === role && textOf(message) !== '') ?? { role })
    const { question, ...asked } = titlePrompt
    const text = question(firstOf('user'), firstOf('assistant'))
    const answer = await ask({ ...asked, text, signal: closing.signal, thread: id })
    const suggestion = 'value' in answer ? excerpt((answer.value.title ?? '').replace(/^["'\s]+|["'.\s]+$/g, ''), LONGEST) : ''
    if (isTitle(suggestion)) await catalog.suggestTitle(id, suggestion)
  }

  return {
    /** Queues the thread for a title. Must be called when a run of the thread has ended. */
    ended (id: string) {
      if (closing.signal.aborted || !isWanted() || waiting.size >= QUEUE) return
      waiting.add(id)
      working ??= work()
    },
    /** Resolves when no title is in progress. */
    async idle () {
      await working
    },
    async close () {
      closing.abort()
      await working
    }
  }
}
