import type { ReachedBudget } from '../../schemas/questions.ts'
import { type Op, raisedBudgetKey } from '../store/index.ts'
import { roundUsd } from './usage-sums.ts'

/** What a person has allowed on top of a budget, up to `to` in all. It holds while the budget is the same. */
export interface RaisedBudget {
  unit: ReachedBudget['unit']
  budget: number
  to: number
}

/** Returns what a yes to the question allows. */
export const raisedBy = ({ unit, spent, limit, more }: ReachedBudget): RaisedBudget =>
  ({ unit, budget: more, to: roundUsd(Math.max(spent, limit) + more) })

/** Returns the operation that stores that a person has allowed more on a day, under the id of the question. */
export const raiseDay = (approvalId: string, reached: ReachedBudget & { day: string }): Op =>
  ({ type: 'put', key: raisedBudgetKey(reached.day, approvalId), value: raisedBy(reached) })
