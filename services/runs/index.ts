export { isAnswerCall } from './answers/take-answer.ts'
export {
  type ActiveRun,
  NoActiveRun,
  readWhole,
  type SubscriberOptions,
  subscribeToSegment,
  type Subscription,
  steerRun,
  steerWaitingRun
} from './engine/active-run.ts'
export { type ActiveRuns, ConversationBusy } from './engine/active-runs.ts'
export { askItems, createRunItems, type RunItems } from './engine/asked-items.ts'
export { type EngineDeps, openAttempt, type RunAttempt, toError, whyEnded } from './engine/attempt.ts'
export type { CallEnd } from './gate/call-end.ts'
export { makeRunPolicy } from './gate/run-policy.ts'
export { drive, type NextAction, type RunActions } from './engine/drive.ts'
export { applicationInstructions, directOutput } from './engine/model-calls.ts'
export { createRunActions, type ExecutedRun } from './engine/run-actions.ts'
export type { Review, RunNews, RunOwner } from './engine/run-owner.ts'
export { mayFirstStand } from './engine/second-version.ts'
export { describeRunTools, hasSmallWindow, type DescribedTools } from './engine/told-tools.ts'
export type { Agents, AgentUser, ResolvedOptions } from './options/agents.ts'
export { withRunOptions } from './options/with-run-options.ts'
export { TwoOwners } from './run-service.ts'
export { stoppedFor, stoppedShort } from './engine/stopping.ts'
export { answerMessages } from './run-log/answer.ts'
export { endsOfCutParts, withoutCutCall, withoutCutInputs, withoutDroppedTries } from './run-log/cut-steps.ts'
export { endsOfLiveQuestions, inNewestStep, intentsIn, itemsIn } from './run-log/open-calls.ts'
export { type EventPosition, findAfter, isOfRun, logTag, readEventId } from './run-log/event-position.ts'
export { createRunLog, type RunLog, segmentStart } from './run-log/run-log.ts'
export { endedSteering, steeringIn, steerOf, unansweredIn, waitingIn } from './run-log/steering.ts'
export { failureOf } from './run-failure.ts'
export { finishOf, type History, isOver, MAX_CRASHES, newRunFields, WHOLE_THREAD } from './run-record.ts'
export type { RunRecord, TaskRun, ThreadRun } from './run-record.ts'
export { type Run, type RunRepository, storedSegment } from './run-repository.ts'
export { taskRunView } from './run-view.ts'
export type { createStoredAnswers } from './stored-answers.ts'
export type { Rehearsed } from './sheets/sheet-lines.ts'
export { protocolOf } from './streams/encoder.ts'
export { CALL_SHOWN, toolCallsOf } from './tool-calls.ts'
