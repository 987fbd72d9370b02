import { useQuery } from '@tanstack/react-query'
import { sendWithToken } from '../../../lib/session.ts'

/** Pixels of the longer side of a picture in the conversation. */
const THUMBNAIL = 480
const PICTURE = /^image\/(?:png|jpeg|gif|webp)$/

/** Reads a file that the service stores. */
export const readFile = async (digest: string): Promise<Blob> => {
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

/** Whether files of a type are pictures that browsers show. */
export const isPicture = (mediaType: string): boolean => PICTURE.test(mediaType)

/** Makes a small picture of a file that the service stores; of other files it makes none. Undefined `digest`: there is no file. */
export const useThumbnail = (digest: string | undefined, mediaType: string) => useQuery({
  queryKey: ['attachment', digest],
  queryFn: () => thumbnail(digest!),
  enabled: digest !== undefined && isPicture(mediaType),
  staleTime: Infinity,
  retry: false
})
