import { useEffect } from 'react'
import { seeTaskDigest, type DigestSeenBody } from '../../client/generated/index.ts'
import { asked } from './service.ts'

/** The name of this reader. The service stores for each reader how far it has seen the digest; all browsers share this name. */
export const READER = { client: 'console' }

/** Notes how far the user has seen the digest, or only its part about one task or chat. */
export const noteSeen = (seen: Omit<DigestSeenBody, 'client'>) => seeTaskDigest({ ...asked(), body: { ...READER, ...seen } })

/** Notes that the user has seen an idle chat while its page is visible, so that the inbox shows no card for it. */
export function useSeenChat (threadId: string, isResting: boolean) {
  useEffect(() => {
    if (!isResting) return
    let isNoted = false
    const note = () => {
      if (isNoted || document.visibilityState !== 'visible') return
      isNoted = true
      // If the note fails, the inbox shows the card once more.
      noteSeen({ threadId, until: Date.now() }).catch(() => {})
    }
    note()
    document.addEventListener('visibilitychange', note)
    return () => document.removeEventListener('visibilitychange', note)
  }, [threadId, isResting])
}
