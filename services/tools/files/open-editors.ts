import { readFile, stat } from 'node:fs/promises'
import type { ChangedPath } from '../../contracts/tool.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { newId } from '../../lib/ids.ts'
import { defineError } from '../../lib/service-error.ts'
import { ToolFailed } from '../tool-errors.ts'
import { WHOLE_BYTES } from './read-text.ts'
import { decodeText, detectEncoding } from './text-encoding.ts'

/** The time limit for an editor's answer, in milliseconds. Without an answer, the file counts as saved. */
const ANSWER_MS = 2_000
/** How long an editor counts as open after its last request, in milliseconds. */
const GAP_MS = 2_000
/** The most editors that can be open at once. */
const MAX_EDITORS = 64

const TooManyEditors = defineError('ERR_TOO_MANY_WAITS', 'There are already %d editors that wait for requests. Close one.')

/** A question to an editor: does the file at this path have unsaved changes? */
interface BufferRequest {
  requestId: string
  /** The real path of the file. */
  path: string
}

interface Editor {
  threadId: string
  /** The questions that the editor has not received yet. */
  queue: BufferRequest[]
  /** Ends the waiting request of the editor. */
  wake?: () => void
  /** The time of the editor's last request, from `clock.awake()`. */
  seenAt: number
}

export type OpenEditors = ReturnType<typeof createOpenEditors>

/**
 * Manages the editors in which a user works on files of a conversation. Each open editor is asked for the text of a file that might have
 * unsaved changes.
 */
export function createOpenEditors ({ clock, threadOf }: { clock: Clock, threadOf: (runId: string) => string | undefined }) {
  const editors = new Map<string, Editor>()
  const asked = new Map<string, { editor: Editor, answer: (text: string | undefined) => void }>()
  const closing = new AbortController()
  const keyOf = (threadId: string, name: string) => `${name}\n${threadId}`

  const isOpen = ({ wake, seenAt }: Editor) => wake !== undefined || clock.awake() - seenAt < GAP_MS

  function join (threadId: string, name: string): Editor {
    const key = keyOf(threadId, name)
    const known = editors.get(key)
    if (known !== undefined) return known
    for (const [other, editor] of editors) if (!isOpen(editor)) editors.delete(other)
    if (editors.size >= MAX_EDITORS) throw new TooManyEditors(MAX_EDITORS)
    const editor = { threadId, queue: [], seenAt: clock.awake() }
    editors.set(key, editor)
    return editor
  }

  async function ask (editor: Editor, path: string, signal: AbortSignal): Promise<string | undefined> {
    const request = { requestId: newId(), path }
    const answered = Promise.withResolvers<string | undefined>()
    asked.set(request.requestId, { editor, answer: answered.resolve })
    editor.queue.push(request)
    editor.wake?.()
    try {
      return await settlesWithin({ clock, ms: ANSWER_MS, signal }, answered.promise) ? await answered.promise : undefined
    } finally {
      asked.delete(request.requestId)
      editor.queue = editor.queue.filter((each) => each !== request)
    }
  }

  return {
    /**
     * Returns the questions that an editor has not received yet. If there are none, waits up to `ms` milliseconds for the first. Throws
     * TooManyEditors (429).
     */
    async requests (threadId: string, name: string, { ms, signal }: { ms: number, signal: AbortSignal }): Promise<BufferRequest[]> {
      const editor = join(threadId, name)
      if (editor.queue.length === 0) {
        editor.wake?.()
        const woken = Promise.withResolvers<void>()
        const over = new AbortController()
        editor.wake = woken.resolve
        const late = clock.sleep(ms, AbortSignal.any([signal, closing.signal, over.signal])).catch(() => {})
        await Promise.race([woken.promise, late])
        over.abort('answered')
        if (editor.wake === woken.resolve) editor.wake = undefined
      }
      editor.seenAt = clock.awake()
      return editor.queue.splice(0)
    },

    /**
     * Takes an editor's answer: the text that the editor shows, or undefined if it does not have the file open. Returns false if the answer
     * came too late.
     */
    answer (threadId: string, requestId: string, text: string | undefined): boolean {
      const found = asked.get(requestId)
      if (found?.editor.threadId !== threadId) return false
      found.answer(text)
      return true
    },

    /**
     * Returns the text of a file in an editor of the run's conversation, if it differs from `bytes`, the content of the file; undefined
     * otherwise.
     */
    async unsaved (runId: string, path: string, bytes: Uint8Array, signal: AbortSignal): Promise<string | undefined> {
      const threadId = threadOf(runId)
      const open = [...editors.values()].filter((editor) => editor.threadId === threadId && isOpen(editor))
      const texts = await Promise.all(open.map((editor) => ask(editor, path, signal)))
      return texts.find((text) => text !== undefined && !isSame(text, bytes))
    },

    /** True if an editor of the run's conversation is open. */
    isOpen (runId: string): boolean {
      const threadId = threadOf(runId)
      return threadId !== undefined && [...editors.values()].some((editor) => editor.threadId === threadId && isOpen(editor))
    },

    close: () => closing.abort('closing')
  }
}

/** Throws ToolFailed if a file at one of the paths has unsaved changes in an editor of the run's conversation. */
export async function refuseUnsaved (
  places: readonly ChangedPath[],
  { editors, runId, signal }: { editors?: OpenEditors, runId: string, signal: AbortSignal }
): Promise<void> {
  if (!editors?.isOpen(runId)) return
  await Promise.all(places.map(async ({ path }) => {
    const found = await stat(path).catch(() => undefined)
    if (!found?.isFile() || found.size > WHOLE_BYTES) return
    if (await editors.unsaved(runId, path, await readFile(path, { signal }), signal) === undefined) return
    throw new ToolFailed(
      `${JSON.stringify(path)} has changes in the user's editor that are not saved. Nothing was changed: ask the user to save or discard ` +
        'them first.'
    )
  }))
}

/**
 * Removes differences that are no changes: editors show texts without byte order marks, and some with other line ends than the file has.
 */
const plain = (text: string) => text.replace(/^\ufeff/, '').replaceAll('\r\n', '\n')

function isSame (text: string, bytes: Uint8Array): boolean {
  const encoding = detectEncoding(bytes)
  return encoding !== undefined && plain(decodeText(Buffer.from(bytes), encoding)) === plain(text)
}
