import { say } from '../../../lib/say.ts'
import { AttachmentRow } from './attachment-row.tsx'
import { VisibleText } from '../../../parts/visible-text.tsx'

interface Props {
  url: string
  mediaType: string
  name?: string
  /** It belongs to a message of the user. */
  isSaid: boolean
}

/** A file of a message: what the message itself holds, or the service stores, is shown; nothing else is fetched. */
export function FileRow ({ url, mediaType, name, isSaid }: Props) {
  const label = name ?? mediaType
  const [, digest] = /^attachment:([0-9a-f]{64})$/.exec(url) ?? []
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
