import { reviewIn, type RunEvent } from '../contracts/run-events.ts'
import { isAnswerCall } from '../runs/index.ts'
import type { Evaluation } from '../../schemas/evaluation.ts'
import { mayHaveChanged, type FindTool } from './call-facts.ts'

/** What is known about one version of a report. */
interface ReportVersion {
  evaluation: Pick<Evaluation, 'claims'>
  /** The version is empty or breaks off. */
  isBroken?: boolean
}

/**
 * Returns how many claims (effects that a report says its run had) of a version the calls contradict; Infinity for a version that is empty
 * or breaks off.
 */
const contradictions = ({ evaluation: { claims = [] }, isBroken }: ReportVersion): number =>
  isBroken ? Infinity : claims.filter(({ verdict }) => verdict === 'contradicted').length

/**
 * Returns the version of a report that the calls contradict less; the first one on a tie. If calls might have changed
 * something after the first version, this counts as one contradiction of the first version, because it cannot mention them.
 */
export function betterVersion (
  versions: { first: ReportVersion, second: ReportVersion },
  { events, find, cwd }: { events: readonly RunEvent[], find: FindTool, cwd: string }
): 'first' | 'second' {
  const review = reviewIn(events)
  const later = review === undefined ? [] : events.slice(events.lastIndexOf(review)).filter((event) => !isAnswerCall(event))
  const untold = mayHaveChanged(later, find, cwd) ? 1 : 0
  return contradictions(versions.second) < contradictions(versions.first) + untold ? 'second' : 'first'
}
