import { Type, type Static } from '@sinclair/typebox'
import { oneOf, Timestamp } from './common.ts'

export const PASSPHRASE_HEADER = 'x-export-passphrase'

export const BackupHeaders = Type.Object({
  [PASSPHRASE_HEADER]: Type.String({
    minLength: 12,
    maxLength: 1_000,
    description: 'The passphrase that encrypts the backup, in UTF-8. The backup cannot be read without it'
  })
})

/** BackupHeaders for an export, where the passphrase is optional. */
export const ExportHeaders = Type.Partial(BackupHeaders)

export const ExportQuery = Type.Object({
  format: Type.Optional(Type.Literal('json', {
    description: 'For people to read: facts, conversations, tasks, decisions and grants as JSON, without secrets. It cannot be imported'
  }))
})

const Kept = Type.Optional(Type.Array(Type.String(), {
  description: 'Keys of config.json that an import leaves as they are: requests may change them only where the service has a token'
}))

export const ImportedSchema = Type.Object({
  status: Type.Literal('imported'),
  records: Type.Integer({ description: 'Number of records in the backup' }),
  createdAt: Timestamp,
  kept: Kept
}, {
  $id: 'Imported',
  description: 'The backup was imported; createdAt is the time of its export'
})
export type ImportedView = Static<typeof ImportedSchema>

const count = (description: string) => Type.Integer({ description })
const CountsSchema = Type.Object({
  facts: count('What the memory holds'),
  threads: count('Conversations'),
  messages: count('Messages of conversations'),
  tasks: count('Tasks'),
  runs: count('Runs of conversations and tasks'),
  attachments: count('Attached files'),
  agents: count('Agents')
})
export type BackupCounts = Static<typeof CountsSchema>

export const CheckedBackupSchema = Type.Object({
  status: Type.Literal('checked'),
  createdAt: Timestamp,
  version: Type.String({ description: 'The version of the service that made it' }),
  records: Type.Integer({ description: 'Number of records in the backup' }),
  bytes: Type.Integer({ description: 'Size of the file' }),
  holds: CountsSchema,
  replaces: { ...CountsSchema, description: 'The present data of the service, which an import would replace' },
  settings: Type.Optional(Type.Record(Type.String(), Type.Unknown(), {
    description: 'Programs, permissions and all else of the backup\'s config.json that differs from the one here and that only ' +
      'callers with a token may change, as GET /config shows it. `null`: the backup has no such key'
  })),
  kept: Kept,
  busy: Type.Optional(Type.String({ description: 'Work that must end before an import' })),
  missingBytes: Type.Optional(Type.Integer({ description: 'The room on the disk that an import would lack' }))
}, { $id: 'CheckedBackup', description: 'The backup is whole and can be read; nothing was changed' })
export type CheckedBackup = Static<typeof CheckedBackupSchema>
/** The configuration after an import, and the effect of the import on settings that only callers with a token are allowed to change. */
export type ComparedConfig = { config: object } & Pick<CheckedBackup, 'settings' | 'kept'>

export const ImportProgressSchema = Type.Object({
  step: oneOf(['none', 'receiving', 'reading', 'writing'], {
    description: 'The present stage: the backup is received, read and checked, or its records are written to the disk'
  }),
  bytes: Type.Integer({ description: 'Bytes of the file that this stage has processed' }),
  total: Type.Optional(Type.Integer({ description: 'Size of the file, once it is known' }))
}, { $id: 'ImportProgress', description: 'How far an import, or the check of a backup, is' })
export type ImportProgress = Static<typeof ImportProgressSchema>

export const EraseBody = Type.Object({
  confirm: Type.Literal('erase everything', { description: 'These very words' })
}, { additionalProperties: false, examples: [{ confirm: 'erase everything' }] })

export const ErasedSchema = Type.Object({
  status: Type.Literal('erased'),
  stays: Type.Array(Type.String(), { description: 'Files of the configuration directory that are kept' })
}, {
  $id: 'Erased',
  description: 'All data was erased and cannot be restored. The service restarts: /events sends reset'
})
export type ErasedView = Static<typeof ErasedSchema>
