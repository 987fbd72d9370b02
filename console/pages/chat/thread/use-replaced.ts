import { useState } from 'react'
import type { ReplacedChanges, RunBody } from '../../../../client/generated/index.ts'

/** What becomes of the changes to files that replaced answers made. */
export type Fate = Extract<RunBody['changes'], 'keep' | 'undo'>

/** Asks the user what becomes of these changes. Rejects with an AbortError if the user wants neither. */
export type AskFate = (changes: ReplacedChanges, signal?: AbortSignal) => Promise<Fate>

/** The question what becomes of the changes to files that the replaced answers made, while it is open. */
export function useReplaced () {
  const [open, setOpen] = useState<{ changes: ReplacedChanges, answer: (fate?: Fate) => void }>()
  const [ask] = useState((): AskFate => async (changes, signal) => {
    const { promise, resolve } = Promise.withResolvers<Fate | undefined>()
    const leave = () => resolve(undefined)
    signal?.addEventListener('abort', leave)
    setOpen({ changes, answer: resolve })
    const fate = await promise
    signal?.removeEventListener('abort', leave)
    setOpen(undefined)
    if (fate === undefined) throw new DOMException('The message is not sent.', 'AbortError')
    return fate
  })
  return { open, ask }
}
