import { Type, type Static } from '@sinclair/typebox'
import { Timestamp } from './common.ts'

export const PASSPHRASE_HEADER = 'x-export-passphrase'

export const BackupHeaders = Type.Object({
  [PASSPHRASE_HEADER]: Type.String({
    minLength: 12,
    maxLength: 1_000,
    description: 'What the backup is enciphered with, UTF-8. Without it nobody can read the backup'
  })
})

export const ImportedSchema = Type.Object({
  status: Type.Literal('imported'),
  records: Type.Integer({ description: 'How many records the backup held' }),
  createdAt: Timestamp
}, {
  $id: 'Imported',
  description: 'The backup is in place; createdAt is when it was made',
  examples: [{ status: 'imported', records: 412, createdAt: 1_764_000_000_000 }]
})
export type ImportedView = Static<typeof ImportedSchema>
