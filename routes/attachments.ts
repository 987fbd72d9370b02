import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { AttachmentParams, AttachmentSchema, MOST_BYTES, NAME_HEADER, UploadHeaders } from '../schemas/attachments.ts'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'

/** Types that a browser is allowed to display when a page links to an attachment. All other types are downloaded. */
const SHOWN = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']

const Bytes = Type.Unsafe<unknown>({ type: 'string', format: 'binary' })
const CONTENT = Object.fromEntries(['application/octet-stream', ...SHOWN].map((type) => [type, { schema: Bytes }]))

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.post('/attachments', {
    bodyLimit: MOST_BYTES,
    config: { rawBody: true },
    schema: {
      tags: ['attachments'],
      operationId: 'addAttachment',
      summary: 'Stores a file that messages can name',
      headers: UploadHeaders,
      response: { 201: ref(AttachmentSchema), 400: ErrorRef, 413: ErrorRef, 415: ErrorRef, 503: ErrorRef }
    }
  }, async (request, reply) => reply.code(201).send(await app.attachments.upload(request.body, {
    mediaType: request.headers['content-type'],
    name: request.headers[NAME_HEADER]
  })))

  app.get('/attachments/:digest', {
    schema: {
      tags: ['attachments'],
      operationId: 'getAttachment',
      summary: 'Returns the content of a stored file',
      params: AttachmentParams,
      response: {
        200: { description: 'The file as it was sent', content: CONTENT },
        400: ErrorRef,
        404: ErrorRef
      }
    }
  }, async (request, reply) => {
    const { content, mediaType, name } = await app.attachments.get(request.params.digest)
    // An uploaded file can be a page with scripts, so a browser must not run it under the origin of the service. Images can be displayed.
    reply.header('content-security-policy', "sandbox; default-src 'none'")
    const isShown = SHOWN.includes(mediaType)
    const named = name === undefined ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`
    reply.header('content-disposition', `${isShown ? 'inline' : 'attachment'}${named}`)
    return reply.type(isShown ? mediaType : 'application/octet-stream').send(content)
  })
}

export default routes
