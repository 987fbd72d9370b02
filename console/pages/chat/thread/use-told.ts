import type { DataUIPart, UIDataTypes, UIMessage } from 'ai'
import { useEffect, useState } from 'react'
import type { Steer } from '../../../../client/generated/index.ts'

/** Notes of a run while it streams, which are stored nowhere. */
export interface Told {
  /** Sentences about parts that the model or its server did not accept. */
  notices: string[]
  /** What the user has said, and no step has read yet. */
  waiting: Steer[]
  /** How long the model has said nothing, ms. */
  silentMs?: number
}

const NOTHING: Told = { notices: [], waiting: [] }

/** Collects what a run tells; the silence of its model ends with the next part of a message. `onSend` begins anew. */
export function useTold () {
  const [told, setTold] = useState(NOTHING)
  return {
    told,
    onData ({ type, data }: DataUIPart<UIDataTypes>) {
      if (type === 'data-waiting') setTold((before) => ({ ...before, silentMs: (data as { sinceMs: number }).sinceMs }))
      if (type === 'data-steer') {
        const steer = data as Steer
        setTold((before) => {
          const others = before.waiting.filter(({ id }) => id !== steer.id)
          return { ...before, waiting: steer.state === 'waiting' ? [...others, steer] : others }
        })
      }
      if (type !== 'data-notice') return
      const { text } = data as { text: string }
      setTold((before) => before.notices.includes(text) ? before : { ...before, notices: [...before.notices, text] })
    },
    useHeard (messages: UIMessage[]) {
      useEffect(() => setTold((before) => before.silentMs === undefined ? before : { ...before, silentMs: undefined }), [messages])
    },
    onSend: () => setTold(NOTHING)
  }
}
