import { useMutation } from '@tanstack/react-query'
import { saveFile } from '../../../lib/save-file.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { isPicture, readFile, useThumbnail } from '../thread/thumbnail.ts'

interface Props {
  url: string
  mediaType: string
  name?: string
  /** True if the file belongs to a message of the user. */
  isSaid: boolean
}

/** A file of a message. It is shown if the message itself holds it or the service stores it; nothing is fetched from elsewhere. */
export function FileRow ({ url, mediaType, name, isSaid }: Props) {
  const label = name ?? mediaType
  const [, digest] = /^attachment:([0-9a-f]{32})$/.exec(url) ?? []
  if (digest !== undefined) return <AttachmentRow digest={digest} mediaType={mediaType} name={label} isSaid={isSaid} />
  if (/^data:image\/(png|jpeg|gif|webp)[;,]/.test(url)) {
    return <img className='row-image' src={url} alt={say('chat.file', { name: label })} />
  }
  const isLink = /^https?:\/\//.test(url)
  return (
    <p className='quiet'>
      {say('chat.file', { name: '' })} <VisibleText text={label} limit={200} />{' '}
      {isLink && <a href={url} target='_blank' rel='noreferrer noopener nofollow'><VisibleText text={url} limit={200} /></a>}
    </p>
  )
}

const LONGEST_NAME = 120

interface Stored {
  digest: string
  mediaType: string
  name: string
  /** True if the file belongs to a message of the user. */
  isSaid: boolean
}

/** A file that the service stores: its name with a download, and a thumbnail if it is an image. */
function AttachmentRow ({ digest, mediaType, name, isSaid }: Stored) {
  const { data: picture, isError } = useThumbnail(digest, mediaType)
  const saving = useMutation({ mutationFn: async () => saveFile(await readFile(digest), name) })
  return (
    <div className='attachment' data-said={isSaid || undefined}>
      {isPicture(mediaType) && !isError && (
        <span className='attachment-picture'>
          {picture !== undefined && <img className='row-image' src={picture} alt={say('chat.file', { name })} />}
        </span>
      )}
      <span className='file-chip'>
        <VisibleText text={name} limit={LONGEST_NAME} />
        <Button kind='quiet' aria-label={say('chat.fileDownload', { name })} isBusy={saving.isPending} onClick={() => saving.mutate()}>
          ↓
        </Button>
      </span>
      {saving.isError && <span className='quiet' role='alert'>{say('chat.fileGone', { name })}</span>}
    </div>
  )
}
