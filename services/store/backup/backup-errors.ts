import { defineError } from '../../lib/service-error.ts'
import { describeDiskFailure } from '../../lib/disk-failure.ts'

export const BadPassphrase = defineError(
  'ERR_BACKUP_PASSPHRASE',
  'The passphrase is not the one that this backup was made with, or its first bytes are damaged. Nothing was changed.'
)
export const BackupDamaged = defineError(
  'ERR_BACKUP_DAMAGED',
  'The backup is damaged or incomplete: %s. Nothing was changed; use another copy of it.'
)
export const NoBackup = defineError('ERR_NO_BACKUP', 'The body is not a backup made by GET /export.')
export const BackupNewer = defineError(
  'ERR_BACKUP_NEWER',
  'The backup was made by a newer version of the service (%s). Update the service, then import it. Nothing was changed.'
)
export const BackupOlder = defineError(
  'ERR_BACKUP_OLDER',
  'The backup was made by an earlier build of the service, from before its first release, and only such a build can import it. ' +
    'Nothing was changed.'
)
export const BackupTooLarge = defineError('ERR_BODY_TOO_LARGE', 'The backup is larger than the %d bytes that this route accepts.')
export const BackupBusy = defineError('ERR_BACKUP_BUSY', '%s')
export const NotBytes = defineError('ERR_UNSUPPORTED_MEDIA_TYPE', 'Send the backup as Content-Type: application/octet-stream.')
export const ImportFailed = defineError('ERR_IMPORT_FAILED', 'The backup could not be put in place: %s. Nothing was changed.')

/** Creates the error for an import that failed on the disk, without paths. */
export function importFailed (error: unknown): Error {
  const diskFailure = describeDiskFailure(error)
  if (diskFailure === undefined) return new ImportFailed((error as NodeJS.ErrnoException).code ?? 'see the log for the reason')
  return new ImportFailed(`${diskFailure}. Free disk space for three times the size of the backup, then import it again`)
}
