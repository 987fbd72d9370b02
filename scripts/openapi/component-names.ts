type Json = any

/**
 * Component names for schemas that occur in several places of the document; otherwise, generators would make a type for each place. Each
 * name is given with the path of one such place. A path consists of a component and its properties; `[]` stands for the items of a list,
 * `|1` for the second member of a union.
 */
const PLACES: Record<string, string> = {
  AnswerSchema: 'RunOptions.object',
  AnsweredBy: 'Run.answeredBy',
  AppTool: 'RunOptions.appTools[]',
  ApprovalKind: 'Approval.kind',
  ApprovalState: 'Approval.state',
  BackupContents: 'CheckedBackup.holds',
  Boundary: 'Approval.boundary',
  Budget: 'RunOptions.budget',
  CallServer: 'Approval.toolServer',
  ChatFunctionCall: 'ChatCompletion.choices[].message.tool_calls[].function',
  CheckedClaim: 'TaskEvaluation.claims[]',
  ConnectionTry: 'ToolServer.connecting',
  DigestRun: 'Digest.completed.items[]',
  DigestRuns: 'Digest.completed',
  Effort: 'RunOptions.effort',
  ErrorDetail: 'Error.details[]',
  Evidence: 'Pattern.evidence[]',
  FinishReason: 'FinishEvent.finishReason',
  GrantLimits: 'Grant.until',
  Message: 'RunBody.messages[]',
  RunContext: 'RunBody.context',
  RunState: 'TaskRun.status',
  RunTrigger: 'TaskRun.trigger',
  Scope: 'ApprovalDecision.scope',
  ScopeChoice: 'Approval.scopes[]',
  ServerFailure: 'PromptList.failed[]',
  ServerSandbox: 'ConnectProgram.sandbox|1',
  SkippedPath: 'Undone.skipped[]',
  TaskApprovalMode: 'TaskApprovalInput.mode',
  TaskBudget: 'Task.budget',
  TaskStatus: 'Task.status',
  TaskType: 'Task.taskType',
  ThreadStatus: 'Thread.status',
  ToolCallClaim: 'ToolCall.claim',
  ToolCallState: 'ToolCall.state',
  ToolFilter: 'ToolServerSettings.tools',
  ToolServerStatus: 'ToolServer.status',
  WaitingItem: 'Notification.waitsFor[]'
}

/**
 * New names for components whose names conflict with others: Go has a function `NewThread` for the type Thread, Python uses `applied` as a
 * variable for both the type and its property, and generators have their own type Response.
 */
const RENAMED: Record<string, string> = { Applied: 'AppliedChanges', NewThread: 'CreateThreadBody', Response: 'ModelResponse' }

/** The names of the members of unions, which generators would number. */
const FORMS = {
  ConnectBody: ['ConnectProgram', 'ConnectAddress'],
  SchedulePreview: ['UnderstoodSchedule', 'UnclearSchedule'],
  Trigger: ['FilesTrigger', 'TaskTrigger']
}
/** Examples of components for which no test has recorded one. */
const EXAMPLES: Record<string, Json[]> = {
  AnswerSchema: [{ schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } }],
  ChatFunctionCall: [{ name: 'findOrders', arguments: '{"state":"open"}' }],
  CheckedClaim: [{ claim: 'notes.md was written', effect: 'file', call: '1', verdict: 'confirmed' }],
  DigestRun: [{
    taskId: '01a1fd98-ca04-739b-856a-7f12991dd0d6',
    name: 'The daily look',
    goal: 'Look for open orders',
    runId: '01a1fd98-cb10-7a52-9c11-6f1d2b8f7e01',
    runNumber: 1,
    trigger: 'schedule',
    status: 'completed',
    startedAt: 1796029200000,
    completedAt: 1796029204000,
    unasked: [],
    text: 'Two orders are open.'
  }],
  FilesTrigger: [{ type: 'files', path: 'in', glob: '*.pdf' }],
  GrantLimits: [{ uses: 5 }],
  RunContext: [{ cwd: '/home/ada/notes' }],
  ServerSandbox: [{ network: ['api.example.com'] }],
  UnclearSchedule: [{ understood: false, reason: '"soon" is no time that can be planned. Write for example "every day at 9".' }]
}

/** Properties that allow any value, but need a description to get a type. */
const UNTYPED: Record<string, Json> = {
  Message: { content: { description: 'A text, or a list of parts. A UIMessage has `parts` in its place' } }
}

const PREFIX = '#/components/schemas/'
const refTo = (name: string) => `${PREFIX}${name}`

/** Returns the document with a component for each entry of PLACES, and with references to it wherever the same schema occurs. */
export function withComponentNames (document: Json): Json {
  const { paths, components, ...rest } = document
  const schemas = withForms(mapEntries(components.schemas, (name, each) => [RENAMED[name] ?? name, each]))
  const found = new Map<string, string>()
  for (const [name, place] of Object.entries(PLACES)) {
    const schema = schemas[name] ?? schemaAt(schemas, place)
    found.set(meaningOf(schema), name)
    schemas[name] ??= { ...schema, examples: EXAMPLES[name] ?? examplesOf(schemas, schema) }
  }
  for (const [name, properties] of Object.entries(UNTYPED)) {
    schemas[name] = { ...schemas[name], properties: { ...schemas[name].properties, ...properties } }
  }
  const enums = Object.keys(PLACES).filter((name) => schemas[name].enum !== undefined)
  for (const name of enums) schemas[name] = withValueNames(schemas, name, enums)
  const replaced = mapEntries(schemas, (name, schema) => [name, replace(schema, found, name)])
  return {
    ...rest,
    paths: replace(paths, found),
    components: { ...components, schemas: Object.fromEntries(Object.entries(replaced).toSorted(([a], [b]) => a < b ? -1 : 1)) }
  }
}

const mapEntries = (object: Record<string, Json>, change: (key: string, value: Json) => [string, Json]) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => change(key, value)))

/** Go's constants for enum values share one namespace, so values that occur in several enums get the name of their enum as a prefix. */
function withValueNames (schemas: Record<string, Json>, name: string, enums: readonly string[]): Json {
  const values: string[] = schemas[name].enum
  const isShared = values.some((value) => enums.some((other) => other !== name && schemas[other].enum.includes(value)))
  if (!isShared) return schemas[name]
  const own = constantOf(name)
  return { ...schemas[name], 'x-enum-varnames': values.map((value) => `${own}_${constantOf(value)}`) }
}

/** RunState → RUN_STATE, tool-calls → TOOL_CALLS */
const constantOf = (name: string) => name.replace(/([a-z])([A-Z])/g, '$1_$2').replaceAll('-', '_').toUpperCase()

/** Turns the members of a union into components, each with the union's examples that match it. */
function withForms (schemas: Record<string, Json>): Record<string, Json> {
  const all = { ...schemas }
  for (const [union, names] of Object.entries(FORMS)) {
    const { anyOf, examples = [], ...body } = all[union]
    for (const [at, name] of names.entries()) {
      const own = examples.filter((each: Json) => isOf(anyOf[at], each))
      all[name] = { ...anyOf[at], examples: EXAMPLES[name] ?? own }
    }
    all[union] = { ...body, anyOf: names.map((name) => ({ $ref: refTo(name) })), examples }
  }
  return all
}

const isOf = ({ required, properties }: Json, example: Json): boolean =>
  required.every((key: string) => key in example && [undefined, example[key]].includes(properties[key].const))

function schemaAt (schemas: Record<string, Json>, place: string): Json {
  const [name, ...keys] = place.replaceAll(/\[\]|\|\d/g, '.$&').split('.')
  let schema = schemas[name]
  for (const key of keys) {
    if (key === '[]') schema = schema?.items
    else if (key.startsWith('|')) schema = schema?.anyOf?.[Number(key.slice(1))]
    else schema = schema?.properties?.[key]
  }
  if (schema === undefined) throw new Error(`scripts/openapi/component-names.ts names ${place}, which is not in the document.`)
  return schema
}

/** Returns the meaning of a schema as text: its JSON in a fixed order, without descriptions, examples and defaults. */
function meaningOf (schema: Json): string {
  const order = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(order)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.keys(value).toSorted().map((key) => [key, order(value[key])]))
  }
  const { description, examples, default: initial, 'x-enum-varnames': names, ...meaning } = schema
  return JSON.stringify(order(meaning))
}

function replace (value: Json, names: Map<string, string>, own?: string): Json {
  if (Array.isArray(value)) return value.map((each) => replace(each, names))
  if (typeof value !== 'object' || value === null) return value
  const isSchema = value.enum !== undefined || value.properties !== undefined
  const name = isSchema ? names.get(meaningOf(value)) : undefined
  if (name !== undefined && name !== own) return { $ref: refTo(name), ...value.description && { description: value.description } }
  const entries = Object.entries<Json>(value).map(([key, each]): [string, Json] => {
    if (key === 'example' || key === 'examples' || key === 'default') return [key, each]
    if (key === '$ref' && typeof each === 'string') return [key, renamed(each)]
    return [key, key === 'mapping' ? each : replace(each, names)]
  })
  return Object.fromEntries(entries)
}

function renamed ($ref: string): string {
  const name = RENAMED[$ref.slice(PREFIX.length)]
  return name === undefined ? $ref : refTo(name)
}

/** Returns examples of a schema, taken from examples of the components that contain it; for an enum, its first value. */
function examplesOf (schemas: Record<string, Json>, wanted: Json): Json[] | undefined {
  if (wanted.enum !== undefined) return [wanted.enum[0]]
  const meaning = meaningOf(wanted)
  const find = (schema: Json, example: Json): Json => {
    if (typeof schema !== 'object' || schema === null || example === undefined) return undefined
    if (schema.$ref !== undefined) return find(schemas[schema.$ref.slice(PREFIX.length)], example)
    if (meaningOf(schema) === meaning) return example
    if (Array.isArray(example)) return example.map((each) => find(schema.items, each)).find((each) => each !== undefined)
    if (typeof example !== 'object' || example === null) return undefined
    return Object.entries<Json>(example).map(([key, each]) => find(schema.properties?.[key], each)).find((each) => each !== undefined)
  }
  for (const { examples = [], ...schema } of Object.values<Json>(schemas)) {
    for (const example of examples) {
      const found = find(schema, example)
      if (found !== undefined) return [found]
    }
  }
  return undefined
}
