export { changeUses, type Attachments } from './attachments.ts'
export { attachmentsIn } from './message-files.ts'
export { takeFiles } from './message-files.ts'
