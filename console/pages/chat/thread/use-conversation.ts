import { useChat } from '@ai-sdk/react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { isCut } from '../../../../client/errors.ts'
import { steerRun, stopRun, type RunOptions } from '../../../../client/generated/index.ts'
import { keys } from '../../../lib/queries.ts'
import { asked, body } from '../../../lib/service.ts'
import { runTransport } from '../stream/run-transport.ts'
import { withPage } from './loaded-messages.ts'
import { olderMessages, type ThreadPage } from './thread-page.ts'

/**
 * A conversation: the messages that the page has, live while the agent answers, and what the user can do with it. `page` is what the
 * service stores; it is read again when the service says that it changed, and replaces what the chat has while nothing streams. A run that
 * goes on, begun here or elsewhere, is read wherever it is found.
 */
export function useConversation (id: string, page: ThreadPage) {
  const queries = useQueryClient()
  const [from, setFrom] = useState(page.from)
  const chat = useChat({ id, messages: page.messages, transport: runTransport })
  const { status, setMessages, resumeStream, clearError, error } = chat
  const isBusy = status === 'submitted' || status === 'streaming'

  // What was asked for before the last answer ended does not hold it.
  const idleSince = useRef(0)
  const wasBusy = useRef(false)
  useEffect(() => {
    if (!isBusy && wasBusy.current) {
      idleSince.current = Date.now()
      void queries.invalidateQueries({ queryKey: keys.thread(id) })
    }
    wasBusy.current = isBusy
  }, [isBusy, id, queries])

  useEffect(() => {
    if (isBusy || page.askedAt < idleSince.current) return
    if (page.status === 'running') void resumeStream()
    else if (error !== undefined && isCut(error)) clearError()
    if (page.isNew) return
    const loaded = withPage({ from, messages: chat.messages }, page)
    setFrom(loaded.from)
    setMessages(loaded.messages)
    // Only another page is taken over, not what the chat makes of it.
  }, [page])

  const older = useMutation({
    mutationFn: () => olderMessages(id, from),
    onSuccess (read) {
      if (read.from + read.messages.length !== from) return
      setFrom(read.from)
      setMessages((messages) => [...read.messages, ...messages])
    }
  })
  const stopping = useMutation({
    async mutationFn () {
      await stopRun({ ...asked(), path: { id } })
      await chat.stop()
    }
  })
  const steering = useMutation({ mutationFn: (message: string) => steerRun({ ...asked(), path: { id }, body: { message } }).then(body) })
  const chosen = (options: RunOptions) => ({ body: { options: { ...options, interactive: true } } })

  return {
    messages: chat.messages,
    isBusy,
    isStreaming: status === 'streaming',
    error,
    hasOlder: from > 0,
    older,
    stopping,
    steering,
    send: (text: string, options: RunOptions) => void chat.sendMessage({ text }, chosen(options)),
    edit: (messageId: string, text: string, options: RunOptions) => void chat.sendMessage({ text, messageId }, chosen(options)),
    regenerate: (options: RunOptions) => void chat.regenerate(chosen(options)),
    reread () {
      clearError()
      void queries.invalidateQueries({ queryKey: keys.thread(id) })
    }
  }
}
export type Conversation = ReturnType<typeof useConversation>
