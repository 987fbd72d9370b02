import { useEffect, useState } from 'react'
import { say } from '../../../lib/say.ts'
import { sayDuration } from '../../../lib/time.ts'

const SECOND = 1_000

/** That the agent works, and for how long. `since` is when it began, if that is known already. Milliseconds since the Unix epoch. */
export function Working ({ since }: { since?: number }) {
  const [shown] = useState(Date.now)
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND)
    return () => clearInterval(timer)
  }, [])
  const ms = now - Math.min(since ?? shown, shown)
  return <>{ms < SECOND ? say('chat.working') : say('chat.workingFor', { time: sayDuration(Math.floor(ms / SECOND) * SECOND) })}</>
}
