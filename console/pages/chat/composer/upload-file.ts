import { useSession, noteRefused } from '../../../lib/session.ts'
import type { Attachment } from '../../../../client/generated/index.ts'
import { headerText } from '../../../../client/create-client.ts'
import { say } from '../../../lib/say.ts'

/** Images with more bytes are scaled down, as providers do themselves. */
const LARGE = 2_000_000
/** The longer side of a scaled image, in pixels, and the quality of its JPEG. */
const LONGEST_SIDE = 2_048
const QUALITY = 0.85
const PICTURE = /^image\/(?:jpeg|png|webp)$/

/** Returns a large image scaled down; other files unchanged. */
async function withFewerPixels (file: File): Promise<Blob> {
  if (!PICTURE.test(file.type) || file.size <= LARGE) return file
  try {
    const picture = await createImageBitmap(file)
    const scale = Math.min(1, LONGEST_SIDE / Math.max(picture.width, picture.height))
    const canvas = new OffscreenCanvas(Math.round(picture.width * scale), Math.round(picture.height * scale))
    const context = canvas.getContext('2d')!
    // JPEG has no transparency, so transparent pixels would become black.
    context.fillStyle = 'white'
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(picture, 0, 0, canvas.width, canvas.height)
    picture.close()
    const smaller = await canvas.convertToBlob({ type: 'image/jpeg', quality: QUALITY })
    return smaller.size < file.size ? smaller : file
  } catch {
    // The browser cannot decode the image, so it is sent unchanged.
    return file
  }
}

type Upload = (file: File, told: { onProgress: (share: number) => void, signal: AbortSignal }) => Promise<Attachment>

/**
 * Returns the function that uploads a file to the service. It rejects with an Error whose message is a sentence. It uses XMLHttpRequest,
 * because `fetch` reports no progress of uploads.
 */
export function useUpload (): Upload {
  const { token } = useSession()
  return async (file, { onProgress, signal }) => {
    const body = await withFewerPixels(file)
    signal.throwIfAborted()
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      const fail = () => reject(new Error(say('chat.attachUnsent')))
      request.open('POST', '/attachments')
      request.responseType = 'json'
      request.setRequestHeader('content-type', body.type || 'application/octet-stream')
      request.setRequestHeader('x-filename', encodeURIComponent(file.name))
      if (token !== undefined) request.setRequestHeader('authorization', `Bearer ${headerText(token)}`)
      request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / Math.max(total, 1))
      request.onerror = fail
      request.onload = () => {
        if (request.status === 201) return resolve(request.response)
        if (request.status === 401) noteRefused(token)
        if (typeof request.response?.error === 'string') reject(new Error(request.response.error))
        else fail()
      }
      signal.addEventListener('abort', () => {
        request.abort()
        reject(signal.reason)
      }, { once: true })
      request.send(body)
    })
  }
}
