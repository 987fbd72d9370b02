import { createError } from '@fastify/error'

const Refused = createError('ERR_BAD_SCHEDULE', '%s', 400)

/** A schedule that cannot be parsed or contradicts itself. The message says what is supported; `details` names the field. */
export class BadSchedule extends Refused {
  details: { path: string, message: string }[]

  constructor (field: string, message: string) {
    super(message)
    this.details = [{ path: `/schedule/${field}`, message }]
  }
}
