export const server = { name: 'files', status: 'connected', tools: ['read_text_file', 'list_directory'] }
export const servers = {
  servers: [server, {
    name: 'github',
    status: 'failed',
    tools: [],
    error: 'The tool server "github" is not connected: it ended with exit code 127 (its command was not found).'
  }]
}
export const detail = {
  ...server,
  command: 'mcp-server-filesystem',
  toolDetails: [{
    name: 'list_directory',
    agentName: 'list_directory',
    description: 'Get a detailed listing of all files and directories in a specified path.',
    inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    annotations: { readOnlyHint: true }
  }],
  resources: [],
  prompts: [],
  capabilities: { tools: { listChanged: true } },
  version: { name: 'secure-filesystem-server', version: '0.2.0' },
  warnings: [],
  stderr: 'Secure MCP Filesystem Server running on stdio\n'
}
export const connect = {
  name: 'github',
  command: 'npx',
  args: ['-y', '@modelcontextprotocol/server-github'],
  env: { GITHUB_TOKEN: '<ACCESS_TOKEN>' }
}
export const connectAddress = {
  name: 'tickets',
  url: 'https://tickets.example.com/mcp',
  headers: { Authorization: 'Bearer <ACCESS_TOKEN>' }
}
export const settings = { enabled: true, tools: { allow: ['search_*', 'get_*'], deny: ['get_secret'] } }
export const connected = { status: 'connected', tools: ['search_repositories', 'create_issue'] }
export const authorizing = {
  status: 'authorizing',
  authorizationUrl: 'https://tickets.example.com/authorize?response_type=code&client_id=k3x&code_challenge=E9Mel'
}
export const disconnected = { status: 'disconnected', name: 'github' }
