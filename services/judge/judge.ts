import type { TaskEvaluation, TaskToolCall } from '../../schemas/task-runs.ts'
import { EvaluationSchema } from '../../schemas/agent.ts'
import { askStructured } from '../models/structured-call.ts'
import type { TaskDeps } from '../tasks/task-deps.ts'
import type { StoredTask } from '../tasks/task-records.ts'
import type { Evidence } from './evidence.ts'
import { checkRules } from './rules/check-rules.ts'

/** Deadline of the model's judgement; milliseconds. Without an answer in time the rules decide alone. */
const JUDGE_MS = 15_000
const ANSWER_SHOWN = 16_000
const CALLS_SHOWN = 50
/** Lowest score of the model with which a run succeeds although the model is not satisfied. */
export const GOOD_ENOUGH = 0.5
/** Highest score of a run that breaks a rule. */
const MAX_BROKEN_SCORE = 0.4

const INSTRUCTIONS = 'Judge the run of a background task against its goal and criteria, by the evidence of its tool calls. ' +
  "The report is the agent's own claim: believe what the calls show. Be strict about what is missing, claimed but not done, or wrong. " +
  'Answer with the JSON object only.'

/** Judges a run: first by rules on the evidence, then with the model of role `fast`. A broken rule can only lower the score. */
export async function judge (
  task: StoredTask,
  evidence: Evidence,
  { registry, clock, log }: Pick<TaskDeps, 'registry' | 'clock' | 'log'>,
  signal: AbortSignal
): Promise<TaskEvaluation> {
  const { issues, share } = await checkRules(evidence)
  const answer = await askStructured({
    load: () => registry.model('fast'),
    name: 'evaluation',
    schema: EvaluationSchema,
    instructions: INSTRUCTIONS,
    text: question(task, evidence, issues),
    limitMs: JUDGE_MS,
    signal,
    clock
  })
  if (!('value' in answer)) log.warn({ problem: answer.problem }, 'a model did not judge a run; the rules decide alone')
  const opinion = 'value' in answer ? answer.value : { satisfied: true, score: share, issues: [] }
  const score = issues.length > 0 ? Math.min(opinion.score, share, MAX_BROKEN_SCORE) : opinion.score
  return {
    satisfied: issues.length === 0 && (opinion.satisfied || opinion.score >= GOOD_ENOUGH),
    qualityScore: score,
    issues: [...issues, ...opinion.issues].slice(0, 20),
    judge: 'value' in answer ? 'model' : 'rules'
  }
}

function question ({ goal, plan }: StoredTask, { calls, answer, run }: Evidence, issues: string[]): string {
  return [
    `Goal: ${goal.slice(0, 8_000)}`,
    `Criteria:\n${lines(plan.qualityCriteria) || '- the goal is reached'}`,
    `Phases:\n${lines(run.phases.map(({ description, status }) => `${description}: ${status}`))}`,
    `Tool calls:\n${lines(calls.slice(-CALLS_SHOWN).map(describeCall)) || '- none'}`,
    `Found by rules:\n${lines(issues) || '- nothing'}`,
    `Answer:\n${answer.slice(0, ANSWER_SHOWN)}`
  ].join('\n\n')
}

const lines = (texts: string[]) => texts.map((text) => `- ${text.slice(0, 500)}`).join('\n')
const describeCall = ({ tool, input, status, error, output }: TaskToolCall) =>
  `${tool} ${JSON.stringify(input)?.slice(0, 200)}: ${
    error ? `${status}, ${error.slice(0, 200)}` : `${status} ${JSON.stringify(output)?.slice(0, 200) ?? ''}`
  }`

/** The message to the model for the one refinement of a run. */
export const refinement = ({ issues }: TaskEvaluation) =>
  'A review of this run found:\n' + (lines(issues) || '- it does not reach the goal') +
  '\nMend this now with the tools, then give the whole report again. Claim nothing that was not done.'
