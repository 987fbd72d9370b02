import type { RunOptions } from '../../client/generated/index.ts'

type Effort = NonNullable<RunOptions['effort']>
/** The efforts that people choose from. */
export const EFFORTS = ['none', 'low', 'medium', 'high', 'max'] as const satisfies Effort[]
