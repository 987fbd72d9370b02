import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, rm, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describeDiskFailure } from '../lib/disk-failure.ts'
import { syncFolder } from '../lib/file-system.ts'
import { isId, newId } from '../lib/ids.ts'
import { openChunk, sealChunk } from '../lib/sealed-chunks.ts'
import { defineError } from '../lib/service-error.ts'

// A file holds the content of one attachment as one sealed chunk. Its key is random, used for this file only, and stored in the record of
// the attachment, which the store encrypts: a new master key needs new records, not new files.

const FilesUnavailable = defineError('ERR_STORE_UNAVAILABLE', 'The attachment could not be stored: %s.')

/** Where the content of an attachment lies, and the key that opens it (base64). */
export interface SealedFile {
  file: string
  key: string
}

export type AttachmentFiles = ReturnType<typeof createAttachmentFiles>

/** Keeps contents in files of a folder, enciphered. */
export function createAttachmentFiles (folder: string) {
  return {
    /** Writes a content. It is on disk when this resolves. Throws FilesUnavailable (503). */
    async write (bytes: Uint8Array): Promise<SealedFile> {
      const id = newId()
      const key = randomBytes(32)
      const path = join(folder, id)
      let file: FileHandle | undefined
      try {
        if (await mkdir(folder, { recursive: true, mode: 0o700 }) !== undefined) await syncFolder(dirname(folder))
        file = await open(path, 'wx', 0o600)
        await file.writeFile(sealChunk({ id, key, chunk: 0 }, bytes))
        await file.sync()
        await file.close()
        await syncFolder(folder)
      } catch (error) {
        await file?.close().catch(() => {})
        await rm(path, { force: true }).catch(() => {})
        throw new FilesUnavailable(describeDiskFailure(error) ?? 'its folder cannot be written')
      }
      return { file: id, key: key.toString('base64') }
    },

    /** Reads a content; undefined when its file is gone or damaged. */
    async read ({ file, key }: SealedFile): Promise<Buffer | undefined> {
      try {
        const sealed = await readFile(join(folder, file), { flag: constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) })
        return openChunk({ id: file, key: Buffer.from(key, 'base64'), chunk: 0 }, sealed)
      } catch {
        return undefined
      }
    },

    remove: (file: string): Promise<void> => rm(join(folder, file), { force: true }),

    /** The names of all files. */
    names: async (): Promise<string[]> => (await readdir(folder).catch((): string[] => [])).filter(isId)
  }
}
