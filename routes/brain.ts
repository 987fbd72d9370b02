import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  BrainClearedSchema,
  BrainViewSchema,
  FactBodySchema,
  FactChangedSchema,
  FactChangeSchema,
  FactLearnedSchema,
  FactListSchema,
  FactParams,
  FactQuery,
  FactRemovedSchema,
  PreferenceBodySchema,
  PreferenceKeySchema,
  PreferenceSetSchema
} from '../schemas/brain.ts'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/memory/brain', {
    schema: {
      tags: ['brain'],
      operationId: 'getBrain',
      summary: 'Returns the brain, and the part of the system prompt that it gives to every run',
      response: { 200: ref(BrainViewSchema) }
    }
  }, async () => app.brain.recall())

  app.get('/memory/brain/facts', {
    schema: {
      tags: ['brain'],
      operationId: 'listFacts',
      summary: "Lists what is remembered, newest first, with the user's words from which it was learned",
      description: 'Facts that are known, unless `state` and `kind` ask for proposals, replaced facts, preferences, instructions or ' +
        'patterns.',
      querystring: FactQuery,
      response: { 200: ref(FactListSchema), 400: ErrorRef }
    }
  }, async (request) => app.brain.facts(request.query))

  app.put('/memory/brain/facts/:id', {
    schema: {
      tags: ['brain'],
      operationId: 'changeFact',
      summary: 'Edits, pins, accepts, restores or hides a fact, preference or instruction',
      params: FactParams,
      body: ref(FactChangeSchema),
      response: { 200: ref(FactChangedSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => ({ status: 'changed' as const, ...await app.brain.change(request.params.id, request.body) }))

  app.delete('/memory/brain/facts/:id', {
    schema: {
      tags: ['brain'],
      operationId: 'deleteFact',
      summary: 'Erases a fact, preference, instruction or pattern, what it had replaced, and proposals to replace it',
      params: FactParams,
      response: { 200: ref(FactRemovedSchema), 404: ErrorRef }
    }
  }, async (request) => ({ status: 'removed' as const, brain: await app.brain.remove(request.params.id) }))

  app.post('/memory/brain/fact', {
    schema: {
      tags: ['brain'],
      operationId: 'learnFact',
      summary: 'Stores a fact; a fact that equals a stored one except for letter case, spacing or final punctuation is not added',
      body: ref(FactBodySchema),
      response: { 200: ref(FactLearnedSchema), 400: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => ({ status: 'learned' as const, brain: await app.brain.learn(request.body.fact) }))

  app.delete('/memory/brain/fact', {
    schema: {
      tags: ['brain'],
      operationId: 'forgetFact',
      summary: 'Erases the fact that equals the given text, what it had replaced, and proposals to replace it',
      body: ref(FactBodySchema),
      response: { 200: ref(FactRemovedSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => ({ status: 'removed' as const, brain: await app.brain.forget(request.body.fact) }))

  app.post('/memory/brain/pref', {
    schema: {
      tags: ['brain'],
      operationId: 'setPreference',
      summary: 'Sets or overwrites a preference',
      body: ref(PreferenceBodySchema),
      response: { 200: ref(PreferenceSetSchema), 400: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => ({ status: 'set' as const, brain: await app.brain.prefer(request.body) }))

  app.delete('/memory/brain/pref', {
    schema: {
      tags: ['brain'],
      operationId: 'deletePreference',
      summary: 'Erases a preference, its proposals and its earlier values',
      body: ref(PreferenceKeySchema),
      response: { 200: ref(FactRemovedSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => ({ status: 'removed' as const, brain: await app.brain.dropPreference(request.body.key) }))

  app.delete('/memory/brain', {
    schema: {
      tags: ['brain'],
      operationId: 'clearBrain',
      summary: 'Deletes all facts, preferences, instructions and patterns permanently, with proposals and what was replaced',
      response: { 200: ref(BrainClearedSchema) }
    }
  }, async () => {
    await app.brain.clear()
    return { status: 'cleared' as const }
  })
}

export default routes
