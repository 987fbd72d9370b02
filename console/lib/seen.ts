import { useEffect } from 'react'
import { seeTaskDigest, type DigestSeenBody } from '../../client/generated/index.ts'
import { asked } from './service.ts'

/** The name of this reader: the service keeps how far it has seen what happened, for all browsers. */
export const READER = { client: 'console' }

/** Notes how far the user has seen what happened, or what of it is told of one task or chat. */
export const noteSeen = (seen: Omit<DigestSeenBody, 'client'>) => seeTaskDigest({ ...asked(), body: { ...READER, ...seen } })

/** Notes that the user has seen a chat that rests, while its page is looked at, so that no card tells of it. */
export function useSeenChat (threadId: string, isResting: boolean) {
  useEffect(() => {
    if (!isResting) return
    let isNoted = false
    const note = () => {
      if (isNoted || document.visibilityState !== 'visible') return
      isNoted = true
      // What is not noted is told once more.
      noteSeen({ threadId, until: Date.now() }).catch(() => {})
    }
    note()
    document.addEventListener('visibilitychange', note)
    return () => document.removeEventListener('visibilitychange', note)
  }, [threadId, isResting])
}
