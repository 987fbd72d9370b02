import type { ReachedBudget } from '../../schemas/questions.ts'
import { type Op, raisedBudgetKey } from '../store/index.ts'
import { roundUsd } from './usage-sums.ts'

/**
 * An amount that a person has allowed on top of `budget`: the spending can reach `to` in all. It applies only
 * while the configured budget is still `budget`.
 */
export interface RaisedBudget {
  unit: ReachedBudget['unit']
  budget: number
  to: number
}

/** Returns the raised budget that a yes to the question allows. */
export const raisedBy = ({ unit, spent, limit, more }: ReachedBudget): RaisedBudget =>
  ({ unit, budget: more, to: roundUsd(Math.max(spent, limit) + more) })

/** Returns the operation that stores, under the id of the question, that a person has allowed more for a day. */
export const raiseDay = (approvalId: string, reached: ReachedBudget & { day: string }): Op =>
  ({ type: 'put', key: raisedBudgetKey(reached.day, approvalId), value: raisedBy(reached) })
