import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'

/** A message that the user sent to a run while it was active. */
export const SteerSchema = Type.Object({
  id: Type.String({ description: 'Id of the message; the client may choose it (POST /run/{id}/steer)' }),
  text: Type.String({ description: 'The words of the message' }),
  state: oneOf(['waiting', 'read', 'unread'], {
    description: 'waiting: the model gets it with its next step. read: a step has got it. unread: the run ended before any step answered it'
  }),
  step: Type.Optional(Type.Integer({ description: 'The step that got it, counted from 1 in its run' }))
}, { $id: 'Steer', description: 'A message of the user to an active run' })
export type Steer = Static<typeof SteerSchema>
