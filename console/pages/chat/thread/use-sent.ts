import type { FileUIPart, UIMessage } from 'ai'
import { useRef, useState } from 'react'
import { forgetDraft } from '../../../lib/draft.ts'
import { type Chosen, ownParts } from './chosen.ts'

/** A message that the user has sent. */
export interface Sent {
  messageId: string
  text: string
  files: FileUIPart[]
  chosen: Chosen[]
  /** The draft from which it was sent. It is kept until the message has arrived, over a reload too. */
  draft: string
  /** It replaces a message of the conversation. */
  isEdit: boolean
}

/** The draft of the files that go with a text. */
export const filesOf = (draft: string) => `${draft} files`

/** The draft of the prompt and the skill that go with it. */
export const chosenFor = (draft: string) => `${draft} chosen`

const textOf = (message: UIMessage) => ownParts(message).flatMap((part) => part.type === 'text' ? part.text : []).join('')

/** The message that was sent last. If the service did not get it, it comes back to the field. */
export function useSent () {
  const sent = useRef<Sent>()
  const [returned, setReturned] = useState<Sent>()

  function arrived () {
    if (sent.current !== undefined) {
      forgetDraft(sent.current.draft, sent.current.text)
      forgetDraft(filesOf(sent.current.draft), JSON.stringify(sent.current.files))
      forgetDraft(chosenFor(sent.current.draft), JSON.stringify(sent.current.chosen))
    }
    sent.current = undefined
  }
  return {
    /** What the service did not get, until something is sent again. */
    returned,
    isUnsure: () => sent.current !== undefined,

    /** Notes that a message is sent. */
    note (message: Sent) {
      sent.current = message
      setReturned(undefined)
    },

    /** The user has called it back: its draft stays. */
    callBack () {
      sent.current = undefined
    },

    /** The service has answered to it. */
    arrived,

    /** Compares it with what the service stores, once no answer comes. */
    compare (stored: UIMessage[]) {
      const { messageId, text } = sent.current ?? {}
      if (messageId === undefined) return
      if (stored.some((message) => message.id === messageId && textOf(message) === text)) return arrived()
      setReturned(sent.current)
      sent.current = undefined
    }
  }
}
