export { changeUses } from './attachment-uses.ts'
export type { Attachments } from './attachments.ts'
export { attachmentsIn } from './message-files.ts'
export { takeFiles } from './take-files.ts'
