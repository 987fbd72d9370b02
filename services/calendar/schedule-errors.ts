import { defineError } from '../lib/service-error.ts'

const Refused = defineError('ERR_BAD_SCHEDULE', '%s')

/** A schedule that cannot be parsed or contradicts itself. The message says what is supported; `details` names the field. */
export class BadSchedule extends Refused {
  override details: { path: string, message: string }[]

  constructor (field: string, message: string) {
    super(message)
    this.details = [{ path: `/schedule/${field}`, message }]
  }
}

/** Throws BadSchedule (400) unless a field is fine. */
export function check (isFine: boolean, field: string, sentence: string): asserts isFine {
  if (!isFine) throw new BadSchedule(field, sentence)
}

/** Of words in doubt; behind it stands what to write. */
export const SEVERAL = 'may mean several things'

/** Returns a sentence about an unsupported request in a text that cannot be read. */
export const hintOf = (text: string): string => /\bholidays?\b/i.test(text) ? 'Holidays are not known: name their dates. ' : ''
