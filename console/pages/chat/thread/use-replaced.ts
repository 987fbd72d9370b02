import { useState } from 'react'
import type { ReplacedChanges, RunBody } from '../../../../client/generated/index.ts'

/** Whether the file changes of replaced answers are kept or undone. */
export type Fate = Extract<RunBody['changes'], 'keep' | 'undo'>

/** Asks the user whether these changes are kept or undone. Rejects with an AbortError if the user cancels. */
export type AskFate = (changes: ReplacedChanges, signal?: AbortSignal) => Promise<Fate>

/** The open question about the file changes of replaced answers. */
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
