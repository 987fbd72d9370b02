import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isId } from '../lib/ids.ts'
import { newSealedFile, readSealed, writeSealed } from '../lib/sealed-file.ts'
import { defineError } from '../lib/service-error.ts'

const FilesUnavailable = defineError('ERR_STORE_UNAVAILABLE', 'The attachment could not be stored: %s.')

/** The name of the file with the encrypted content of an attachment, and the key that decrypts it (base64). */
export interface SealedAttachment {
  file: string
  key: string
}

export type AttachmentFiles = ReturnType<typeof createAttachmentFiles>

/** Creates the storage for contents of attachments, as encrypted files in a folder. */
export function createAttachmentFiles (folder: string) {
  return {
    /** Writes a content to a new file. Resolves when the file is on disk. Throws FilesUnavailable (503). */
    async write (bytes: Uint8Array): Promise<SealedAttachment> {
      const { id, key } = newSealedFile()
      await writeSealed(folder, { id, key }, bytes).catch((error) => {
        throw new FilesUnavailable(error.message)
      })
      return { file: id, key }
    },

    /** Reads a content of `bytes` bytes; undefined if its file is gone or damaged. */
    read: ({ file, key, bytes }: SealedAttachment & { bytes: number }): Promise<Buffer | undefined> =>
      readSealed(folder, { id: file, key }, bytes).catch(() => undefined),

    remove: (file: string): Promise<void> => rm(join(folder, file), { force: true }),

    /** Returns the names of all files. */
    names: async (): Promise<string[]> => (await readdir(folder).catch((): string[] => [])).filter(isId)
  }
}
