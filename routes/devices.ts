import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ref } from '../schemas/common.ts'
import { DeviceListSchema, DeviceParams, RemovedDeviceSchema } from '../schemas/devices.ts'
import { ErrorRef } from '../schemas/errors.ts'

const tags = ['approvals']

const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/devices', {
    schema: {
      tags,
      operationId: 'listDevices',
      summary: 'Lists the devices that were paired to decide approvals, and where they reach the service',
      response: { 200: ref(DeviceListSchema) }
    }
  }, async () => app.reachPort.describe())

  app.delete('/devices/:id', {
    schema: {
      tags,
      operationId: 'removeDevice',
      summary: 'Ends the key of a paired device',
      params: DeviceParams,
      response: { 200: ref(RemovedDeviceSchema), 400: ErrorRef, 404: ErrorRef }
    }
  }, async (request) => app.reach.devices.remove(request.params.id))
}

export default routes
