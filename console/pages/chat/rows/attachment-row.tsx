import { useMutation, useQuery } from '@tanstack/react-query'
import { say } from '../../../lib/say.ts'
import { sendWithToken } from '../../../lib/session.ts'
import { Button } from '../../../parts/button.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** Pixels of the longer side of a picture in the conversation. */
const THUMBNAIL = 480
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/
const LONGEST_NAME = 120

const readFile = async (digest: string): Promise<Blob> => {
  const response = await sendWithToken(`/attachments/${digest}`)
  if (!response.ok) throw new Error(response.statusText)
  return response.blob()
}

/** Returns a small picture as a data URL: the page shows no other addresses, and keeps no large ones. */
async function thumbnail (digest: string): Promise<string> {
  const picture = await createImageBitmap(await readFile(digest))
  const scale = Math.min(1, THUMBNAIL / Math.max(picture.width, picture.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.round(picture.width * scale))
  canvas.height = Math.max(1, Math.round(picture.height * scale))
  canvas.getContext('2d')!.drawImage(picture, 0, 0, canvas.width, canvas.height)
  picture.close()
  return canvas.toDataURL('image/webp')
}

async function download (digest: string, name: string): Promise<void> {
  const url = URL.createObjectURL(await readFile(digest))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

interface Props {
  digest: string
  mediaType: string
  name: string
  /** It belongs to a message of the user. */
  isSaid: boolean
}

/** A file that the service stores: a small picture where it is one, and its name with a download. */
export function AttachmentRow ({ digest, mediaType, name, isSaid }: Props) {
  const isPicture = PICTURE.test(mediaType)
  const { data: picture, isError } = useQuery({
    queryKey: ['attachment', digest],
    queryFn: () => thumbnail(digest),
    enabled: isPicture,
    staleTime: Infinity,
    retry: false
  })
  const saving = useMutation({ mutationFn: () => download(digest, name) })
  return (
    <div className='attachment' data-said={isSaid || undefined}>
      {isPicture && !isError && (
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
