import type { FileUIPart } from 'ai'
import { Paperclip, X } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { say } from '../../../lib/say.ts'
import { IconButton } from '../../../parts/icon-button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { useThumbnail } from '../thread/thumbnail.ts'
import type { Attached } from './use-attached.ts'

const LONGEST_NAME = 60

/** The files of the message in the composer. Each has a button that removes it, and shows the progress of its upload. */
export function AttachedFiles ({ attached: { files, sending, remove } }: { attached: Attached }) {
  if (files.length === 0 && sending.length === 0) return null
  return (
    <ul className='attached' aria-label={say('chat.attached')}>
      {files.map((file) => (
        <li key={file.url} className='file-chip'>
          <Thumbnail {...file} />
          <VisibleText text={file.filename ?? file.mediaType} limit={LONGEST_NAME} />
          <Remove name={file.filename ?? file.mediaType} onRemove={() => remove(file)} />
        </li>
      ))}
      {sending.map(({ key, name, share, failure, cancel }) => (
        <li key={key} className='file-chip' data-failed={failure !== undefined || undefined}>
          {failure === undefined
            ? (
              <>
                <VisibleText text={name} limit={LONGEST_NAME} />
                <progress value={share} aria-label={say('chat.attachProgress', { percent: Math.round(share * 100) })} />
              </>
              )
            : <span role='alert'>{say('chat.attachFailed', { name, reason: failure })}</span>}
          <Remove name={name} onRemove={cancel} />
        </li>
      ))}
    </ul>
  )
}

/** A thumbnail of an image file. The file's name is shown beside it. */
function Thumbnail ({ url, mediaType }: FileUIPart) {
  const [, digest] = /^attachment:([0-9a-f]{32})$/.exec(url) ?? []
  const { data } = useThumbnail(digest, mediaType)
  return data === undefined ? null : <img className='file-thumbnail' src={data} alt='' />
}

function Remove ({ name, onRemove }: { name: string, onRemove: () => void }) {
  return <IconButton icon={X} label={say('chat.attachRemove', { name })} onClick={onRemove} />
}

/** A button that chooses files. Files that are dropped on the page are attached, too. */
export function AttachButton ({ add }: Pick<Attached, 'add'>) {
  const input = useRef<HTMLInputElement>(null)
  const [isOver, setIsOver] = useState(false)
  const take = useRef(add)
  take.current = add
  useEffect(() => {
    const holdsFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') === true
    const listen = new AbortController()
    const on = (name: 'dragover' | 'dragleave' | 'drop', handle: (event: DragEvent) => void) =>
      document.addEventListener(name, handle, { signal: listen.signal })
    on('dragover', (event) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      setIsOver(true)
    })
    on('dragleave', ({ relatedTarget }) => {
      if (relatedTarget === null) setIsOver(false)
    })
    on('drop', (event) => {
      if (!holdsFiles(event)) return
      event.preventDefault()
      setIsOver(false)
      take.current(event.dataTransfer!.files)
    })
    return () => listen.abort()
  }, [])
  return (
    <>
      <input
        ref={input} type='file' multiple hidden aria-label={say('chat.attach')}
        onChange={({ currentTarget }) => {
          add([...currentTarget.files ?? []])
          // Reset, so that the same file can be chosen again.
          currentTarget.value = ''
        }}
      />
      <IconButton icon={Paperclip} label={say('chat.attach')} onClick={() => input.current?.click()} />
      {isOver && <p className='drop-note' role='status'><span>{say('chat.attachDrop')}</span></p>}
    </>
  )
}
