import { Type, type Static } from '@sinclair/typebox'

export const DecidingDeviceSchema = Type.Object({
  deviceId: Type.String(),
  name: Type.String({ description: 'How the person calls it' })
})
/** The device of a person that decided something. */
export type DecidingDevice = Static<typeof DecidingDeviceSchema>
