import { Type, type Static } from '@sinclair/typebox'
import { Timestamp } from './common.ts'

export const PASSPHRASE_HEADER = 'x-export-passphrase'

export const BackupHeaders = Type.Object({
  [PASSPHRASE_HEADER]: Type.String({
    minLength: 12,
    maxLength: 1_000,
    description: 'The passphrase that encrypts the backup, in UTF-8. The backup cannot be read without it'
  })
})

/** The same, where it may be left out. */
export const ExportHeaders = Type.Partial(BackupHeaders)

export const ExportQuery = Type.Object({
  format: Type.Optional(Type.Literal('json', {
    description: 'For people to read: facts, conversations, tasks, decisions and grants as JSON, without secrets. It cannot be imported'
  }))
})

export const ImportedSchema = Type.Object({
  status: Type.Literal('imported'),
  records: Type.Integer({ description: 'Number of records in the backup' }),
  createdAt: Timestamp
}, {
  $id: 'Imported',
  description: 'The backup was imported; createdAt is the time of its export'
})
export type ImportedView = Static<typeof ImportedSchema>

export const EraseBody = Type.Object({
  confirm: Type.Literal('erase everything', { description: 'These very words' })
}, { additionalProperties: false, examples: [{ confirm: 'erase everything' }] })

export const ErasedSchema = Type.Object({
  status: Type.Literal('erased'),
  stays: Type.Array(Type.String(), { description: 'Files of the directory that stay' })
}, {
  $id: 'Erased',
  description: 'All data was erased, and cannot be had back. The service begins anew: /events says reset'
})
export type ErasedView = Static<typeof ErasedSchema>
