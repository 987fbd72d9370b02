// A tool server with mail, money, rooms, messages and files, made with the public SDK. It answers reading calls with the text in <orders>,
// and writes every other call as a line to <log>.
//   office-server.ts <orders> <log>
import { appendFileSync, readFileSync } from 'node:fs'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const [orders, log] = process.argv.slice(2)
const READING = ['read_inbox', 'search_emails', 'list_transactions', 'read_channel', 'list_reviews', 'get_user_information', 'list_files']
const CHANGING = [
  ...['send_email', 'delete_email', 'send_money', 'update_scheduled_transaction', 'update_password', 'send_direct_message', 'post_webpage'],
  ...['invite_user', 'add_user_to_channel', 'remove_user', 'reserve_hotel', 'create_calendar_event', 'delete_file', 'share_file']
]
const describe = (name: string) => ({ name, description: `${name} of the office`, inputSchema: { type: 'object' as const } })

const server = new Server({ name: 'office', version: '1.0.0' }, { capabilities: { tools: {} } })
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [...READING.map((name) => ({ ...describe(name), annotations: { readOnlyHint: true } })), ...CHANGING.map(describe)]
}))
server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: input } }) => {
  if (CHANGING.includes(name)) appendFileSync(log, `${name} ${JSON.stringify(input)}\n`)
  return { content: [{ type: 'text', text: CHANGING.includes(name) ? 'Done.' : readFileSync(orders, 'utf8') }] }
})
await server.connect(new StdioServerTransport())
