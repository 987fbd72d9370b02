import type { Budget, RunOptions } from '../../schemas/run-options.ts'
import type { TaskBudget } from '../../schemas/tasks.ts'
import { BadTask } from './task-errors.ts'

interface Given {
  options?: RunOptions
  /** The earlier form of `options.budget`. */
  budget?: TaskBudget
}

/**
 * Returns the options of a task from those of a request. Without `options`, a changed `budget` changes the options that the task
 * had. Throws BadTask (400) when both are given and contradict each other.
 */
export function taskOptions ({ options, budget }: Given, had: RunOptions): RunOptions {
  if (options?.workspace === 'copy') {
    throw new BadTask('options.workspace "copy" is for conversations: a task works in its folder itself. Leave it out.')
  }
  const { budget: chosen, ...rest } = options ?? (budget === undefined ? had : { ...had, budget: { usd: had.budget?.usd } })
  const limits = withEarlierForm(chosen, budget)
  return { ...rest, ...(Object.values(limits).some((limit) => limit !== undefined) && { budget: limits }) }
}

function withEarlierForm ({ usd, tokens, minutes }: Budget = {}, { maxTokensPerRun, maxMinutesPerRun }: TaskBudget = {}): Budget {
  agree('tokens', tokens, 'maxTokensPerRun', maxTokensPerRun)
  agree('minutes', minutes, 'maxMinutesPerRun', maxMinutesPerRun)
  return { usd, tokens: tokens ?? maxTokensPerRun, minutes: minutes ?? maxMinutesPerRun }
}

function agree (name: string, value: number | undefined, earlierName: string, earlier: number | undefined) {
  if (value === undefined || earlier === undefined || value === earlier) return
  throw new BadTask(
    `options.budget.${name} is ${value}, but budget.${earlierName} is ${earlier}; they are two names of one limit. Leave out "budget".`
  )
}
