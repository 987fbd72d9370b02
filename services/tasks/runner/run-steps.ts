import type { RunOptions } from '../../../schemas/run-options.ts'

/** Model calls that a run may make; the last call gets no tools. */
const MAX_STEPS = 50

/** The same for a run with these options, which count the steps with tools. */
export const mostSteps = ({ maxSteps = MAX_STEPS }: RunOptions): number => Math.min(MAX_STEPS, maxSteps + 1)
