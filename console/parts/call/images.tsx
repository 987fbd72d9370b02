import { useState } from 'react'
import { say } from '../../lib/say.ts'
import { Button } from '../button.tsx'
import { isRecord } from './values.tsx'

/** The number of images that are shown until the user asks for more. */
const SHOWN = 4
const TYPE = /^image\/(png|jpeg|gif|webp)$/
const BASE64 = /^[A-Za-z0-9+/=\s]+$/

interface Image {
  mimeType: string
  data: string
}

const isImage = (block: unknown): block is Image =>
  isRecord(block) && block.type === 'image' && typeof block.mimeType === 'string' && TYPE.test(block.mimeType) &&
  typeof block.data === 'string' && BASE64.test(block.data)

/** Splits the output of a tool into the images in its `content` and the rest, in which a note replaces each image. */
export function withoutImages (output: unknown): { images: Image[], rest: unknown } {
  if (!isRecord(output) || !Array.isArray(output.content)) return { images: [], rest: output }
  const images = output.content.filter(isImage)
  if (images.length === 0) return { images, rest: output }
  const others = output.content.filter((block) => !isImage(block))
  const { content, ...fields } = output
  return { images, rest: others.length === 0 ? fields : { ...fields, content: others } }
}

/** The images of a tool's output. They are part of the output, so nothing is fetched. */
export function Images ({ images }: { images: Image[] }) {
  const [shown, setShown] = useState(SHOWN)
  if (images.length === 0) return null
  return (
    <div className='call-images'>
      {images.slice(0, shown).map(({ mimeType, data }, at) => (
        <img key={at} src={`data:${mimeType};base64,${data}`} alt={say('run.image', { number: at + 1, count: images.length })} />
      ))}
      {images.length > shown && (
        <Button onClick={() => setShown(images.length)}>{say('run.moreImages', { count: images.length - shown })}</Button>
      )}
    </div>
  )
}
