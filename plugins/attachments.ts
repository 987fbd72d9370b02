import { join } from 'node:path'
import fp from 'fastify-plugin'
import type { Settings } from '../settings.ts'
import { createAttachmentFiles, type AttachmentFiles } from '../services/attachments/attachment-files.ts'
import { createAttachments, type Attachments } from '../services/attachments/attachments.ts'
import { createFileText } from '../services/attachments/file-text.ts'
import type { AttachedFiles } from '../services/contracts/attached-file.ts'
import { decodeText, detectEncoding } from '../services/tools/files/text-encoding.ts'

declare module 'fastify' {
  interface FastifyInstance {
    attachments: Attachments
    attachmentFiles: AttachmentFiles
    /** Gives models and tools the parts of attachments that they are allowed to read. */
    attachedFiles: AttachedFiles
  }
}

/** Files that users attach to messages. Their contents are in files beside the database. */
export default fp<Pick<Settings, 'home'>>(async (app, { home }) => {
  const { store, clock, fileTransform } = app
  const files = createAttachmentFiles(join(home, 'attachments'))
  const attachments = createAttachments({ store, clock, files })
  const closing = new AbortController()
  const { signal } = closing
  app.decorate('attachmentFiles', files)
  app.decorate('attachments', attachments)
  app.decorate('attachedFiles', {
    size: async (digest) => (await attachments.find(digest))?.bytes,
    bytes: attachments.bytes,
    text: createFileText({
      attachments,
      documents: {
        office: (input) => fileTransform.run('office', input, { signal }),
        pdf: (input) => fileTransform.run('pdf', input, { signal })
      },
      decode: (bytes) => decodeText(bytes, detectEncoding(bytes) ?? 'utf-8')
    })
  })
  app.addHook('onClose', async () => {
    closing.abort()
    await attachments.cleaned()
  })
}, { name: 'attachments', dependencies: ['store', 'clock', 'transform'] })
