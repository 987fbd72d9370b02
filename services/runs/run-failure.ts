import type { ErrorCode } from '../../schemas/error-codes.ts'
import type { RunFailure } from '../../schemas/task-runs.ts'
import { abortKind } from '../lib/abort.ts'
import { ServiceError } from '../lib/service-error.ts'
import { isOutage } from '../models/index.ts'
import { isBudgetError, isOfDay } from '../usage/index.ts'

/** Codes of failures that only a person can resolve: with a key, credit or another model. */
const OF_ACCESS: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_PROVIDER_AUTH',
  'ERR_PROVIDER_CREDIT',
  'ERR_PROVIDER_FORBIDDEN',
  'ERR_PROVIDER_NOT_CONFIGURED',
  'ERR_MODEL_NOT_FOUND',
  'ERR_INVALID_MODEL',
  'ERR_NO_MODEL'
])

/** Returns the reason for which this error fails a run, with the code of the error if it is a ServiceError. */
export function failureOf (error: unknown): RunFailure {
  const { code } = error as { code?: unknown }
  const kind = abortKind(error)
  if (kind === 'timeout') return { reason: 'time' }
  if (kind === 'budget') return { reason: 'budget' }
  const named = typeof code === 'string' && error instanceof ServiceError ? { code } : {}
  if (isOutage(error)) return { reason: 'provider', ...named }
  if (OF_ACCESS.has(named.code ?? '')) return { reason: 'access', ...named }
  if (isBudgetError(error)) return { reason: isOfDay(error) ? 'day_budget' : 'budget', ...named }
  return { reason: 'error', ...named }
}
