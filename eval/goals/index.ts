import type { Goal } from '../goal.ts'
import { code } from './code.ts'
import { conversation } from './conversation.ts'
import { data } from './data.ts'
import { files } from './files.ts'
import { limits } from './limits.ts'
import { tools } from './tools.ts'

export const GROUPS: Record<string, Goal[]> = { files, code, data, limits, conversation, tools }

export const GOALS: Goal[] = Object.values(GROUPS).flat()
