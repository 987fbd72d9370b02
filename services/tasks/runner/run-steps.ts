import type { RunOptions } from '../../../schemas/run-options.ts'

/** Steps with tools that a run may take; the step after them gets no tools. */
const MAX_STEPS = 49

/** The same for a run with these options. */
export const mostSteps = ({ maxSteps = MAX_STEPS }: RunOptions): number => Math.min(MAX_STEPS, maxSteps)
