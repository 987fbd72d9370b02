import { Readable } from 'node:stream'
import { Type, type FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  BackupHeaders,
  CheckedBackupSchema,
  EraseBody,
  ErasedSchema,
  ExportHeaders,
  ExportQuery,
  ImportedSchema,
  ImportProgressSchema,
  PASSPHRASE_HEADER
} from '../schemas/backup.ts'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'

const ForPeople = Type.Unknown({ description: 'For people to read: one object' })
const Bytes = Type.Unsafe<unknown>({ type: 'string', format: 'binary' })

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/export',
    {
      schema: {
        tags: ['service'],
        operationId: 'exportAll',
        summary: 'Exports all data of the service as one encrypted file, or as JSON for people to read',
        headers: ExportHeaders,
        querystring: ExportQuery,
        response: {
          200: {
            description: 'The backup, which holds the brain, threads, tasks with their runs, approvals, configuration and secrets',
            content: { 'application/octet-stream': { schema: Bytes }, 'application/json': { schema: ForPeople } }
          },
          400: ErrorRef,
          409: ErrorRef
        }
      },
      // A response to HEAD has no body, but Fastify would read the stream to its end, and no other export could start until then.
      onSend: async ({ method }, _reply, body) => {
        if (method === 'HEAD' && body instanceof Readable) body.destroy()
        return body
      }
    },
    async (request, reply) => {
      const isReadable = request.query.format === 'json'
      const passphrase = request.headers[PASSPHRASE_HEADER]
      const body = isReadable ? app.backup.readable() : await app.backup.export(passphrase, reply.closed)
      reply.header('cache-control', 'no-store')
      reply.header('content-disposition', `attachment; filename="local-agent.${isReadable ? 'json' : 'backup'}"`)
      return reply.type(isReadable ? 'application/json; charset=utf-8' : 'application/octet-stream').send(body)
    }
  )

  app.delete('/data', {
    schema: {
      tags: ['service'],
      operationId: 'eraseAll',
      summary: 'Erases all data of the service; config.json stays. Runs end, and the service restarts empty',
      body: EraseBody,
      response: { 200: ref(ErasedSchema), 409: ErrorRef }
    }
  }, async (_request, reply) => app.backup.erase(reply.closed))

  app.post('/import/check', {
    config: { stream: true },
    schema: {
      tags: ['service'],
      operationId: 'checkImport',
      summary: 'Reads a backup as a whole and says what it holds and would replace; changes nothing',
      headers: BackupHeaders,
      response: { 200: ref(CheckedBackupSchema), 409: ErrorRef }
    }
  }, async (request, reply) => app.backup.check(request.body, request.headers[PASSPHRASE_HEADER], reply.closed))

  app.get('/import', {
    schema: {
      tags: ['service'],
      operationId: 'importProgress',
      summary: 'Returns how far an import, or the check of a backup, is',
      response: { 200: ref(ImportProgressSchema) }
    }
  }, async () => app.backup.progress())

  app.post('/import', {
    config: { stream: true },
    schema: {
      tags: ['service'],
      operationId: 'importAll',
      summary: 'Replaces all data of the service with a backup',
      headers: BackupHeaders,
      response: { 200: ref(ImportedSchema), 409: ErrorRef }
    }
  }, async (request, reply) => app.backup.import(request.body, request.headers[PASSPHRASE_HEADER], reply.closed))
}

export default routes
