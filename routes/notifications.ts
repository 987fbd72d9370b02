import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { ErrorRef } from '../schemas/errors.ts'
import { NotificationListSchema, NotificationParams, NotificationQuery, ShownBodySchema, ShownSchema } from '../schemas/notifications.ts'

const tags = ['notifications']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/notifications', {
    schema: {
      tags,
      operationId: 'listNotifications',
      summary: 'Lists the notifications for a person, newest first, with their deliveries to the webhook',
      querystring: NotificationQuery,
      response: { 200: ref(NotificationListSchema), 400: ErrorRef }
    }
  }, async (request) => app.notifications.list(request.query))

  app.post('/notifications/:id', {
    schema: {
      tags,
      operationId: 'showNotification',
      summary: 'Claims a notification before it is shown; the first client that claims it shows it',
      params: NotificationParams,
      body: ref(ShownBodySchema),
      response: { 200: ref(ShownSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => app.notifications.shown(request.params.id))
}

export default routes
