import type { DataUIPart, UIDataTypes, UIMessage } from 'ai'
import { useEffect, useState } from 'react'
import type { Steer } from '../../../../client/generated/index.ts'

/** Transient information about a streaming run, which is not stored. */
interface Told {
  /** Sentences about parts that the model or its server did not accept. */
  notices: string[]
  /** Steering messages of the user that no step has read yet. */
  waiting: Steer[]
  /** How long the model has sent nothing, in milliseconds. */
  silentMs?: number
}

const NOTHING: Told = { notices: [], waiting: [] }

/** Collects transient information from a run's stream. `silentMs` is cleared by the next part of a message. `onSend` clears everything. */
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
