import { createError } from '@fastify/error'

const Refused = createError('ERR_BAD_SCHEDULE', '%s', 400)

/** A schedule that cannot be read or contradicts itself. The sentence says what can be written; `details` names the field. */
export class BadSchedule extends Refused {
  details: { path: string, message: string }[]

  constructor (field: string, message: string) {
    super(message)
    this.details = [{ path: `/schedule/${field}`, message }]
  }
}
