/* eslint-disable no-template-curly-in-string, max-len */
// What the READMEs of servers show, with their repositories. Values that a reader has to put in are those of a reader who did.

export interface Case {
  source: string
  /** What is pasted. */
  text: string
  values?: Record<string, string>
  /** The entries that are saved. */
  saved?: object[]
  /** The values that are stored encrypted. */
  given?: Record<string, string>
  /** Status and message of the entry that is not saved. */
  not?: [status: string, message: RegExp]
  notes?: RegExp
}

const json = (value: object) => JSON.stringify(value, null, 2)
const npx = (...args: string[]) => ({ command: 'npx', args: ['-y', ...args] })
const docker = (...args: string[]) => ['run', '-i', '--rm', ...args]
const GITHUB = {
  inputs: [{ type: 'promptString', id: 'github_token', description: 'GitHub Personal Access Token', password: true }],
  servers: {
    github: {
      command: 'docker',
      args: docker('-e', 'GITHUB_PERSONAL_ACCESS_TOKEN', 'ghcr.io/github/github-mcp-server'),
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: '${input:github_token}' }
    }
  }
}

export const READMES: Case[] = [
  {
    source: 'github/github-mcp-server: VS Code settings, without the token',
    text: json({ mcp: GITHUB }),
    not: ['incomplete', /needs a value for "github_token"/]
  },
  {
    source: 'github/github-mcp-server: .vscode/mcp.json, with the token',
    text: json(GITHUB),
    values: { github_token: 'ghp_0123' },
    saved: [{
      ...{ name: 'github', command: 'docker', args: GITHUB.servers.github.args },
      env: { GITHUB_PERSONAL_ACCESS_TOKEN: 'secret:mcp/github/GITHUB_PERSONAL_ACCESS_TOKEN' }
    }],
    given: { 'mcp/github/GITHUB_PERSONAL_ACCESS_TOKEN': 'ghp_0123' }
  },
  {
    source: 'github/github-mcp-server: remote, with a token',
    text: json({
      servers: { github: { type: 'http', url: 'https://api.githubcopilot.com/mcp/', headers: { Authorization: 'Bearer ${input:github_mcp_pat}' } } },
      inputs: [{ type: 'promptString', id: 'github_mcp_pat', description: 'GitHub Personal Access Token', password: true }]
    }),
    values: { github_mcp_pat: 'ghp_0123' },
    saved: [{ name: 'github', url: 'https://api.githubcopilot.com/mcp/', headers: { Authorization: 'secret:mcp/github/Authorization' } }],
    given: { 'mcp/github/Authorization': 'Bearer ghp_0123' }
  },
  {
    source: 'github/github-mcp-server: a fragment without braces',
    text: '"github": {\n  "command": "docker",\n  "args": [\n  "run",\n  "-i",\n  "--rm",\n  "-e",\n  "GITHUB_PERSONAL_ACCESS_TOKEN",\n' +
      '  "ghcr.io/github/github-mcp-server"\n  ],\n  "env": {\n    "GITHUB_PERSONAL_ACCESS_TOKEN": "${input:github_token}",\n' +
      '    "GITHUB_HOST": "https://<your GHES or ghe.com domain name>"\n  }\n}',
    values: { github_token: 'ghp_0123' },
    not: ['refused', /its env.GITHUB_HOST still holds a placeholder of the README/]
  },
  {
    source: 'modelcontextprotocol/servers: filesystem, Claude Desktop',
    text: json({
      mcpServers: { filesystem: { ...npx('@modelcontextprotocol/server-filesystem', '/Users/username/Desktop') } }
    }),
    not: ['refused', /its args\[2\] still holds/]
  },
  {
    source: 'modelcontextprotocol/servers: filesystem, VS Code',
    text: json({ servers: { filesystem: { ...npx('@modelcontextprotocol/server-filesystem', '${workspaceFolder}') } } }),
    saved: [{ name: 'filesystem', ...npx('@modelcontextprotocol/server-filesystem', '${workspaceFolder}') }]
  },
  {
    source: 'microsoft/playwright-mcp: standard config',
    text: '```js\n{\n  "mcpServers": {\n    "playwright": {\n      "command": "npx",\n      "args": [\n        "@playwright/mcp@latest"\n      ]\n    }\n' +
      '  }\n}\n```',
    saved: [{ name: 'playwright', command: 'npx', args: ['@playwright/mcp@latest'] }]
  },
  {
    source: 'a section of a README with Windows line ends: commands, then the entry',
    text: 'Install it:\r\n\r\n```bash\r\nnpm install -g acme\r\n```\r\n\r\nThen add:\r\n\r\n```json title="mcp.json"\r\n' +
      '{"mcpServers": {"acme": {"command": "acme"}}}\r\n```\r\n',
    saved: [{ name: 'acme', command: 'acme' }]
  },
  {
    source: 'makenotion/notion-mcp-server: headers as JSON in a variable',
    text: json({
      mcpServers: {
        notionApi: {
          ...npx('@notionhq/notion-mcp-server'),
          env: { OPENAPI_MCP_HEADERS: '{"Authorization": "Bearer ntn_0123", "Notion-Version": "2022-06-28" }' }
        }
      }
    }),
    saved: [{
      ...{ name: 'notionApi', ...npx('@notionhq/notion-mcp-server') },
      env: { OPENAPI_MCP_HEADERS: 'secret:mcp/notionApi/OPENAPI_MCP_HEADERS' }
    }],
    given: { 'mcp/notionApi/OPENAPI_MCP_HEADERS': '{"Authorization": "Bearer ntn_0123", "Notion-Version": "2022-06-28" }' }
  },
  {
    source: 'makenotion/notion-mcp-server: docker, the token among the arguments',
    text: json({ mcpServers: { notionApi: { command: 'docker', args: docker('-e', 'NOTION_TOKEN=ntn_0123', 'notion-mcp-server') } } }),
    saved: [{ name: 'notionApi', command: 'docker', args: docker('-e', 'secret:mcp/notionApi/#4', 'notion-mcp-server') }],
    given: { 'mcp/notionApi/#4': 'NOTION_TOKEN=ntn_0123' }
  },
  {
    source: 'makenotion/notion-mcp-server: the token that is still that of the README',
    text: json({ mcpServers: { notionApi: { ...npx('@notionhq/notion-mcp-server'), env: { NOTION_TOKEN: 'ntn_****' } } } }),
    not: ['refused', /its env.NOTION_TOKEN still holds/]
  },
  {
    source: 'sooperset/mcp-atlassian: tokens as options',
    text: json({
      mcpServers: { 'mcp-atlassian': { command: 'uvx', args: ['mcp-atlassian', '--jira-url=https://acme.atlassian.net', '--jira-token=t0ken'] } }
    }),
    saved: [{
      ...{ name: 'mcp-atlassian', command: 'uvx' },
      args: ['mcp-atlassian', '--jira-url=https://acme.atlassian.net', 'secret:mcp/mcp-atlassian/#2']
    }],
    given: { 'mcp/mcp-atlassian/#2': '--jira-token=t0ken' }
  },
  {
    source: 'supabase-community/supabase-mcp: the token behind its option',
    text: json({ mcpServers: { supabase: { ...npx('@supabase/mcp-server-supabase@latest', '--access-token', 'sbp_0123') } } }),
    saved: [{ name: 'supabase', ...npx('@supabase/mcp-server-supabase@latest', '--access-token', 'secret:mcp/supabase/#3') }],
    given: { 'mcp/supabase/#3': 'sbp_0123' }
  },
  {
    source: 'firecrawl/firecrawl-mcp-server: Cursor, as it stands there',
    text: json({ mcpServers: { 'firecrawl-mcp': { ...npx('firecrawl-mcp'), env: { FIRECRAWL_API_KEY: 'YOUR-API-KEY' } } } }),
    not: ['refused', /its env.FIRECRAWL_API_KEY still holds/]
  },
  {
    source: 'upstash/context7: Gemini CLI, with a header of the protocol',
    text: json({
      mcpServers: {
        context7: {
          httpUrl: 'https://mcp.context7.com/mcp',
          headers: { CONTEXT7_API_KEY: 'ctx7-0123', Accept: 'application/json, text/event-stream' }
        }
      }
    }),
    saved: [{ name: 'context7', url: 'https://mcp.context7.com/mcp', headers: { CONTEXT7_API_KEY: 'secret:mcp/context7/CONTEXT7_API_KEY' } }],
    given: { 'mcp/context7/CONTEXT7_API_KEY': 'ctx7-0123' },
    notes: /The protocol sets Accept itself/
  },
  {
    source: 'upstash/context7: VS Code, a fragment without braces',
    text: '"mcp": {\n  "servers": {\n    "context7": {\n      "type": "http",\n      "url": "https://mcp.context7.com/mcp",\n    }\n  }\n}',
    saved: [{ name: 'context7', url: 'https://mcp.context7.com/mcp' }]
  },
  {
    source: 'mongodb-js/mongodb-mcp-server: a connection string',
    text: json({
      mcpServers: {
        MongoDB: {
          ...npx('mongodb-mcp-server@latest', '--readOnly'),
          env: { MDB_MCP_CONNECTION_STRING: 'mongodb://localhost:27017/myDatabase' }
        }
      }
    }),
    saved: [{
      ...{ name: 'MongoDB', ...npx('mongodb-mcp-server@latest', '--readOnly') },
      env: { MDB_MCP_CONNECTION_STRING: 'secret:mcp/MongoDB/MDB_MCP_CONNECTION_STRING' }
    }],
    given: { 'mcp/MongoDB/MDB_MCP_CONNECTION_STRING': 'mongodb://localhost:27017/myDatabase' }
  },
  {
    source: 'ChromeDevTools/chrome-devtools-mcp: an option with an address',
    text: json({
      mcpServers: { 'chrome-devtools': { ...npx('chrome-devtools-mcp@latest', '--browser-url=http://127.0.0.1:9222') } }
    }),
    saved: [{ name: 'chrome-devtools', ...npx('chrome-devtools-mcp@latest', '--browser-url=http://127.0.0.1:9222') }]
  }
]

const entry = (value: unknown) => json({ mcpServers: { x: value } })

/** What is damaged, and what is said of it: a line of its entry, or of the whole text (400). */
export const DAMAGED: Array<[text: string, says: RegExp]> = [
  [entry(null), /Not saved: it is not an object/],
  [entry([]), /it is not an object/],
  [entry('npx -y server'), /it is not an object/],
  [entry({}), /neither a command nor a url/],
  [entry({ command: '' }), /its command is empty/],
  [entry({ command: 'npx -y @acme/server' }), /"npx" is the command, and the rest belongs in args/],
  [entry({ command: ['npx', '-y', 'server'] }), /its command is not a text/],
  [entry({ command: 'npx', args: '-y server' }), /its args are not a list/],
  [entry({ command: 'npx', args: ['-y', null] }), /its args\[1\] is not a text/],
  [entry({ command: 'npx', args: ['-y', ['server']] }), /its args\[1\] is not a text/],
  [entry({ command: 'npx', env: ['TOKEN=canary'] }), /its env are not an object/],
  [entry({ command: 'npx', env: { TOKEN: null } }), /its env.TOKEN is not a text/],
  [entry({ command: 'npx', env: { 'A B': 'canary' } }), /a name that no variable can have/],
  [entry({ command: 'npx', url: 'https://example.com/mcp' }), /a command and a url/],
  [entry({ url: 'example.com/mcp' }), /its url or a field of it is not valid/],
  [entry({ url: 'https://canary@example.com/mcp' }), /its url or a field of it is not valid/],
  [entry({ url: 'https://example.com/mcp', serverUrl: 'https://example.org/mcp' }), /more than one url/],
  [entry({ url: 'https://example.com/mcp', headers: ['Authorization: Bearer canary'] }), /its headers are not an object/],
  [entry({ url: 'https://example.com/mcp', headers: { 'a b': 'canary' } }), /its url or a field of it is not valid/],
  [entry({ type: 'sse', url: 'https://example.com/sse' }), /Streamable HTTP, which often ends in \/mcp/],
  [entry({ type: 'stdio', url: 'https://example.com/mcp' }), /its type is stdio, and it has no command/],
  [entry({ type: 'carrier-pigeon', command: 'npx' }), /its type is none of/],
  [entry({ command: 'npx', args: ['${command:pick}'] }), /its args\[0\] holds \$\{command:pick\}, for which only an editor/],
  [entry({ command: 'npx', approval: 'sometimes' }), /a field of it is not valid/],
  [entry({ command: 'a\0b' }), /its command holds a NUL character/],
  [json({ mcpServers: { 天气: { command: 'npx' } } }), /its name has no letters or digits/],
  [json({ mcpServers: { 'a b': { command: 'one' }, 'a-b': { command: 'two' } } }), /its name is a-b here, as that of another entry/],
  [json({ mcpServers: { x: { command: 'one' } }, servers: { x: { command: 'two' } } }), /its name is x here, as that of another entry/],
  ['{"mcpServers": {"x": {"command": "npx", "env": {"TOKEN": "canary"}}', /No servers could be read: it is not JSON/],
  ['{“mcpServers”: {“x”: {“command”: “canary”}}}', /its quotation marks are curly/],
  [json({ mcpServers: ['canary'] }), /are objects, of entries by name/],
  [json({ mcpServers: {} }), /it names no server/],
  [json({ globalShortcut: 'canary' }), /neither "mcpServers" nor "servers"/],
  [json({ command: 'npx', args: ['canary'] }), /an entry needs a name/],
  ['[1, 2]', /it is not an object of JSON/],
  [`"${'\\"'.repeat(100_000)}`, /it is not JSON/]
]
