import { useQuery } from '@tanstack/react-query'
import { sendWithToken } from '../../../lib/session.ts'

/** The longer side of an image in the conversation, in pixels. */
const THUMBNAIL = 480
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/

/** Reads a file that the service stores. */
export const readFile = async (digest: string): Promise<Blob> => {
  const response = await sendWithToken(`/attachments/${digest}`)
  if (!response.ok) throw new Error(response.statusText)
  return response.blob()
}

/** Returns a thumbnail as a data URL, because the page displays no other addresses and should hold no large images. */
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

/** Returns true if a browser can display files of this type as images. */
export const isPicture = (mediaType: string): boolean => PICTURE.test(mediaType)

/** Makes a thumbnail of an image that the service stores; other files have none. `digest` is undefined if there is no file. */
export const useThumbnail = (digest: string | undefined, mediaType: string) => useQuery({
  queryKey: ['attachment', digest],
  queryFn: () => thumbnail(digest!),
  enabled: digest !== undefined && isPicture(mediaType),
  staleTime: Infinity,
  retry: false
})
