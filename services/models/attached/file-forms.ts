import type { AttachedFiles, NamedFile } from '../../contracts/attached-file.ts'
import { plainType, textKindOf } from '../../lib/media-type.ts'
import { defineError } from '../../lib/service-error.ts'

/** The APIs that differ in the files that they accept. A model of the gateway accepts the files that the API of its maker accepts. */
export type FileApi = 'openai' | 'anthropic' | 'google' | 'compatible' | 'offline'

/** How a model gets a file: unchanged, as its text, or not at all. */
type FileForm = 'file' | 'text' | 'none'

const PICTURES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const SOUND = ['audio/wav', 'audio/x-wav', 'audio/mpeg', 'audio/mp3']
const MIB = 1024 * 1024

/**
 * The media types that an API accepts unchanged, and the most bytes of one picture, of one other file, and of all files of a call together.
 */
interface Taken {
  types: ReadonlySet<string>
  picture: number
  file: number
  call: number
}

/**
 * Sources: https://platform.openai.com/docs/guides/images-vision, https://docs.anthropic.com/en/docs/build-with-claude/vision (a picture of
 * 5 MiB of base64, a request of 32 MB), https://ai.google.dev/gemini-api/docs/document-processing (a request of 20 MB). `compatible` has
 * the types that `@ai-sdk/openai-compatible` can send and that some model of such a server understands.
 */
const TAKEN: Record<FileApi, Taken> = {
  openai: { types: new Set([...PICTURES, 'application/pdf']), picture: 20 * MIB, file: 25 * MIB, call: 32 * MIB },
  anthropic: { types: new Set([...PICTURES, 'application/pdf']), picture: 3.75 * MIB, file: 20 * MIB, call: 20 * MIB },
  google: {
    types: new Set([
      ...['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif', 'application/pdf'],
      ...[...SOUND, 'audio/aac', 'audio/flac', 'audio/ogg', 'video/mp4', 'video/mpeg', 'video/quicktime', 'video/webm']
    ]),
    picture: 12 * MIB,
    file: 12 * MIB,
    call: 12 * MIB
  },
  compatible: { types: new Set([...PICTURES, ...SOUND, 'video/mp4']), picture: 20 * MIB, file: 20 * MIB, call: 20 * MIB },
  offline: { types: new Set(), picture: 0, file: 0, call: 0 }
}

/** Returns the API of a model's maker. `id` is the id of a model of the gateway, `<maker>/<model>`. */
export function apiOfMaker (id: string): FileApi {
  const maker = id.split('/', 1)[0]
  return maker === 'openai' || maker === 'anthropic' || maker === 'google' ? maker : 'compatible'
}

/** Returns how the models of an API get a file of this type. */
export function formOf (api: FileApi, mediaType: string): FileForm {
  // Some clients give only `image` or `image/*` as the type.
  const type = plainType(mediaType).replace(/^image(?:\/\*)?$/, PICTURES[0])
  if (TAKEN[api].types.has(type)) return 'file'
  return textKindOf(type) === undefined ? 'none' : 'text'
}

/** Returns the most bytes of one file of this type that is sent unchanged. */
export const mostBytes = (api: FileApi, mediaType: string): number =>
  plainType(mediaType).startsWith('image') ? TAKEN[api].picture : TAKEN[api].file
export const mostBytesOfCall = (api: FileApi): number => TAKEN[api].call

const MB = 1_000_000

/** A file of a new message; `where` names the message. */
export type NewFile = NamedFile & { size: number, where: string }

const NotTaken = defineError('ERR_ATTACHMENT_REFUSED', '%s: %s takes no files of the type %s%s. Leave it out, or choose another model.')
const TooLarge = defineError(
  'ERR_ATTACHMENT_REFUSED',
  '%s: %s has %s MB, and %s takes at most %s MB of such a file. Make it smaller, or choose another model.'
)
const TooMuch = defineError(
  'ERR_ATTACHMENT_REFUSED',
  '%s: its files have %s MB together, and %s takes at most %s MB in a call. Send fewer in one message.'
)
const Unreadable = defineError(
  'ERR_ATTACHMENT_REFUSED',
  '%s: %s cannot be read: %s. Nothing was stored; leave it out, or attach another copy.'
)

const inMegabytes = (bytes: number) => (bytes / MB).toFixed(1)

/** Checks that the model can get each file of a new message in some form. Throws NotTaken, TooLarge, TooMuch or Unreadable (status 400). */
export async function checkFiles (
  files: readonly NewFile[],
  { id, api, reader }: { id: string, api: FileApi, reader: AttachedFiles }
): Promise<void> {
  let total = 0
  for (const file of files) {
    const { mediaType, size, where } = file
    const name = file.name ?? 'the file'
    const form = formOf(api, mediaType)
    if (form === 'none') throw new NotTaken(where, id, mediaType, file.name === undefined ? '' : ` (${file.name})`)
    const limit = mostBytes(api, mediaType)
    const isGiven = form === 'file' && size <= limit
    if (isGiven) total += size
    else if (textKindOf(mediaType) === undefined) throw new TooLarge(where, name, inMegabytes(size), id, inMegabytes(limit))
    else {
      await reader.text(file).catch((error: Error) => {
        throw new Unreadable(where, name, error.message)
      })
    }
  }
  if (total > mostBytesOfCall(api)) throw new TooMuch(files[0].where, inMegabytes(total), id, inMegabytes(mostBytesOfCall(api)))
}
