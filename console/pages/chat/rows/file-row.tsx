import { say } from '../../../lib/say.ts'
import { VisibleText } from '../../../parts/visible-text.tsx'

/** A file of a message. Only images that the message itself holds are shown; nothing is fetched. */
export function FileRow ({ url, mediaType, name }: { url: string, mediaType: string, name?: string }) {
  const label = name ?? mediaType
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
