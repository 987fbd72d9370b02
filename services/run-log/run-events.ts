import type { LanguageModelV4FinishReason, LanguageModelV4FunctionTool, SharedV4ProviderMetadata } from '@ai-sdk/provider'
import type { Analysis, Evaluation, RunTask } from '../../schemas/agent.ts'

/** Tokens, as far as the provider counts them. */
export interface Usage {
  inputTokens: number
  outputTokens: number
}

export type FinishReason = LanguageModelV4FinishReason['unified']

/** What belongs to one tool call, in every event about it. */
interface Call {
  toolCallId: string
  toolName: string
}
/** All that the provider has attached to the part so far; `agent.model` names the model, see models/provenance.ts. */
interface Meta {
  providerMetadata?: SharedV4ProviderMetadata
}

/** What models are told beside the messages. It is made when a run's first step begins and stays the same for the whole run. */
export interface RunContext {
  at: number
  cwd: string
  system: string
  tools: LanguageModelV4FunctionTool[]
}

/**
 * What happens in a run, said once and neutrally: the loop appends these, every reader (the documented stream,
 * the SDK's protocol, replays, the next model call) is a rendering of them.
 *
 * `start` begins a segment: what one request streams. A run that waits for approvals has several.
 */
export type RunEvent =
  | { type: 'start', messageId: string, threadId: string, runId: string }
  | { type: 'reasoning-start', id: string, phase: 'analysis' | 'answer' } & Meta
  | { type: 'reasoning-delta', id: string, delta: string } & Meta
  | { type: 'reasoning-end', id: string } & Meta
  | { type: 'analysis', analysis: Analysis }
  | { type: 'context', context: RunContext }
  | { type: 'step-start', step: number }
  | { type: 'step-finish', step: number, finishReason: FinishReason, usage: Usage }
  | { type: 'text-start', id: string } & Meta
  | { type: 'text-delta', id: string, delta: string } & Meta
  | { type: 'text-end', id: string } & Meta
  | { type: 'tool-input-start' } & Call
  | { type: 'tool-input-delta', toolCallId: string, delta: string }
  | { type: 'tool-input', input: unknown } & Call & Meta
  | { type: 'tool-input-error', input: unknown, errorText: string } & Call & Meta
  | { type: 'tool-output', output: Record<string, unknown> } & Call
  | { type: 'tool-error', errorText: string } & Call
  /** `approvalId` when the user was asked and said no; without it nobody was asked, or nobody answered. */
  | { type: 'tool-denied', reason: string, approvalId?: string } & Call
  | { type: 'approval-request', approvalId: string, input: unknown, cwd?: string, reason?: string } & Call
  | { type: 'evaluation', evaluation: Evaluation }
  /** The request became a background task. */
  | { type: 'task', task: RunTask }
  /** The conversation was made to fit its model: tokens as estimated, outputs of tools left out, messages summed up and left out. */
  | { type: 'compaction', before: number, after: number, outputs: number, summarised: number, dropped: number }
  /** Said to the model as by the user, between two steps: steering, or what a review found. */
  | { type: 'message', text: string }
  | { type: 'error', errorText: string, code: string }
  | { type: 'abort', reason: string }
  | { type: 'finish', finishReason: FinishReason, usage: Usage }

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>
