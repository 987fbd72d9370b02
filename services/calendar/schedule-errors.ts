import { defineError } from '../lib/service-error.ts'

const Refused = defineError('ERR_BAD_SCHEDULE', '%s')

/**
 * The error of a schedule that cannot be parsed or contradicts itself. The message says what to write instead; `details` names the field.
 */
export class BadSchedule extends Refused {
  override details: { path: string, message: string }[]

  constructor (field: string, message: string) {
    super(message)
    this.details = [{ path: `/schedule/${field}`, message }]
  }
}

/** Throws BadSchedule (400) with this message for `field`, unless `isFine` is true. */
export function check (isFine: boolean, field: string, sentence: string): asserts isFine {
  if (!isFine) throw new BadSchedule(field, sentence)
}

/** Part of messages about ambiguous words; advice on what to write follows. */
export const SEVERAL = 'may mean several things'

/** Returns a sentence about an unsupported feature, if a text that cannot be parsed asks for one; '' otherwise. */
export const hintOf = (text: string): string => /\bholidays?\b/i.test(text) ? 'Holidays are not known: name their dates. ' : ''
