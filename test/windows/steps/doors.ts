import { deepStrictEqual } from 'node:assert/strict'
import { ask, type Step } from '../app.ts'

export const doors: Step[] = [
  ['a tool server that is a batch file in PATH is started, and its arguments arrive', async () => {
    const { servers } = await ask('/mcp/servers')
    deepStrictEqual(servers.map(({ name, status }: any) => [name, status]), [['notes', 'connected']], JSON.stringify(servers))
  }]
]
