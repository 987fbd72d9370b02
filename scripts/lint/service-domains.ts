// The folders of services/, and the files of each that services of other domains may import. The rest is internal.
// All files of services/contracts and services/lib are for everybody. Plugins build the services and may import all files.
export const PUBLIC: Record<string, string[]> = {
  agent: [],
  approvals: [
    'app-calls/answer-app-call',
    'approval-errors',
    'call-approval',
    'decide-approval',
    'decision',
    'input-digest',
    'item-of-call',
    'ledger',
    'question-view',
    'questions/answers-in-output',
    'questions/check-answers',
    'questions/live-questions',
    'refused-calls',
    'grants/call-grants',
    'grants/grants'
  ],
  backup: [],
  brain: ['brain', 'extraction/own-words', 'extraction/pointers', 'fact-text', 'memory'],
  config: ['config', 'variables'],
  http: ['draining', 'idempotency', 'invalid', 'pages'],
  journal: ['journal'],
  events: [],
  judge: ['evaluate', 'judge', 'review-answer'],
  log: [],
  mcp: [],
  models: [
    'compaction/compactor',
    'compaction/items',
    'compaction/open-compactor',
    'compaction/token-estimate',
    'compaction/unread-history',
    'describe-image',
    'prompts/analysis',
    'prompts/extraction',
    'prompts/judgement',
    'prompts/findings',
    'prompts/plan',
    'prompts/title',
    'provenance',
    'recent-images',
    'stream-call',
    'structured-call'
  ],
  objects: ['object-answer', 'take-answer'],
  process: ['child-environment', 'own-programs', 'process-identity', 'shell', 'spawn-guarded', 'spawn-isolated'],
  providers: [
    'answer-stream/connections',
    'check-part',
    'context-windows',
    'describe-failure',
    'part-batches',
    'registry',
    'run-models'
  ],
  retention: [],
  runs: [
    'engine/active-run',
    'engine/active-runs',
    'engine/asked-items',
    'engine/attempt',
    'engine/call-ports',
    'engine/drive',
    'engine/held-step',
    'engine/model-calls',
    'engine/opening',
    'engine/recover-runs',
    'engine/run-actions',
    'engine/run-items',
    'engine/run-owner',
    'engine/steer-task-run',
    'engine/who-is-asked',
    'run-errors',
    'run-record',
    'run-repository',
    'run-view',
    'tool-calls'
  ],
  'run-options': ['check-run-options', 'with-run-options'],
  'run-log': ['cut-steps', 'encoders/encoder', 'fold', 'join-deltas', 'open-calls', 'run-log', 'ui-message', 'whole-message'],
  store: ['keys', 'store-errors', 'store-types'],
  tasks: [],
  threads: ['raw-message', 'recall-answers', 'thread-errors', 'thread-message', 'thread-repository', 'user-messages'],
  tools: [
    'app/app-tool',
    'app/check-app-tools',
    'app/with-app-tools',
    'fence',
    'files/change-digest',
    'files/diff',
    'files/folder-guide',
    'files/open-folder',
    'host',
    'kept-call',
    'input-validator',
    'model-content',
    'model-output',
    'path-policy',
    'questions/ask-user',
    'read-input',
    'resources/resource-servers',
    'run-in-order',
    'said-once',
    'sources',
    'tool-errors',
    'web/fetch/address-policy',
    'web/fetch/addresses',
    'web/fetch/fetch-errors',
    'web/fetch/send',
    'work-folder'
  ],
  usage: ['budgets', 'local-days', 'meter', 'usage-repository', 'usage-sums']
}

/** Single imports of internal files. */
export const ALLOWED: Array<{ from: string, imports: string[], why: string }> = [
  {
    from: 'services/store/backup/backup.ts',
    imports: [
      'services/store/migrations.ts',
      'services/store/replacement/pending.ts',
      'services/store/replacement/replace.ts',
      'services/store/schema-version.ts'
    ],
    why: 'An import stages a database and a configuration, which the store puts in place at its next opening.'
  },
  {
    from: 'services/store/backup/backup-contents.ts',
    imports: ['services/store/record-names.ts', 'services/store/schema-version.ts'],
    why: 'A backup names its schema, and holds single records, whose names other services cannot use.'
  }
]

/** Returns why a file may not import another one; undefined when it may. Paths are relative to the root, with slashes. */
export function whyForbidden (from: string, imported: string): string | undefined {
  const [, importer] = /^services\/([^/]+)\//.exec(from) ?? []
  const [, domain, name] = /^services\/([^/]+)\/(.+)\.ts$/.exec(imported) ?? []
  if (importer === undefined || domain === undefined || domain === importer) return undefined
  if (importer === 'contracts') return 'services/contracts imports nothing but schemas and packages.'
  if (importer === 'lib') return 'services/lib imports no other service.'
  if (domain === 'contracts' || domain === 'lib') return undefined
  if (PUBLIC[domain]?.includes(name)) return undefined
  if (ALLOWED.some((each) => each.from === from && each.imports.includes(imported))) return undefined
  return `${imported} is internal to ${domain}. scripts/lint/service-domains.ts lists the files for other services.`
}
