import type { AttachedFiles, NamedFile } from '../../contracts/attached-file.ts'
import { textKindOf } from '../../lib/media-type.ts'
import { defineError } from '../../lib/service-error.ts'
import { type FileApi, formOf, mostBytes, mostBytesOfCall } from './file-forms.ts'

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

const shown = (bytes: number) => (bytes / MB).toFixed(1)

/** Throws NotTaken, TooLarge, TooMuch or Unreadable (400) for files of a new message that its model cannot be given in any form. */
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
    else if (textKindOf(mediaType) === undefined) throw new TooLarge(where, name, shown(size), id, shown(limit))
    else {
      await reader.text(file).catch((error: Error) => {
        throw new Unreadable(where, name, error.message)
      })
    }
  }
  if (total > mostBytesOfCall(api)) throw new TooMuch(files[0].where, shown(total), id, shown(mostBytesOfCall(api)))
}
