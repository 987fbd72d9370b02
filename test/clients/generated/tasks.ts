import t from 'tap'
import * as sdk from '../../../client/index.ts'
import { build } from '../../harness/helper.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { clientOf, ID, is, NO_OPTIONS, USAGE } from './client.ts'

t.test('tasks and their runs', async (t) => {
  const app = await build(t)
  const options = await clientOf(app)
  const watched = await (await tasksOf(t, app)).watch()
  const goal = "write 'x' to a.txt"
  const phase = { id: 'phase-1', description: 'writeFile a.txt', status: 'pending' as const }
  const plan = { phases: [phase], qualityCriteria: [], expects: 'files' as const, source: 'model' as const }
  const budget = { usd: undefined, tokens: undefined, minutes: 5 }
  const ofRuns = { ...NO_OPTIONS, budget }
  const task = {
    id: ID,
    name: goal,
    goal,
    taskType: 'recurring' as const,
    status: 'planned' as const,
    cwd: /work$/,
    plan,
    schedule: { interval: 'weekly' } as never,
    scheduleWords: 'every Monday at 09:00',
    triggers: undefined,
    approval: { mode: 'changes' as const, firstN: 3, approvedRuns: 0 },
    options: ofRuns,
    budget: { maxTokensPerRun: undefined, maxMinutesPerRun: 5 },
    memory: {
      ...{ findings: [], sources: [], filesCreated: [], decisions: [], feedback: [] },
      ...{ confirmed: undefined, replaced: undefined, doubted: undefined }
    },
    approvalHistory: [],
    steeringHistory: [],
    totalRuns: 0,
    successfulRuns: 0,
    lastRunAt: undefined,
    lastRunStatus: undefined,
    nextRunAt: undefined,
    endsAt: undefined,
    missedAt: undefined,
    waitingFor: undefined,
    health: { state: 'ok' as const, failures: 0, since: undefined, nextTryAt: undefined },
    retryAt: undefined,
    request: undefined,
    threadId: undefined,
    pausedReason: undefined,
    createdAt: Number,
    updatedAt: Number
  }
  const { data: made } = await sdk.createTask({
    ...options,
    body: { goal, taskType: 'recurring', schedule: { interval: 'weekly' }, budget: { maxMinutesPerRun: 5 } }
  })
  is(t, made, task, 'createTask')
  const path = { id: made.id }
  is(t, (await sdk.previewSchedule({ ...options, body: { text: 'every monday at 9', timezone: 'UTC' } })).data, {
    understood: true,
    schedule: { interval: 'every monday at 9', timezone: 'UTC' } as never,
    words: 'every Monday at 09:00',
    zone: 'UTC',
    next: [Number, Number, Number, Number, Number]
  } as never, 'previewSchedule')
  is(t, (await sdk.listTasks({ ...options, query: { limit: 1, status: 'planned', type: 'recurring' } })).data, {
    tasks: [task],
    nextCursor: undefined,
    damaged: undefined
  }, 'listTasks')
  is(t, (await sdk.startTask({ ...options, path })).data, { ...task, status: 'scheduled', nextRunAt: Number }, 'startTask')
  is(t, (await sdk.getTaskSchedule({ ...options, path, query: { upcoming: 2 } })).data, {
    schedule: { interval: 'weekly' } as never,
    words: 'every Monday at 09:00',
    upcoming: [Number, Number],
    slots: [],
    nextCursor: undefined
  }, 'getTaskSchedule')
  is(t, (await sdk.steerTask({ ...options, path, body: { comment: 'soon' } })).data, {
    ok: true,
    taskId: made.id,
    comment: 'soon',
    runTriggered: false
  }, 'steerTask')
  is(t, (await sdk.runTask({ ...options, path })).data, { ok: true, taskId: made.id, runId: ID, runNumber: 1 }, 'runTask')

  const { runId, approvalId } = await watched.until('task:approval')
  const run = {
    runId,
    taskId: made.id,
    runNumber: 1,
    trigger: 'manual' as const,
    status: 'pending_approval' as const,
    queuedAt: Number,
    startedAt: Number,
    completedAt: undefined,
    durationMs: undefined,
    output: undefined,
    otherOutput: undefined,
    error: undefined,
    phases: [{ ...phase, status: 'running' as const }],
    toolCalls: [{
      toolCallId: /./,
      toolName: 'writeFile',
      input: { path: 'a.txt', content: 'x' },
      output: undefined,
      otherOutput: undefined,
      error: undefined,
      status: 'pending' as const,
      durationMs: undefined,
      grantId: undefined,
      begun: undefined,
    }],
    toolCount: 1,
    qualityScore: undefined,
    evaluation: undefined,
    object: undefined,
    input: undefined,
    inputBytes: undefined,
    steering: ['soon'],
    questions: [{
      approvalId,
      kind: 'tool' as const,
      toolName: 'writeFile',
      input: { path: 'a.txt', content: 'x' },
      cwd: /work$/,
      reason: undefined,
      reasons: Array,
      boundary: undefined,
      toolServer: undefined,
      scopes: Array,
      teaches: Array,
      output: undefined,
      otherOutput: undefined,
      questions: undefined,
      budget: undefined,
      live: undefined,
      server: undefined,
      url: undefined,
      createdAt: Number,
      expiresAt: Number
    }],
    usage: USAGE,
    answeredBy: { model: 'offline/assistant', effort: undefined },
    options: ofRuns,
    attempts: 1,
    plannedAt: undefined,
    standsFor: undefined,
    causes: undefined,
    review: undefined,
    failure: undefined,
    retryAt: undefined,
    stopped: undefined,
    steered: undefined,
    verified: undefined,
    facts: /^1 call: /
  }
  is(t, (await sdk.getTaskRun({ ...options, path: { ...path, runId } })).data, run, 'getTaskRun')
  is(t, (await sdk.getTask({ ...options, path })).data.waitingFor!, [{ kind: 'tool', id: approvalId }], 'getTask')
  const { data: told } = await sdk.listNotifications(options)
  const [{ notificationId }] = told.notifications
  is(t, told, {
    notifications: [{
      notificationId: ID,
      kind: 'waiting' as const,
      taskId: made.id,
      threadId: undefined,
      runId,
      provider: undefined,
      waitsFor: [{ approvalId, kind: 'tool' }],
      title: /approval of a call/,
      text: /write the file “a\.txt”/,
      createdAt: Number,
      reminder: false,
      needsShowing: true,
      shownAt: undefined,
      deliveries: [],
      closedAt: undefined
    }],
    count: 1
  }, 'listNotifications')
  is(t, (await sdk.showNotification({ ...options, path: { id: notificationId }, body: { shown: true } })).data, {
    notificationId,
    first: true,
    shownAt: Number,
    closedAt: undefined
  }, 'showNotification')
  is(t, (await sdk.seeTaskDigest({ ...options, body: { client: 'test', until: 1 } })).data, { client: 'test', until: 1 }, 'seeTaskDigest')
  const none = { items: [], more: 0 }
  is(t, (await sdk.taskDigest({ ...options, query: { since: 0, limit: 5 } })).data, {
    since: 0,
    until: Number,
    text: /Waiting for your answer: 1 question/,
    tasks: none,
    chats: none,
    nothingToDo: 0,
    completed: none,
    failed: none,
    stopped: none,
    notRun: none,
    fired: none,
    waiting: {
      items: [{
        taskId: made.id,
        name: goal,
        goal,
        runId,
        approvalId,
        kind: 'tool' as const,
        toolName: 'writeFile',
        cwd: /work$/,
        reason: undefined,
        about: /a\.txt/,
        createdAt: Number,
        expiresAt: Number,
        text: /write the file/
      }],
      more: 0
    },
    waitingForApp: none,
    working: none,
    failing: none,
    next: { items: [{ taskId: made.id, name: goal, goal, at: Number, text: /runs at/ }], more: 0 },
    damaged: undefined
  }, 'taskDigest')
  is(t, (await sdk.approveTask({ ...options, path, body: { approved: false, notes: 'not this' } })).data, {
    ok: true,
    taskId: made.id,
    runId,
    approvalId,
    approved: false,
    status: 'running',
    learned: undefined
  }, 'approveTask')
  await watched.until('task:error')
  const rejected = {
    ...run,
    status: 'rejected' as const,
    completedAt: Number,
    durationMs: Number,
    output: /did not approve/,
    otherOutput: undefined,
    error: /denied writeFile: not this/,
    phases: [{ ...phase, status: 'skipped' as const }],
    toolCalls: [{
      toolCallId: /./,
      toolName: 'writeFile',
      input: { path: 'a.txt', content: 'x' },
      output: undefined,
      otherOutput: undefined,
      error: 'not this',
      status: 'denied' as const,
      durationMs: undefined,
      grantId: undefined,
      begun: undefined,
    }],
    qualityScore: Number,
    evaluation: {
      satisfied: false,
      qualityScore: Number,
      issues: Array,
      outcome: 'failed' as const,
      verified: false,
      claims: Array,
      evidence: 'unchecked' as const,
      judge: 'none' as const
    },
    verified: false,
    facts: /^1 call: /,
    questions: []
  }
  is(t, (await sdk.listTaskRuns({ ...options, path, query: { limit: 1 } })).data, {
    runs: [rejected],
    nextCursor: undefined,
    damaged: undefined
  }, 'listTaskRuns')
  is(t, (await sdk.getTask({ ...options, path })).data, {
    ...task,
    status: 'scheduled',
    totalRuns: 1,
    lastRunAt: Number,
    lastRunStatus: 'rejected',
    nextRunAt: Number,
    memory: { ...task.memory, feedback: [{ runId, approved: false, notes: 'not this', at: Number }] },
    approvalHistory: [{
      approvalId,
      runId,
      runNumber: 1,
      kind: 'tool',
      toolName: 'writeFile',
      approved: false,
      notes: 'not this',
      device: undefined,
      expired: undefined,
      at: Number
    }],
    steeringHistory: [{ id: ID, comment: 'soon', createdAt: Number, runId }]
  }, 'getTask')

  const known = { ...task.memory, feedback: [{ runId, approved: false, notes: 'not this', at: Number }] }
  is(t, (await sdk.getTaskMemory({ ...options, path })).data, known, 'getTaskMemory')
  const lists = { decisions: ['in euros'] }
  const typed = { ...known, ...lists, confirmed: lists.decisions }
  is(t, (await sdk.replaceTaskMemory({ ...options, path, body: lists })).data, typed, 'replaceTaskMemory')
  is(t, (await sdk.clearTaskMemory({ ...options, path })).data, task.memory, 'clearTaskMemory')

  const { data: after } = await sdk.createTask({
    ...options,
    body: { goal: 'system info', triggers: [{ type: 'task', taskId: made.id, on: 'completed' }] }
  })
  is(t, (await sdk.listFirings({ ...options, path: { id: after.id } })).data, {
    triggers: [{
      trigger: { type: 'task', taskId: made.id, on: 'completed' } as never,
      state: 'resting' as const,
      text: undefined,
      files: undefined,
      lookedAt: undefined
    }],
    firings: [],
    nextCursor: undefined
  }, 'listFirings')

  is(t, (await sdk.pauseTask({ ...options, path })).data.pausedReason, 'user', 'pauseTask')
  is(t, (await sdk.resumeTask({ ...options, path })).data.status, 'scheduled', 'resumeTask')
  const { data: second } = await sdk.runTask({ ...options, path, headers: { 'idempotency-key': 'once' } })
  is(t, (await sdk.cancelTaskRun({ ...options, path: { ...path, runId: second.runId } })).data.status, 'cancelled', 'cancelTaskRun')
  is(t, (await sdk.updateTask({ ...options, path, body: { goal: 'system info' } })).data.plan.phases, [{
    id: 'phase-1',
    description: 'systemInfo',
    status: 'pending'
  }], 'updateTask')
  is(t, (await sdk.cancelTask({ ...options, path })).data.status, 'cancelled', 'cancelTask')
  is(t, (await sdk.deleteTask({ ...options, path })).data, { ok: true, taskId: made.id }, 'deleteTask')
})
