import { execFileSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedClient } from './python-client.ts'
import { startService } from './service.ts'
import { CACHE, installNode, makeEnvironment, run, scratchFolder } from './tools.ts'

// Connects real tool servers of npm and PyPI by the Python client, and calls a tool of each. Most of them reach nothing here: what counts
// is that each is listed, called, answers for itself, and goes.

interface ToolServer {
  name: string
  /** The package with its exact version, of npm or of PyPI, and the file or the program that is started. */
  npm?: string
  pypi?: string
  starts: string
  args: string[]
  tool: string
  input: object
}

const NOWHERE = 'http://127.0.0.1:1'
const WORK = '{work}'

const SERVERS: readonly ToolServer[] = [
  ...ofNpm('@modelcontextprotocol/', [
    ['server-everything@2026.8.31', 'dist/index.js', ['stdio'], 'echo', { message: 'hi' }],
    ['server-filesystem@2026.8.31', 'dist/index.js', [WORK], 'list_directory', { path: WORK }],
    ['server-memory@2026.8.31', 'dist/index.js', [], 'read_graph', {}],
    [
      'server-sequential-thinking@2026.8.31', 'dist/index.js', [], 'sequentialthinking',
      { thought: 'a', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 }
    ],
    ['server-github@2025.4.8', 'dist/index.js', [], 'search_repositories', { query: 'x' }],
    ['server-slack@2025.4.25', 'dist/index.js', [], 'slack_list_channels', {}],
    ['server-gitlab@2025.4.25', 'dist/index.js', [], 'search_repositories', { search: 'x' }],
    ['server-google-maps@0.6.2', 'dist/index.js', [], 'maps_geocode', { address: 'Bern' }],
    ['server-brave-search@0.6.2', 'dist/index.js', [], 'brave_web_search', { query: 'x' }]
  ]),
  ...ofNpm('', [
    ['@upstash/context7-mcp@4.1.1', 'dist/index.js', [], 'resolve-library-id', { libraryName: 'react', query: 'hooks' }],
    ['mcp-server-kubernetes@4.1.7', 'dist/index.js', [], 'kubectl_context', { operation: 'list' }],
    ['@notionhq/notion-mcp-server@2.5.2', 'bin/cli.mjs', [], 'API-get-self', {}],
    ['firecrawl-mcp@3.22.2', 'dist/index.js', [], 'firecrawl_scrape', { url: NOWHERE }],
    ['airtable-mcp-server@1.14.0', 'dist/main.js', [], 'list_bases', {}],
    ['tavily-mcp@0.2.22', 'build/index.js', [], 'tavily_search', { query: 'x' }],
    ['figma-developer-mcp@0.13.2', 'dist/bin.js', ['--stdio'], 'get_figma_data', { fileKey: 'abc' }],
    ['@antv/mcp-server-chart@0.9.10', 'build/index.js', [], 'generate_pie_chart', { data: [{ category: 'a', value: 1 }] }],
    ['@eslint/mcp@0.3.13', 'src/mcp-cli.js', [], 'lint-files', { filePaths: [`${WORK}/a.js`] }]
  ]),
  ...ofPypi([
    ['mcp-server-git==2026.10.19', 'mcp-server-git', ['--repository', WORK], 'git_status', { repo_path: WORK }],
    ['mcp-server-time==2026.10.19', 'mcp-server-time', [], 'get_current_time', { timezone: 'Europe/Zurich' }],
    ['mcp-server-fetch==2026.10.24', 'mcp-server-fetch', [], 'fetch', { url: NOWHERE }],
    ['mcp-obsidian==0.2.3', 'mcp-obsidian', [], 'obsidian_list_files_in_vault', {}],
    ['mcp-server-calculator==0.2.1', 'mcp-server-calculator', [], 'calculate', { expression: '6*7' }],
    ['duckduckgo-mcp-server==0.7.0', 'duckduckgo-mcp-server', [], 'search', { query: 'x' }],
    ['office-word-mcp-server==1.1.11', 'word_mcp_server', [], 'list_available_documents', { directory: WORK }],
    ['mcp-atlassian==0.23.1', 'mcp-atlassian', [], 'jira_get_all_projects', {}],
    [
      'awslabs.aws-documentation-mcp-server==1.2.3', 'awslabs.aws-documentation-mcp-server', [], 'read_documentation',
      { url: 'https://docs.aws.amazon.com/x.html' }
    ],
    ['mcp-shell-server==1.1.14', 'mcp-shell-server', [], 'shell_execute', { command: ['ls'], directory: WORK }],
    ['mcp-clickhouse==0.7.0', 'mcp-clickhouse', [], 'list_databases', {}],
    ['arxiv-mcp-server==0.8.2', 'arxiv-mcp-server', [], 'list_papers', {}]
  ])
]

/** Keys and addresses that lead nowhere, without which some do not start. */
const ENV: Record<string, string> = {
  ...Object.fromEntries([
    'GITHUB_PERSONAL_ACCESS_TOKEN', 'GITLAB_PERSONAL_ACCESS_TOKEN', 'SLACK_BOT_TOKEN', 'GOOGLE_MAPS_API_KEY', 'BRAVE_API_KEY',
    'TAVILY_API_KEY', 'FIGMA_API_KEY', 'JIRA_PERSONAL_TOKEN', 'CLICKHOUSE_USER', 'OBSIDIAN_API_KEY'
  ].map((name) => [name, 'none'])),
  ...{ SLACK_TEAM_ID: 'T1', NOTION_TOKEN: 'ntn_none', FIRECRAWL_API_KEY: 'fc-none', AIRTABLE_API_KEY: 'pat-none', JIRA_URL: NOWHERE },
  ...{ CLICKHOUSE_HOST: '127.0.0.1', CLICKHOUSE_PASSWORD: '', ALLOWED_DIR: WORK, ALLOW_COMMANDS: 'ls,cat' }
}

type Row = [pinned: string, starts: string, args: string[], tool: string, input: object]

function ofNpm (scope: string, rows: readonly Row[]): ToolServer[] {
  return rows.map(([pinned, starts, args, tool, input]) => {
    const name = pinned.slice(0, pinned.lastIndexOf('@')).replace(/^@|\//g, '-').replace(/^-/, '')
    return { name, npm: scope + pinned, starts, args, tool, input }
  })
}

function ofPypi (rows: readonly Row[]): ToolServer[] {
  return rows.map(([pypi, starts, args, tool, input]) => ({ name: starts.replaceAll(/[_.]/g, '-'), pypi, starts, args, tool, input }))
}

const HOME = join(CACHE, 'tool-servers')

/** Installs what is not there yet: the packages of npm together, each of PyPI in an environment of its own. */
function install (): void {
  installNode(HOME, SERVERS.flatMap(({ npm }) => npm ?? []))
  for (const { pypi } of SERVERS) {
    if (pypi === undefined || existsSync(join(HOME, pypi, 'whole'))) continue
    rmSync(join(HOME, pypi), { recursive: true, force: true })
    makeEnvironment(join(HOME, pypi))
    run(join(HOME, pypi, 'bin/pip'), ['install', '--quiet', '--disable-pip-version-check', pypi])
    writeFileSync(join(HOME, pypi, 'whole'), '')
  }
}

function commandOf ({ npm, pypi, starts, args }: ToolServer): { command: string, args: string[] } {
  if (pypi !== undefined) return { command: join(HOME, pypi, 'bin', starts), args }
  const [, name] = /^(.+)@/.exec(npm!)!
  return { command: process.execPath, args: [join(HOME, 'node_modules', name, starts), ...args] }
}

export async function toolServers (): Promise<string> {
  install()
  const bin = installedClient()
  const dir = scratchFolder()
  const { home, cwd, stop } = await startService()
  try {
    execFileSync('git', ['init', '--quiet', cwd])
    writeFileSync(join(cwd, 'a.txt'), 'a')
    const plan = SERVERS.map((server) => {
      const { name, tool, input } = server
      return { body: { name, ...commandOf(server), env: ENV, approval: 'never', connectMs: 90_000 }, tool, input }
    })
    writeFileSync(join(dir, 'plan.json'), JSON.stringify(plan).replaceAll(WORK, cwd))
    const script = fileURLToPath(new URL('tool_servers.py', import.meta.url))
    return run(join(bin, 'python'), [script, join(dir, 'plan.json')], { env: { LOCAL_AGENT_HOME: home, LOCAL_AGENT_URL: '' } }).trim()
  } finally {
    await stop()
  }
}
