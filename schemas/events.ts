import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox'
import { oneOf, ref, Timestamp } from './common.ts'
import { TaskId, ThreadId } from './ids.ts'
import { notificationFields } from './notifications.ts'
import { taskEvents } from './task-events.ts'
import { RunStatusSchema } from './tasks.ts'

const closed = { additionalProperties: false }
const text = (description: string) => Type.Optional(Type.String({ description }))

/** The owner of an event. One of the two ids is present. */
const owner = {
  threadId: text('The conversation; absent for a task'),
  taskId: text('The task; absent for a conversation')
}

/** Defines an event that only `GET /events` sends. `name` is the name of its component in the OpenAPI document. */
function event<T extends string, P extends TProperties> (name: string, type: T, fields: P, description: string) {
  return Type.Object({ type: Type.Literal(type), ...fields }, { $id: name, description })
}

const item = {
  approvalId: Type.String(),
  kind: oneOf(['tool', 'result', 'question', 'app', 'server', 'task']),
  ...owner,
  runId: text('The run; absent for a server'),
  toolCallId: text('The id of the call, if there is one'),
  toolName: text('The tool of the call, if there is one'),
  state: Type.String({ description: 'The state after the change' }),
  at: Timestamp
}

export const ownEvents = [
  event('RunStartEvent', 'run:start', { runId: Type.String(), ...owner, at: Timestamp }, 'A run begins, or goes on after a pause'),
  event(
    'RunEndEvent',
    'run:end',
    { runId: Type.String(), ...owner, status: RunStatusSchema, at: Timestamp },
    'A run is over, or was paused: then it is interrupted. A run that waits for a person is not over'
  ),
  event('ApprovalOpenEvent', 'approval:open', item, 'Something waits for a person: GET /approvals has it whole'),
  event('ApprovalClosedEvent', 'approval:closed', item, 'It was decided, has expired or was withdrawn'),
  event('ToolCallOpenEvent', 'tool-call:open', item, 'A call of a tool of the application waits for its result'),
  event('ToolCallClosedEvent', 'tool-call:closed', item, 'The call has its result, has expired or was withdrawn'),
  event('NotificationEvent', 'notification', {
    ...notificationFields,
    count: Type.Integer({ description: 'The number of things that are open now, for a badge' }),
    at: Timestamp
  }, 'There is a notification for a person. A client claims it before it shows it: POST /notifications/{id}'),
  event('NotificationClosedEvent', 'notification:closed', {
    notificationId: Type.String(),
    ...owner,
    count: Type.Integer({ description: 'The number of things that are open now, for a badge' }),
    at: Timestamp
  }, 'The notification is over: clients can take it off the screen'),
  event(
    'ThreadChangedEvent',
    'thread:changed',
    { threadId: Type.String(), at: Timestamp },
    'A conversation was taken back to an earlier version of a message. What runs change, their events say'
  ),
  event(
    'ThreadDeletedEvent',
    'thread:deleted',
    { threadId: Type.String(), at: Timestamp },
    'A conversation was deleted, by a client or after its time'
  ),
  event('MemoryChangedEvent', 'memory:changed', {
    learned: Type.Array(
      Type.Object({ id: Type.String(), kind: oneOf(['fact', 'preference', 'instruction', 'pattern']), fact: Type.String() }),
      { description: 'New entries, in the words of the user' }
    ),
    proposed: Type.Integer({ description: 'The number of new proposals, which wait for a person' }),
    forgotten: Type.Array(Type.String(), { description: 'Ids of entries that were forgotten, replaced or erased' }),
    threadId: text('The conversation that all of it was learned from; absent for what was typed'),
    at: Timestamp
  }, 'The memory of the user has changed: GET /memory/brain has it. DELETE /memory/brain/facts/{id} erases what was learned'),
  event('AgentChangedEvent', 'agent:changed', {
    name: Type.String(),
    deleted: Type.Boolean(),
    at: Timestamp
  }, 'An agent was made, changed or deleted: GET /agents has all'),
  event('ConfigChangedEvent', 'config:changed', {
    keys: Type.Array(Type.String(), { description: 'The keys of config.json whose values have changed' }),
    at: Timestamp
  }, 'Another configuration is in effect: GET /config has it'),
  event('ResetEvent', 'reset', {
    reason: Type.String({ description: 'restarted: the service was started since; too_old: the events are gone; unknown: not an id' }),
    at: Timestamp
  }, 'Events are missing before this one: read the state anew. The next events follow'),
  event('ShutdownEvent', 'service:shutdown', { at: Timestamp }, 'The service ends; this is the last event')
] as const satisfies readonly TObject[]

type OwnEvent = Static<typeof ownEvents[number]>

/** The event types that a reader can select. `reset` and `service:shutdown` are always sent. */
export const EVENT_TYPES: readonly string[] = [...taskEvents, ...ownEvents]
  .map(({ properties }): string => properties.type.const)
  .filter((type) => type !== 'reset' && type !== 'service:shutdown')

export const StreamEventSchema = Type.Unsafe<Static<typeof taskEvents[number]> | OwnEvent>(
  Type.Union([...taskEvents, ...ownEvents].map((each) => ref(each as TObject)), {
    $id: 'StreamEvent',
    description: 'One event of GET /events: the JSON of a `data:` line, whose SSE event name is its type and whose `id:` a reader may ' +
      'resume from. Later versions may add fields and event types, so clients must ignore unknown ones'
  })
)
/** An event of `GET /events`. */
export type StreamEvent = Static<typeof StreamEventSchema>

export const EventsQuerySchema = Type.Object({
  threadId: Type.Optional({ ...ThreadId, description: `${ThreadId.description}: only the events of this conversation` }),
  taskId: Type.Optional({ ...TaskId, description: 'A UUID: only the events of this task; not together with threadId' }),
  types: Type.Optional(Type.String({ maxLength: 1_000, description: `Only these types, separated by commas: ${EVENT_TYPES.join(', ')}` })),
  after: Type.Optional(Type.String({ maxLength: 100, description: 'The `id:` after which to resume; the header Last-Event-ID wins' }))
}, closed)
export type EventsQuery = Static<typeof EventsQuerySchema>
