import type { DataUIPart, UIDataTypes, UIMessage } from 'ai'
import { useEffect, useState } from 'react'

/** What a run tells about itself while it streams, and nothing keeps. */
export interface Told {
  /** What the model, or its server, did not take: sentences. */
  notices: string[]
  /** How long the model has said nothing, ms. */
  silentMs?: number
}

const NOTHING: Told = { notices: [] }

/** Collects what a run tells; the silence of its model ends with the next part of a message. `onSend` begins anew. */
export function useTold () {
  const [told, setTold] = useState(NOTHING)
  return {
    told,
    onData ({ type, data }: DataUIPart<UIDataTypes>) {
      if (type === 'data-waiting') setTold((before) => ({ ...before, silentMs: (data as { sinceMs: number }).sinceMs }))
      if (type !== 'data-notice') return
      const { text } = data as { text: string }
      setTold((before) => before.notices.includes(text) ? before : { ...before, notices: [...before.notices, text] })
    },
    useHeard (messages: UIMessage[]) {
      useEffect(() => setTold((before) => before.silentMs === undefined ? before : { notices: before.notices }), [messages])
    },
    onSend: () => setTold(NOTHING)
  }
}
