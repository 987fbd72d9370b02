import { createError } from '@fastify/error'
import { LIMITS } from '../../schemas/brain.ts'

export const FactNotFound = createError('ERR_FACT_NOT_FOUND', 'No stored fact equals the one given. GET /memory/brain lists them.', 404)
export const EntryNotFound = createError('ERR_FACT_NOT_FOUND', 'Nothing has the id "%s". GET /memory/brain/facts lists the ids.', 404)
export const PreferenceNotFound = createError(
  'ERR_PREFERENCE_NOT_FOUND',
  'No preference has the key "%s". GET /memory/brain lists them.',
  404
)
export const FactExists = createError('ERR_FACT_EXISTS', 'This is known already, as "%s". Delete one of the two.', 409)
export const NotEditable = createError('ERR_INVALID_REQUEST', 'body.%s cannot be set for a %s. %s', 400)
export const TooManyFacts = createError(
  'ERR_TOO_MANY_FACTS',
  `${LIMITS.facts} facts are stored, which is the maximum. Remove a fact with DELETE /memory/brain/fact first.`,
  409
)
export const TooManyPreferences = createError(
  'ERR_TOO_MANY_PREFERENCES',
  `${LIMITS.preferences} preferences are stored, which is the maximum. ` +
    'Overwrite an existing preference, or clear everything with DELETE /memory/brain.',
  409
)
export const TooManyInstructions = createError(
  'ERR_TOO_MANY_INSTRUCTIONS',
  `${LIMITS.instructions} instructions are accepted, which is the maximum. Remove one with DELETE /memory/brain/facts/:id first.`,
  409
)
export const BrainDamaged = createError(
  'ERR_RECORD_DAMAGED',
  'The stored memory of the user is damaged and cannot be read. ' +
    'DELETE /memory/brain clears it; only an earlier backup can restore it.',
  500
)
