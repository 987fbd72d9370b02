import type { BoxKind } from '../../services/sandbox/sandbox.ts'

/** A computer without boxes, for tests that are not about boxes or that have a clock of their own. */
export const NO_BOX: BoxKind = { is: 'none', why: 'this is a test without' }
/** The boxes of Linux. Tests that use them fail if bubblewrap is not installed. */
export const BUBBLEWRAP = { is: 'bubblewrap', program: '/usr/bin/bwrap' } as const satisfies BoxKind
