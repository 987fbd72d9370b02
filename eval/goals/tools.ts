import { amount, answers, nothingElse } from '../checks.ts'
import type { Goal } from '../goal.ts'

const ORDERS: Record<string, { state: string, due: string }> = {
  'A-1040': { state: 'in production', due: '2026-06-02' },
  'A-1041': { state: 'waits for a part', due: '2026-07-19' }
}

/** Goals for tools that are not built in: of a tool server and of the application. */
export const tools: Goal[] = [
  {
    name: 'tool-server',
    measures: 'the tool of a tool server that is found among many and used rightly',
    server: 'everything',
    approve: 'all',
    says: ['What does the weather tool of the connected tool server say of Chicago? I need the temperature and the humidity.'],
    checks: [
      answers('has the temperature, 36', amount(36)),
      answers('has the humidity, 82', amount(82)),
      nothingElse()
    ]
  },
  {
    name: 'app-tool',
    measures: 'a tool of the application, in words that do not name it',
    files: { 'orders.txt': 'A-1040 Bakker\nA-1041 Okafor\n' },
    tools: {
      findOrder: {
        description: 'Looks an order up by its number.',
        inputSchema: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'], additionalProperties: false },
        effect: 'read',
        execute: ({ number }) => ORDERS[number] ?? { state: 'unknown' }
      }
    },
    says: ["When will Okafor's order be ready, and what does it wait for?"],
    checks: [
      answers('has the day', /2026-07-19|19(?:th|\.)?(?: of)? July|July 19/i),
      answers('says that a part is missing', /\bpart\b/i),
      nothingElse()
    ]
  }
]
