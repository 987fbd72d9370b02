export { isEmptyTalk } from './advice/empty-talk.ts'
export { foldAdvice } from '../lib/fillers.ts'
export type { DescribeImage } from './describe-image.ts'
export {
  analysisPrompt,
  learningPrompt,
  planPrompt,
  summaryPrompt,
  titlePrompt
} from './prompts/asides.ts'
export {
  type ShownMessage,
  extractionQuestion,
  factsPrompt,
  type Pointer,
  type ShownEntry,
  filingPrompt
} from './prompts/extraction.ts'
export { failurePrompt, type Judgement, judgementPrompt, type Material, refinementPrompt } from './prompts/judgement.ts'
export { createConnections } from './providers/answer-stream/connections.ts'
export { RecordedFailure } from './providers/failures.ts'
export { createReplyModel, type Reply } from './providers/reply-model.ts'
export type { ContextWindows } from './providers/context-windows.ts'
export type { Provider } from './providers/provider.ts'
export type { Reach } from './providers/reach.ts'
export { type Registry, withRunModels } from './providers/registry.ts'
export { createMetadata, isAttached, withOwnMetadata } from './reasoning.ts'
export { isPortableId } from './request/call-ids.ts'
export { withRecentImages } from './recent-images.ts'
export { isOutage, streamModel } from './stream-call.ts'
export type { HelperQueue } from './advice/helper-queue.ts'
export { type Ask, askStructured, type NoAnswer } from './structured-call.ts'
export type { TextPiece } from './text-calls/answer-state.ts'
export { createAnswerText } from './text-calls/answer-text.ts'
export { type OfferedTools, offeredTools } from './text-calls/dialect.ts'
export { itemTokens, tokensIn, tokensInSame, tokensOf } from './token-estimate.ts'
export { projectSchema } from './tool-schemas/project-schema.ts'
export { withOriginalNames } from './tool-schemas/rename-input.ts'
export { type RefusedTool, TOOL_LEFT_OUT } from './tool-schemas/with-tools.ts'

/**
 * Loads the code that recognises requests for work at a later time. Its regular expressions take time and memory, so it is loaded at its
 * first use.
 */
export const loadTimedWork = () => import('./providers/offline/background.ts')
