import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ThreadParams } from '../schemas/agent.ts'
import { ref } from '../schemas/common.ts'
import { ExtractionSchema } from '../schemas/brain.ts'
import { ErrorRef } from '../schemas/errors.ts'
import {
  NewThreadSchema,
  ThreadBodySchema,
  ThreadDeleteQuery,
  ThreadDeletedSchema,
  ThreadListQuery,
  ThreadListSchema,
  ThreadQuery,
  ThreadSchema,
  ThreadsDeletedSchema,
  ThreadViewSchema
} from '../schemas/threads.ts'
import { VersionListSchema, VersionParams, VersionQuery, VersionViewSchema } from '../schemas/versions.ts'

/** 32 MiB, as for runs, because a conversation can hold its files. */
const THREAD_BODY_LIMIT = 32 * 1024 * 1024

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/threads', {
    schema: {
      tags: ['threads'],
      operationId: 'listThreads',
      summary: 'Lists the threads, most recently changed first',
      querystring: ThreadListQuery,
      response: { 200: ref(ThreadListSchema), 400: ErrorRef }
    }
  }, async (request) => app.threads.list(request.query))

  app.post('/threads', {
    bodyLimit: THREAD_BODY_LIMIT,
    schema: {
      tags: ['threads'],
      operationId: 'createThread',
      summary: 'Creates a thread',
      body: ref(NewThreadSchema),
      response: { 201: ref(ThreadSchema), 400: ErrorRef, 409: ErrorRef }
    }
  }, async (request, reply) => reply.code(201).send(await app.threads.create(request.body)))

  app.delete('/threads', {
    schema: {
      tags: ['threads'],
      operationId: 'deleteThreads',
      summary: 'Deletes all threads permanently',
      response: { 200: ref(ThreadsDeletedSchema) }
    }
  }, async () => ({ deleted: await app.threads.clear() }))

  app.get('/threads/:id', {
    schema: {
      tags: ['threads'],
      operationId: 'getThread',
      summary: 'Returns a thread with its messages',
      params: ThreadParams,
      querystring: ThreadQuery,
      response: { 200: ref(ThreadViewSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => app.threads.get(request.params.id, request.query))

  app.put('/threads/:id', {
    bodyLimit: THREAD_BODY_LIMIT,
    schema: {
      tags: ['threads'],
      operationId: 'putThread',
      summary: 'Creates a thread, or replaces the given fields of an existing one',
      params: ThreadParams,
      body: ref(ThreadBodySchema),
      response: { 200: ref(ThreadSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => app.threads.put(request.params.id, request.body))

  app.delete('/threads/:id', {
    schema: {
      tags: ['threads'],
      operationId: 'deleteThread',
      summary: 'Deletes a thread with its approvals and runs, and stops its active run',
      params: ThreadParams,
      querystring: ThreadDeleteQuery,
      response: { 200: ref(ThreadDeletedSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => {
    await app.threads.remove(request.params.id, request.query)
    return { ok: true as const, threadId: request.params.id }
  })

  app.get('/threads/:id/versions', {
    schema: {
      tags: ['threads'],
      operationId: 'listVersions',
      summary: 'Lists the earlier versions of messages that were edited or answered again',
      params: ThreadParams,
      response: { 200: ref(VersionListSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => app.threads.versions(request.params.id))

  app.get('/threads/:id/versions/:versionId', {
    schema: {
      tags: ['threads'],
      operationId: 'getVersion',
      summary: 'Returns an earlier version of a message, with all that came after it',
      params: VersionParams,
      querystring: VersionQuery,
      response: { 200: ref(VersionViewSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async ({ params, query }) => app.threads.version(params.id, params.versionId, query))

  app.post('/threads/:id/versions/:versionId/restore', {
    schema: {
      tags: ['threads'],
      operationId: 'restoreVersion',
      summary: 'Takes a thread back to an earlier version of a message',
      params: VersionParams,
      response: { 200: ref(ThreadSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async ({ params }) => app.threads.restoreVersion(params.id, params.versionId))

  app.post('/threads/:id/extract', {
    schema: {
      tags: ['threads'],
      operationId: 'extractFacts',
      summary: 'Extracts facts and preferences from the statements of the user in a thread',
      params: ThreadParams,
      response: { 200: ref(ExtractionSchema), 400: ErrorRef, 402: ErrorRef, 404: ErrorRef, 422: ErrorRef, 502: ErrorRef }
    }
  }, async (request, reply) => app.extraction.extract(request.params.id, { signal: reply.closed }))
}

export default routes
