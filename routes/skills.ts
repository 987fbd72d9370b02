import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { AcceptSkillBody, SkillListSchema, SkillQuery, SkillSchema } from '../schemas/skills.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/skills', {
    schema: {
      tags: ['skills'],
      operationId: 'listSkills',
      summary: 'Lists the skills for work in a folder, with their states',
      querystring: SkillQuery,
      response: { 200: ref(SkillListSchema), 400: ErrorRef }
    }
  }, async (request) => app.skillList.list(request.query.cwd))

  app.post('/skills/accept', {
    schema: {
      tags: ['skills'],
      operationId: 'acceptSkill',
      summary: 'Accepts a skill as it is now: it is read without asking until it changes',
      body: AcceptSkillBody,
      response: { 200: ref(SkillSchema), 400: ErrorRef, 404: ErrorRef, 409: ErrorRef }
    }
  }, async (request) => app.skillList.accept(request.body))
}

export default routes
