import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { ApprovalParams } from '../schemas/approvals.ts'
import { ref } from '../schemas/common.ts'
import {
  DeviceDecidedSchema,
  DeviceDecisionBody,
  OpenRequestsSchema,
  PairBody,
  PairedDeviceSchema,
  ShownRequestSchema
} from '../schemas/devices.ts'
import { AssetParams } from '../schemas/docs.ts'

// All routes of the port for devices. They are neither on the main port nor in the OpenAPI document.
const routes: FastifyPluginAsyncTypebox = async (app) => {
  app.get('/', { config: { open: true } }, async (request, reply) => reply.sendFile(await app.devicePage.page(request.takesGzip)))

  app.get('/assets/:file', { schema: { params: AssetParams } }, async (request, reply) =>
    reply.sendFile(await app.devicePage.asset(request.params.file, request.takesGzip)))

  app.post('/pair', {
    schema: { body: PairBody, response: { 201: ref(PairedDeviceSchema) } }
  }, async (request, reply) => reply.code(201).send(await app.reach.devices.pair(request.body)))

  app.get('/requests', {
    config: { forDevices: true },
    schema: { response: { 200: ref(OpenRequestsSchema) } }
  }, async () => app.reach.requests.list())

  app.get('/requests/:id', {
    config: { forDevices: true },
    schema: { params: ApprovalParams, response: { 200: ref(ShownRequestSchema) } }
  }, async (request, reply) => app.reach.requests.show(request.params.id, reply.closed))

  app.post('/requests/:id', {
    config: { forDevices: true },
    schema: { params: ApprovalParams, body: DeviceDecisionBody, response: { 200: ref(DeviceDecidedSchema) } }
  }, async (request, reply) => app.reach.requests.decide(request.device, request.params.id, request.body, reply.closed))
}

export default routes
