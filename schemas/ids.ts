import { Type } from '@sinclair/typebox'

export const ThreadId = Type.String({ pattern: '^[^/\\p{Cc}\\p{Cs}]{1,128}$', description: 'Up to 128 printable characters without "/"' })
export const TaskId = Type.String({ pattern: '^[0-9a-f-]{36}$', description: 'A UUID' })
