import { LIMITS } from '../../schemas/brain.ts'
import { defineError } from '../lib/service-error.ts'

export const FactNotFound = defineError('ERR_FACT_NOT_FOUND', 'No stored fact equals the one given. GET /memory/brain lists them.')
export const EntryNotFound = defineError('ERR_FACT_NOT_FOUND', 'Nothing has the id "%s". GET /memory/brain/facts lists the ids.')
export const PreferenceNotFound = defineError(
  'ERR_PREFERENCE_NOT_FOUND',
  'No preference has the key "%s". GET /memory/brain lists them.'
)
export const FactExists = defineError('ERR_FACT_EXISTS', 'This is known already, as "%s". Delete one of the two.')
export const NotEditable = defineError('ERR_INVALID_REQUEST', 'body.%s cannot be set for a %s. %s')
export const TooManyFacts = defineError(
  'ERR_TOO_MANY_FACTS',
  `${LIMITS.facts} facts are stored, which is the maximum. Remove a fact with DELETE /memory/brain/fact first.`
)
export const TooManyPreferences = defineError(
  'ERR_TOO_MANY_PREFERENCES',
  `${LIMITS.preferences} preferences are stored, which is the maximum. ` +
    'Overwrite an existing preference, or clear everything with DELETE /memory/brain.'
)
export const TooManyInstructions = defineError(
  'ERR_TOO_MANY_INSTRUCTIONS',
  `${LIMITS.instructions} instructions are accepted, which is the maximum. Remove one with DELETE /memory/brain/facts/:id first.`
)
export const BrainDamaged = defineError(
  'ERR_RECORD_DAMAGED',
  'The stored memory of the user is damaged and cannot be read. ' +
    'DELETE /memory/brain clears it; only an earlier backup can restore it.'
)
