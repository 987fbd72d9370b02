import type { Analysis } from '../../schemas/agent.ts'
import type { Config } from '../../schemas/config.ts'
import type { RunOptions } from '../../schemas/run-options.ts'

const DEFAULTS = { simple: 3, standard: 10, complex: 25, long_running: 25 } as const

/**
 * Returns the number of steps with tools of a request of that complexity, at most as many as the run's options allow. After them the
 * model must answer without tools.
 */
export const stepLimit = ({ agent }: Config, complexity: Analysis['complexity'], { maxSteps = Infinity }: RunOptions = {}): number =>
  Math.min(agent?.steps?.[complexity] ?? DEFAULTS[complexity], maxSteps)
