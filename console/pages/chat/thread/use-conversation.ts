import { useChat } from '@ai-sdk/react'
import type { FileUIPart } from 'ai'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { AgentError, isCut } from '../../../../client/errors.ts'
import { steerRun, stopRun, type RunOptions } from '../../../../client/generated/index.ts'
import { useConnection } from '../../../lib/live/live-updates.tsx'
import { newId } from '../../../lib/new-id.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'
import { createRunTransport } from '../stream/run-transport.ts'
import { type Chosen, chosenPart } from './chosen.ts'
import { withPage } from './loaded-messages.ts'
import { olderMessages, threadPage, type ThreadPage } from './thread-page.ts'
import { splitUnread, unreadWords } from './unread-words.ts'
import { useReplaced } from './use-replaced.ts'
import { useSent } from './use-sent.ts'
import { useTold } from './use-told.ts'

/** How often a run that is to be stopped is looked for, and the delay between the attempts in milliseconds. */
const STOP_TRIES = 20
const STOP_AGAIN_MS = 250

const isNotThere = (error: unknown) => error instanceof AgentError && error.code === 'ERR_NO_LIVE_RUN'

/**
 * A conversation: its loaded messages, which are updated while the agent answers, and the actions of the user. `page` is the state that the
 * service stores. It is read again when an event reports a change, and replaces the chat's messages unless an answer streams. A run that is
 * active, started here or elsewhere, is read.
 */
export function useConversation (id: string, page: ThreadPage) {
  const queries = useQueryClient()
  const [from, setFrom] = useState(page.from)
  const { told, onData, useHeard, onSend } = useTold()
  const { open, ask } = useReplaced()
  const [transport] = useState(() => createRunTransport(ask))
  const chat = useChat({ id, messages: page.messages, transport, onData })
  /** The messages before the chat removed those that are replaced. */
  const before = useRef(page.messages)
  useHeard(chat.messages)
  const { status, setMessages, resumeStream, clearError, error } = chat
  const isBusy = status === 'submitted' || status === 'streaming'
  const sent = useSent()

  // A page requested before the last answer ended does not hold that answer.
  const idleSince = useRef(0)
  const wasBusy = useRef(false)
  useEffect(() => {
    if (status === 'streaming' || (status === 'ready' && wasBusy.current)) sent.arrived()
    if (!isBusy && wasBusy.current) {
      idleSince.current = Date.now()
      void queries.invalidateQueries({ queryKey: keys.thread(id) })
    }
    wasBusy.current = isBusy
  }, [status, id, queries])

  useEffect(() => {
    if (isBusy || page.askedAt < idleSince.current) return
    if (page.status === 'running') void resumeStream()
    else if (error !== undefined && isCut(error)) clearError()
    if (page.isNew && !sent.isUnsure()) return
    sent.compare(page.messages)
    const loaded = withPage({ from, messages: chat.messages }, page)
    setFrom(loaded.from)
    setMessages(loaded.messages)
    // Runs only for a new page: the chat's own messages are no dependency.
  }, [page])

  // React Query reads known conversations again when the service is back. A new conversation, which it does not know, is read here.
  const isBack = useConnection() === 'open'
  const read = useCallback(() => {
    void queries.fetchQuery({ ...threadPage(id), staleTime: 0 }).catch(() => {})
  }, [queries, id])
  useEffect(() => {
    if (status === 'error' && isBack && page.isNew) read()
  }, [status, isBack, page.isNew, read])

  const older = useMutation({
    mutationFn: () => olderMessages(id, from),
    onSuccess (read) {
      if (read.end !== from) return
      setFrom(read.from)
      setMessages((messages) => [...read.messages, ...messages])
    }
  })
  const stopping = useMutation({
    async mutationFn () {
      await stopRun({ ...asked(), path: { id } })
      await chat.stop()
    },
    // The service may not have started the run of the message that was just sent.
    retry: (count, error) => count < STOP_TRIES && isNotThere(error),
    retryDelay: STOP_AGAIN_MS
  })
  const steering = useMutation({
    mutationFn: ({ message, messageId }: { message: string, messageId: string }) =>
      steerRun({ ...asked(), path: { id }, body: { message, id: messageId } }).then(body)
  })
  const unread = useMemo(() => isBusy ? undefined : unreadWords(chat.messages), [isBusy, chat.messages])
  const withOptions = (options: RunOptions) => ({ body: { options: { ...options, interactive: true } } })

  return {
    messages: chat.messages,
    isBusy,
    isStreaming: status === 'streaming',
    error,
    told,
    from,
    hasOlder: from > 0,
    older,
    stopping,
    steering,
    /** The unread steering messages of the last run. */
    unread,
    returned: sent.returned,
    isUnsure: sent.isUnsure(),
    /**
     * Sends a message with attached files and chosen prompts. It replaces the message `edited`, or, with `isInPlace`, the unread messages
     * of the last run.
     */
    send (
      text: string,
      { files, chosen, draft, edited, isInPlace, options }:
      { files: FileUIPart[], chosen: Chosen[], draft: string, edited?: string, isInPlace: boolean, options: RunOptions }
    ) {
      // The service recognizes repeated unread messages by their text, and replaced ones by their id.
      const isSaidAgain = unread !== undefined && text.startsWith(unread.text)
      const replaced = isInPlace && !isSaidAgain ? unread?.id : undefined
      const messageId = edited ?? replaced ?? newId()
      onSend()
      before.current = chat.messages
      sent.note({ messageId, text, files, chosen, draft, isEdit: edited !== undefined })
      if (edited === undefined && (isSaidAgain || replaced !== undefined)) setMessages((all) => splitUnread(all).before)
      const parts = [...chosen.map(chosenPart), ...text.trim() === '' ? [] : [{ type: 'text' as const, text }], ...files]
      if (edited !== undefined) void chat.sendMessage({ parts, messageId }, withOptions(options))
      else void chat.sendMessage({ id: messageId, parts }, withOptions(options))
    },
    /** Continues the last run, which ended too early. */
    goOn () {
      // The continued run reads the unread messages of the run before.
      setMessages((all) => splitUnread(all).before)
      void chat.sendMessage(undefined, { body: { continue: true } })
    },
    regenerate (options: RunOptions) {
      before.current = chat.messages
      void chat.regenerate(withOptions(options))
    },
    /** The open question about the file changes of the replaced answers. */
    replaced: open,
    /** Cancels the message that the question is about; the conversation stays as it was. */
    callBack () {
      sent.callBack()
      setMessages(before.current)
      open?.answer()
    },
    reread () {
      clearError()
      read()
    }
  }
}
export type Conversation = ReturnType<typeof useConversation>
