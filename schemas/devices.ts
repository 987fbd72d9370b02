import { Type, type Static } from '@sinclair/typebox'
import { ApprovalPreviewSchema, ApprovalSchema } from './approvals.ts'
import { DecidingDeviceSchema } from './deciding-device.ts'
import { enumOf, ref, Timestamp } from './common.ts'
import { UUID } from './ids.ts'

const closed = { additionalProperties: false }

// Paired devices, on which the user decides approvals at a separate port. The routes of the main port list and remove devices.

export const DeviceSchema = Type.Object({
  ...DecidingDeviceSchema.properties,
  createdAt: Timestamp,
  lastUsedAt: { ...Timestamp, description: 'When it was last used, to the hour' },
  lapsesAt: { ...Timestamp, description: 'When its key ends if it is not used until then' }
}, { $id: 'Device', description: 'A device that was paired with `local-agent reach` and may decide approvals' })
export type DeviceView = Static<typeof DeviceSchema>

export const DeviceListSchema = Type.Object({
  devices: Type.Array(ref(DeviceSchema)),
  url: Type.Optional(Type.String({ description: 'Where the port for devices listens; absent while it does not' })),
  address: Type.Optional(Type.String({ description: 'The https address in front of it, of config.json' })),
  problem: Type.Optional(Type.String({ description: 'Why the port for devices does not listen, though config.json wants it' }))
}, { $id: 'DeviceList', description: 'The paired devices, and where they reach the service' })
export type DeviceList = Static<typeof DeviceListSchema>

export const DeviceParams = Type.Object({ id: Type.String({ pattern: UUID, description: 'The deviceId of a paired device' }) })

export const RemovedDeviceSchema = Type.Object({ ok: Type.Literal(true), deviceId: Type.String() }, {
  $id: 'RemovedDevice',
  description: 'The key of the device has ended'
})
export type RemovedDevice = Static<typeof RemovedDeviceSchema>

// The schemas of the port for devices. They are not in the OpenAPI document.

export const PairBody = Type.Object({
  secret: Type.String({ pattern: '^[A-Za-z0-9_-]{22}$', description: 'The secret of the code that `local-agent reach` shows' }),
  key: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$', description: 'The key that the device made: 32 random bytes as base64url' }),
  name: Type.String({
    minLength: 1,
    maxLength: 60,
    pattern: '^[^\\x00-\\x1f\\x7f-\\x9f]+$',
    description: 'A name of at most 60 characters, without control characters'
  })
}, closed)
export type Pairing = Static<typeof PairBody>

export const PairedDeviceSchema = Type.Object({ ...DecidingDeviceSchema.properties }, { $id: 'PairedDevice' })

/** The answers that a device may give: approve this one call, or deny it. */
const Answer = enumOf(['once', 'deny'])

export const OpenRequestsSchema = Type.Object({
  requests: Type.Array(Type.Object({
    approvalId: Type.String(),
    kind: Type.String(),
    title: Type.String(),
    createdAt: Timestamp,
    expiresAt: Type.Optional(Timestamp)
  })),
  more: Type.Boolean({ description: 'Whether more requests wait than are listed' })
}, { $id: 'OpenRequests' })
export type OpenRequests = Static<typeof OpenRequestsSchema>

export const ShownRequestSchema = Type.Object({
  title: Type.String(),
  request: ref(ApprovalSchema),
  preview: ref(ApprovalPreviewSchema),
  answers: Type.Array(Answer, { description: 'The answers that this device may give; empty if only the computer can decide' }),
  digest: Type.String({ description: 'SHA-256 of all the rest. A decision names it' })
}, { $id: 'ShownRequest' })
export type ShownRequest = Static<typeof ShownRequestSchema>

export const DeviceDecisionBody = Type.Object({
  answer: Answer,
  digest: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The digest of what was shown' })
}, closed)

export const DeviceDecidedSchema = Type.Object({ approvalId: Type.String(), state: Type.String() }, { $id: 'DeviceDecided' })
export type DeviceDecision = Static<typeof DeviceDecisionBody>
