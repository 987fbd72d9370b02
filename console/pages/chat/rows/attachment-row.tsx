import { useMutation } from '@tanstack/react-query'
import { saveFile } from '../../../lib/save-file.ts'
import { say } from '../../../lib/say.ts'
import { Button } from '../../../parts/button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'
import { isPicture, readFile, useThumbnail } from '../thread/thumbnail.ts'

const LONGEST_NAME = 120

interface Props {
  digest: string
  mediaType: string
  name: string
  /** It belongs to a message of the user. */
  isSaid: boolean
}

/** A file that the service stores: a small picture where it is one, and its name with a download. */
export function AttachmentRow ({ digest, mediaType, name, isSaid }: Props) {
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
