import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { SkillListSchema, SkillQuery, SkillSchema } from '../schemas/skills.ts'

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.addSchema(SkillSchema)
  app.addSchema(SkillListSchema)

  app.get('/skills', {
    schema: {
      tags: ['skills'],
      operationId: 'listSkills',
      summary: 'Lists the skills for work in a folder, with their states',
      querystring: SkillQuery,
      response: { 200: ref(SkillListSchema), 400: ErrorRef }
    }
  }, async (request) => app.skillList(request.query.cwd))
}

export default routes
