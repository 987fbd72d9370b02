import type { FileUIPart } from 'ai'
import { useEffect, useRef, useState } from 'react'
import { useDraft } from '../../../lib/draft.ts'
import { newId } from '../../../lib/new-id.ts'
import { useUpload } from './upload-file.ts'

/** A file that is being uploaded, or whose upload failed. */
interface Sending {
  key: string
  name: string
  /** The uploaded share, from 0 to 1. */
  share: number
  failure?: string
  cancel: () => void
}

const read = (draft: string, initial: FileUIPart[]): FileUIPart[] => {
  try {
    return draft === '' ? initial : JSON.parse(draft)
  } catch {
    return initial
  }
}

/** The files of the message in the composer. Uploaded files survive a reload. `draftOf` names their draft. */
export function useAttached (draftOf: string, initial: FileUIPart[] = []) {
  const [draft, setDraft] = useDraft(draftOf)
  const [files, setFiles] = useState(() => read(draft, initial))
  const [sending, setSending] = useState<Sending[]>([])
  const known = useRef(files)
  const upload = useUpload()
  const cancels = useRef(new Map<string, () => void>())
  useEffect(() => () => cancels.current.forEach((cancel) => cancel()), [])

  function keep (next: FileUIPart[]) {
    known.current = next
    setFiles(next)
    setDraft(next.length === 0 ? '' : JSON.stringify(next))
  }
  const forget = (key: string) => setSending((all) => all.filter((each) => each.key !== key))
  const change = (key: string, changes: Partial<Sending>) =>
    setSending((all) => all.map((each) => each.key === key ? { ...each, ...changes } : each))

  async function send (file: File) {
    const key = newId()
    const abort = new AbortController()
    const cancel = () => {
      abort.abort()
      forget(key)
    }
    cancels.current.set(key, cancel)
    setSending((all) => [...all, { key, name: file.name, share: 0, cancel }])
    try {
      const { signal } = abort
      const { url, mediaType } = await upload(file, { signal, onProgress: (share) => change(key, { share }) })
      keep([...known.current, { type: 'file', url, mediaType, filename: file.name }])
      forget(key)
    } catch (error) {
      change(key, { failure: (error as Error).message })
    } finally {
      cancels.current.delete(key)
    }
  }

  return {
    files,
    sending,
    isSending: sending.some(({ failure }) => failure === undefined),
    add: (added: Iterable<File>) => void [...added].forEach((file) => void send(file)),
    remove: (file: FileUIPart) => keep(known.current.filter((each) => each !== file)),
    /** Puts files back whose message did not arrive. */
    restore: (back: FileUIPart[]) => keep([...back, ...known.current]),
    /** Clears the files of a sent message. Their draft is deleted when the service has the message. */
    clear () {
      known.current = []
      setFiles([])
      setSending([])
    }
  }
}
export type Attached = ReturnType<typeof useAttached>
