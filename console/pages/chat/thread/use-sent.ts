import type { FileUIPart, UIMessage } from 'ai'
import { useRef, useState } from 'react'
import { forgetDraft } from '../../../lib/draft.ts'
import { type Chosen, ownParts } from './chosen.ts'

/** A message that the user has sent. */
interface Sent {
  messageId: string
  text: string
  files: FileUIPart[]
  chosen: Chosen[]
  /** The draft of the message. It is kept until the message has arrived, also across a reload. */
  draft: string
  /** True if the message replaces a message of the conversation. */
  isEdit: boolean
}

/** Returns the name of the draft for the files of a text. */
export const filesOf = (draft: string) => `${draft} files`

/** Returns the name of the draft for the prompt and the skill of a text. */
export const chosenFor = (draft: string) => `${draft} chosen`

const textOf = (message: UIMessage) => ownParts(message).flatMap((part) => part.type === 'text' ? part.text : []).join('')

/** The message that was sent last. If the service did not receive it, it is put back into the field. */
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
    /** The message that the service did not receive, until another one is sent. */
    returned,
    isUnsure: () => sent.current !== undefined,

    /** Notes that a message is being sent. */
    note (message: Sent) {
      sent.current = message
      setReturned(undefined)
    },

    /** Forgets the message, which the user has cancelled. Its draft stays. */
    callBack () {
      sent.current = undefined
    },

    /** Deletes the drafts of the message, because the service has received it. */
    arrived,

    /** Looks for the message among those that the service stores, if no answer has come. */
    compare (stored: UIMessage[]) {
      const { messageId, text } = sent.current ?? {}
      if (messageId === undefined) return
      if (stored.some((message) => message.id === messageId && textOf(message) === text)) return arrived()
      setReturned(sent.current)
      sent.current = undefined
    }
  }
}
