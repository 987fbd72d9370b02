import { createConversation } from './conversation.ts'
import { AgentError } from './errors.ts'
import type { FinishEvent, ReplacedChanges, RunStreamEvent, RunTask } from './generated/index.ts'
import type { Pending, RunResult } from './run-types.ts'

/** Events with a request that a step of the run waits for. */
export type RequestEvent = Extract<RunStreamEvent, { type: 'tool-approval-request' | 'question-request' | 'tool-call-request' }>

/** Collects the result of a run from its events, and the requests that the run waits for. */
export function createRunState () {
  const conversation = createConversation()
  let threadId: string | undefined
  let runId: string | undefined
  let requests: RequestEvent[] = []
  let finish: FinishEvent | undefined
  let undone: ReplacedChanges | undefined
  let task: RunTask | undefined
  let object: unknown
  let failure: AgentError | undefined

  return {
    get threadId () {
      return threadId
    },
    get runId () {
      return runId
    },
    /** The requests of the newest segment: the part of the run since it last waited for a person. */
    get requests (): readonly RequestEvent[] {
      return requests
    },
    /** The error of a run that has failed or was ended; undefined after a success and during the run. */
    get failure () {
      return failure
    },
    conversation,

    add (event: RunStreamEvent) {
      conversation.add(event)
      switch (event.type) {
        case 'start':
          ({ threadId, runId } = event.messageMetadata)
          undone ??= event.messageMetadata.undone
          requests = []
          finish = undefined
          break
        case 'tool-approval-request':
        case 'question-request':
        case 'tool-call-request':
          // No step waits for a live question, so it is no request of the segment.
          if (event.type !== 'question-request' || !event.live) requests.push(event)
          break
        case 'data-task':
          task = event.data
          break
        case 'data-object':
          ({ object } = event.data)
          break
        case 'error':
          failure = new AgentError(event.errorText, { code: event.code })
          break
        case 'abort':
          failure = new AgentError(`The run was ended from outside: ${event.reason}.`, { code: 'ERR_RUN_ENDED' })
          break
        case 'finish':
          finish = event
          break
        default:
          // Other events change only the conversation.
      }
    },

    /** Returns the result. Throws ERR_STREAM_CUT if no segment was read to its end. */
    result<T> (): RunResult<T> {
      if (finish === undefined || threadId === undefined || runId === undefined) {
        throw new AgentError('The run was not read to its end.', { code: 'ERR_STREAM_CUT' })
      }
      return {
        text: conversation.text,
        messages: conversation.messages,
        steering: conversation.steering,
        finishReason: finish.finishReason,
        threadId,
        runId,
        pending: finish.finishReason === 'tool-calls' ? requests.map(pendingOf) : [],
        ...(finish.stopped && { stopped: finish.stopped }),
        ...(undone && { undone }),
        ...(task && { task }),
        ...(object !== undefined && { object: object as T })
      }
    }
  }
}

function pendingOf (request: RequestEvent): Pending {
  switch (request.type) {
    case 'tool-approval-request':
      return { kind: 'tool', approvalId: request.approvalId, toolName: request.toolName, input: request.input }
    case 'question-request':
      return { kind: 'question', approvalId: request.approvalId, questions: request.questions }
    case 'tool-call-request':
      return { kind: 'app', toolCallId: request.toolCallId, toolName: request.toolName, input: request.input }
  }
}
