import { Type, type Static } from '@sinclair/typebox'

export const DecidingDeviceSchema = Type.Object({
  deviceId: Type.String(),
  name: Type.String({ description: 'The name that the person gave it' })
})
/** The paired device on which a decision was made. */
export type DecidingDevice = Static<typeof DecidingDeviceSchema>
