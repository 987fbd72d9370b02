import type { RawOp } from './database.ts'
import type { Keys } from './encryption-keys.ts'
import { seal, toJson } from './seal.ts'
import type { Op } from './store-types.ts'

/** Converts an operation for LevelDB: encrypts the value of a put. */
export const toRaw = (keys: Keys, op: Op): RawOp =>
  op.type === 'put' ? { type: 'put', key: op.key, value: seal(keys, op.key, toJson(op.key, op.value)) } : { type: 'del', key: op.key }
