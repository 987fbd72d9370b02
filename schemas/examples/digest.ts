// A real answer about three daily tasks after a day and a half; the second run of the middle task was a minute late.

export const digest = {
  since: 1795194000000,
  until: 1795338659000,
  text:
    'Since 2026-11-20 18:00: 2 runs completed, 2 runs failed. Passed without a run: 1 planned time. Waiting for your answer: 1 ' +
    'question. Next: “system info” runs at 2026-11-23 06:00.',
  completed: {
    items: [{
      taskId: '01a1fea7-0350-71f7-beb6-fe6a4640a7fb',
      goal: 'system info',
      runId: '01a1fea7-0e67-7274-acfc-dabff1ddd89d',
      runNumber: 2,
      trigger: 'schedule',
      status: 'completed',
      startedAt: 1795323600000,
      completedAt: 1795323600000,
      text: 'Run 2 of “system info” completed: This system: - platform: linux - arch: x64 - cpus: {"count":2,"model":"AMD EPYC"}',
      output: 'This system:\n- platform: linux\n- arch: x64\n- cpus: {"count":2,"model":"AMD EPYC"}'
    }],
    more: 1
  },
  failed: {
    items: [{
      taskId: '01a1fea7-03d6-738a-ba97-c8b80ab36dd5',
      goal: 'read report.txt',
      runId: '01a1fea7-0fc0-7453-9874-21a261d27121',
      runNumber: 2,
      trigger: 'catch_up',
      status: 'failed',
      startedAt: 1795324260000,
      completedAt: 1795324260000,
      text:
        'Run 2 of “read report.txt”, which makes up for 1 planned time, failed: The run did not reach its goal: The report says that ' +
        'something could not be done. Every tool call failed: readFile ("report.txt" does not exist.). Phases failed…',
      standsFor: 1,
      output:
        'I could not read a command in “A review of this run found: - The report says that something could not be done. - Every tool ' +
        'call failed: readFile ("report.txt" does not exist.). - Phases failed: readFile report.txt. Mend this now …”. I am the ' +
        'built-in offline assistant, not a language model: I under…',
      error:
        'The run did not reach its goal: The report says that something could not be done. Every tool call failed: readFile ' +
        '("report.txt" does not exist.). Phases failed: readFile report.txt.'
    }],
    more: 1
  },
  stopped: {
    items: [],
    more: 0
  },
  notRun: {
    items: [{
      taskId: '01a1fea7-03ed-70fd-8b9d-865388db356a',
      goal: 'write "Buy tea" to list.txt',
      slot: {
        at: 1795324200000,
        fate: 'skipped',
        reason: 'overlap',
        settledAt: 1795324260000
      },
      text: '“write "Buy tea" to list.txt” did not run at 2026-11-22 06:10: the run before was still under way, or waited for an answer.'
    }],
    more: 0
  },
  waiting: {
    items: [{
      taskId: '01a1fea7-03ed-70fd-8b9d-865388db356a',
      goal: 'write "Buy tea" to list.txt',
      runId: '01a1fea7-0973-70c9-a78c-6b279fca9d1e',
      approvalId: '01a1fea7-0a26-7436-aea9-d46df5e41779',
      kind: 'tool',
      cwd: '/home/ada/notes',
      about: '{"path":"list.txt","content":"Buy tea"}',
      createdAt: 1795237800000,
      expiresAt: 1795842600000,
      text: '“write "Buy tea" to list.txt” asks whether it may use writeFile with {"path":"list.txt","content":"Buy tea"}',
      toolName: 'writeFile'
    }],
    more: 0
  },
  waitingForApp: {
    items: [],
    more: 0
  },
  working: {
    items: [],
    more: 0
  },
  paused: {
    items: [],
    more: 0
  },
  next: {
    items: [{
      taskId: '01a1fea7-0350-71f7-beb6-fe6a4640a7fb',
      goal: 'system info',
      at: 1795410000000,
      text: '“system info” runs at 2026-11-23 06:00.'
    }],
    more: 2
  }
}
