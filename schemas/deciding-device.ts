import { Type, type Static } from '@sinclair/typebox'

export const DecidingDeviceSchema = Type.Object({
  deviceId: Type.String(),
  name: Type.String({ description: 'The name that the person gave it' })
})
/** The device of a person that decided something. */
export type DecidingDevice = Static<typeof DecidingDeviceSchema>
