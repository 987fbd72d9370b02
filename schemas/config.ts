import { Type, type Static } from '@sinclair/typebox'
import { oneOf } from './common.ts'
import { EffortSchema, MAX_STEPS, MaxOutputTokens } from './run-options.ts'

const ModelId = Type.String({ pattern: '^[^\\/\\s]+\\/\\S+$', description: '`<provider>/<model>`' })
const PROVIDER_NAME = '^(?!(?:offline|gateway)$)[\\w.-]{1,64}$'
const HttpAddress = Type.String({
  pattern: '^https?://[^\\/\\s?#@]+(?:/[^\\s?#]*)?$',
  description: 'An http or https address such as http://127.0.0.1:11434/v1, without user name, query or fragment'
})
const Names = Type.Record(Type.String(), Type.String())

export const McpUrl = Type.String({
  pattern: '^https?://[^\\/?#@ \\t\\n\\r]+(?:\\/[^?#@ \\t\\n\\r]*)?(?:\\?[^# \\t\\n\\r]*)?$',
  maxLength: 4096,
  description: 'An http or https address such as https://example.com/mcp, without user name and fragment'
})
/** Names of headers that the protocol or the connection sets, as alternatives of a pattern. */
const OWN_HEADERS = 'accept|connection|content-length|content-type|host|last-event-id|mcp-protocol-version|mcp-session-id|te|' +
  'trailer|transfer-encoding|upgrade'
const inAnyCase = (text: string) => text.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`)
const HEADER_NAME = `^(?!(?:${inAnyCase(OWN_HEADERS)})$)[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,128}$`
const headersNamed = (pattern: string) =>
  Type.Record(
    Type.String({ pattern }),
    Type.String({ pattern: '^[\\t -~]*$', maxLength: 16_384, description: 'A text of visible ASCII characters' }),
    {
      additionalProperties: false,
      maxProperties: 32,
      propertyNames: { pattern, description: 'The name of an HTTP header that neither the protocol nor the connection sets' }
    }
  )
const McpHeaders = headersNamed(HEADER_NAME)
/**
 * McpHeaders for request bodies, with a pattern that every dialect of regular expressions (such as that of Python or Go) reads.
 * `isOwnHeader` checks the names that the pattern cannot exclude.
 */
export const McpHeadersBody = headersNamed('^[!#$%&\'*+.^_`\\|~0-9A-Za-z\\-]{1,128}$')
/** True if the protocol or the connection sets this header. */
export const isOwnHeader = (name: string): boolean => OWN_HEADERS.split('|').includes(name.toLowerCase())
export const McpClientId = Type.String({
  minLength: 1,
  maxLength: 2048,
  description: 'The client that its user registered by hand at the authorization server; without it this service registers itself'
})
export const McpRedirectUri = Type.String({
  pattern: '^http://(?:127\\.0\\.0\\.1|localhost)(?::[0-9]{1,5})?/[A-Za-z0-9._~%\\/\\-]*$',
  maxLength: 512,
  description: 'The address on this machine with which the client was registered, http://127.0.0.1/oauth/callback by default. Without a ' +
    'port, any free one is used, as authorization servers compare the rest'
})
export const McpApproval = Type.Union([Type.Literal('never'), Type.Literal('always'), Type.Array(Type.String())], {
  description: 'The tools of the server whose calls need approval: all of them, none, or the named ones. ' +
    'By default, all but those that the server marks with readOnlyHint and its user has accepted as they are'
})
const McpTimeout = Type.Integer({
  minimum: 1_000,
  maximum: 3_600_000,
  description: 'How long a call of a tool may take, milliseconds; 60,000 by default. Progress that the server reports starts it anew, ' +
    'for an hour at most'
})
const ToolNamePatterns = (description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 256,
    description: `${description} Names as the server gives them, or globs`
  })
export const McpToolFilter = Type.Object({
  allow: Type.Optional(ToolNamePatterns('The only tools that are offered.')),
  deny: Type.Optional(ToolNamePatterns('Tools that are not offered, also where `allow` names them.'))
}, { additionalProperties: false, description: 'Which tools of the server the agent is offered; all of them by default' })
/** A host that a box (the sandbox of a command or tool server) is allowed to connect to, with an optional port. */
export const BoxHost = Type.String({
  pattern: '^[A-Za-z0-9.\\-]{1,253}(?::[0-9]{1,5})?$',
  description: 'A host, such as api.example.com or api.example.com:8443'
})
const ServerFolders = (description: string) =>
  Type.Array(Type.String({ pattern: '^/.', maxLength: 4096, description: 'An absolute path' }), { maxItems: 20, description })
export const McpSandboxSchema = Type.Union([
  Type.Boolean(),
  Type.Object({
    network: Type.Optional(Type.Array(BoxHost, {
      minItems: 1,
      maxItems: 20,
      description: 'Hosts that it may reach, `host` (ports 80 and 443) or `host:port`. Absent: no network'
    })),
    read: Type.Optional(ServerFolders('Folders that it may read, by their absolute paths')),
    write: Type.Optional(ServerFolders('Folders that it may read and write, by their absolute paths'))
  }, { additionalProperties: false })
], {
  description: 'The program runs in a box: without your home and secrets, with the network and the folders that are named alone. Where ' +
    'no box can be had, it is not started. `true`: no network and no folders'
})
const McpConnectTime = Type.Integer({
  minimum: 1_000,
  maximum: 600_000,
  description: 'How long it may take to start and to connect, milliseconds; 60,000 by default, as a program may have to be installed first'
})
const McpEnabled = Type.Boolean({ description: 'False: the entry is kept, and the server is neither started nor connected' })
/** The settings of every tool server. All except `enabled` take effect without a new connection. */
export const mcpSettings = {
  approval: Type.Optional(McpApproval),
  timeoutMs: Type.Optional(McpTimeout),
  connectMs: Type.Optional(McpConnectTime),
  tools: Type.Optional(McpToolFilter),
  enabled: Type.Optional(McpEnabled)
}
const mcpEntry = { name: Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$' }), ...mcpSettings }
const McpProcessSchema = Type.Object({
  ...mcpEntry,
  url: Type.Optional(Type.Never()),
  command: Type.String({ minLength: 1 }),
  args: Type.Optional(Type.Array(Type.String())),
  /** The working folder of the program; by default, that of the service. */
  cwd: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  /**
   * Environment variables of the program. `secret:mcp/<name>/<KEY>` refers to a value in the encrypted store, `${VAR}` to an environment
   * variable. Both also work in `command`, `args` and `cwd`.
   */
  env: Type.Optional(Names),
  sandbox: Type.Optional(McpSandboxSchema)
})
const McpAddressSchema = Type.Object({
  ...mcpEntry,
  command: Type.Optional(Type.Never()),
  url: McpUrl,
  sandbox: Type.Optional(Type.Never()),
  /** The values can hold `secret:mcp/<name>/<KEY>` and `${VAR}`, as those of `env` in McpProcessSchema. */
  headers: Type.Optional(McpHeaders),
  clientId: Type.Optional(McpClientId),
  /** The value can hold `secret:mcp/<name>/<KEY>` and `${VAR}`, as the values of `env` in McpProcessSchema. */
  clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  redirectUri: Type.Optional(McpRedirectUri)
})
export const McpEntrySchema = Type.Union([McpProcessSchema, McpAddressSchema], {
  $id: 'McpEntry',
  description: 'An object with either `command` (and `args`, `env`) or `url` (and `headers`)'
})
export type McpEntry = Static<typeof McpEntrySchema>
export type McpAddress = Static<typeof McpAddressSchema>
export type McpProcess = Static<typeof McpProcessSchema>

/** The largest number of entries of `mcp`, `mcpServers` and `servers` together. */
export const MOST_SERVERS = 64
const ReadmeServers = Type.Record(Type.String(), Type.Unknown())

const Dollars = Type.Number({ minimum: 0, maximum: 1_000_000 })
const CallSettings = Type.Object({
  effort: Type.Optional(EffortSchema),
  maxOutputTokens: Type.Optional(MaxOutputTokens)
}, { additionalProperties: false })
const Steps = Type.Integer({ minimum: 1, maximum: MAX_STEPS })
const ModelName = Type.String({ pattern: '^\\S+$', maxLength: 100, description: 'The name of a model, without spaces' })
const Silence = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1_000, maximum: 24 * 60 * 60 * 1000, description: `${description}, milliseconds` }))
const Timeouts = Type.Object({
  firstTokenMs: Silence(
    'How long a model may take to begin its answer; by default 120,000, or 900,000 on this machine and in its private network'
  ),
  idleMs: Silence(
    'How long a model may send nothing within its answer; by default 60,000, or 300,000 on this machine and in its private network'
  )
}, { additionalProperties: false })

const ScriptedTurn = Type.Object({
  text: Type.Optional(Type.String()),
  toolCalls: Type.Optional(Type.Array(Type.Object({ toolName: Type.String(), input: Type.Unknown() }))),
  delayMs: Type.Optional(Type.Integer({ minimum: 0 })),
  chunkMs: Type.Optional(Type.Integer({ minimum: 0 })),
  error: Type.Optional(Type.String())
})

const AbsolutePath = Type.String({ pattern: '^(?:/|[A-Za-z]:[\\\\\\/]|\\\\\\\\)', description: 'An absolute path; "~" is not expanded' })

/** The schema of each key of `config.json`. Unknown keys are kept unchanged and otherwise ignored. */
export const ConfigKeys = {
  model: Type.Optional(ModelId),
  models: Type.Optional(Type.Object({
    fast: Type.Optional(ModelId),
    vision: Type.Optional(ModelId),
    fallback: Type.Optional(ModelId),
    /** Settings of the model calls of each role. Calls of the role `fast` never reason, so `fast` has no effort. */
    settings: Type.Optional(Type.Object({
      capable: Type.Optional(CallSettings),
      fast: Type.Optional(Type.Omit(CallSettings, ['effort'])),
      vision: Type.Optional(CallSettings)
    }, { additionalProperties: false }))
  })),
  /** Context lengths in tokens, by model id or by provider name. */
  contextWindows: Type.Optional(Type.Record(Type.String({ minLength: 1 }), Type.Integer({ minimum: 1_000, maximum: 100_000_000 }))),
  /** Prices in US dollars per million tokens, by model id or by provider name. */
  prices: Type.Optional(Type.Record(
    Type.String({ minLength: 1 }),
    Type.Object({ input: Dollars, output: Dollars, cachedInput: Type.Optional(Dollars), cacheWrite: Type.Optional(Dollars) })
  )),
  /** Unknown keys are an error here: a misspelt limit would limit nothing. */
  budget: Type.Optional(Type.Object({
    /** The limit for all model calls of one day together. */
    day: Type.Optional(Type.Object({
      usd: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })),
      tokens: Type.Optional(Type.Integer({ minimum: 1 }))
    }, { additionalProperties: false })),
    /** The limit for tasks per day. Once it is reached, runs that nobody started by hand are skipped. */
    tasksPerDay: Type.Optional(Type.Object({
      usd: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000 })),
      tokens: Type.Optional(Type.Integer({ minimum: 1 }))
    }, { additionalProperties: false }))
  }, { additionalProperties: false })),
  mcp: Type.Optional(Type.Array(McpEntrySchema, { maxItems: MOST_SERVERS })),
  /** Tool servers in the format of Claude Desktop and Cursor (`mcpServers`) or VS Code (`servers`). They are read like entries of `mcp`. */
  mcpServers: Type.Optional(ReadmeServers),
  /**
   * The URL at which the distributor of this service publishes its OAuth client metadata. It is the client id for servers that support such
   * documents.
   */
  mcpClientMetadataUrl: Type.Optional(Type.String({
    pattern: '^https://[^\\/?#@\\s]+/[^?#\\s]+$',
    maxLength: 2048,
    description: 'An https address with a path, without user name, query and fragment'
  })),
  servers: Type.Optional(ReadmeServers),
  workspace: Type.Optional(Type.String({ minLength: 1 })),
  port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
  /** Providers that the service calls directly, by name. The name is the part of a model id before the slash. */
  providers: Type.Optional(Type.Record(
    Type.String({ pattern: PROVIDER_NAME }),
    Type.Object({
      kind: Type.Optional(
        oneOf(
          ['openai-compatible', 'openai', 'anthropic', 'google'],
          'The API that the server speaks; openai-compatible by default'
        )
      ),
      /** Required for openai-compatible; the other kinds have a default. */
      baseURL: Type.Optional(HttpAddress),
      /** The value can hold `${VAR}`, which refers to an environment variable. */
      apiKey: Type.Optional(Type.String()),
      models: Type.Optional(Type.Array(ModelName)),
      /** Paths of model files; only for the provider `local`. `~` is the user's home. */
      files: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 200 })),
      /** The context length with which model files are served, in tokens; by default, the largest that fits this computer. */
      window: Type.Optional(Type.Integer({ minimum: 512, maximum: 10_000_000 })),
      /**
       * True for a server on the user's own computer that handles one request at a time, such as Ollama. By default, true for the servers
       * known to do so.
       */
      local: Type.Optional(Type.Boolean()),
      timeouts: Type.Optional(Timeouts)
    }),
    {
      additionalProperties: false,
      propertyNames: {
        pattern: PROVIDER_NAME,
        description: 'Up to 64 letters, digits, dots, dashes and underscores; offline and gateway are reserved'
      }
    }
  )),
  /** The path of `llama-server`, the server of llama.cpp, which serves model files; by default, the one in `engine/` or on the PATH. */
  engine: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
  /** Options for every model call, by the provider name that the AI SDK packages use, such as `anthropic`. */
  providerOptions: Type.Optional(Type.Record(Type.String({ minLength: 1 }), Type.Record(Type.String(), Type.Any()))),
  notify: Type.Optional(Type.Object({
    /** Receives the notifications that no shell and no page shows. */
    webhook: Type.Optional(Type.Object({
      url: McpUrl,
      /** `secret:notify/webhook` refers to the value in the encrypted store, `${VAR}` to an environment variable. */
      secret: Type.String({
        pattern: '^(?:secret:notify/webhook|\\$\\{[A-Za-z0-9_]+\\}|(?:whsec_)?[A-Za-z0-9+\\/_\\-]{24,}={0,2})$',
        description: 'The key that signs messages: base64 of at least 18 bytes, as `openssl rand -base64 32` makes it; or a variable'
      }),
      /** True to include the names of tasks and the texts of models. */
      text: Type.Optional(Type.Boolean())
    }, { additionalProperties: false }))
  }, { additionalProperties: false })),
  /** The port on which paired devices decide approvals. Without this key, no such port is open. */
  reach: Type.Optional(Type.Object({
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65535 })),
    /** A host other than loopback requires `address`. */
    host: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9.:_\\-]{1,253}$', description: 'An address or a name, such as 127.0.0.1' })),
    /** The https address of the server, with a certificate, in front of the port. */
    address: Type.Optional(Type.String({
      pattern: '^https://[A-Za-z0-9._\\-]{1,253}(?::[0-9]{1,5})?/?$',
      description: 'The https address in front of the port, such as https://agent.example.org, without a path'
    }))
  }, { additionalProperties: false })),
  discovery: Type.Optional(Type.Object({
    /** Ports of this computer on which `GET /models?discover=true` looks for model servers. */
    ports: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 65535 }), { maxItems: 16 }))
  })),
  gateway: Type.Optional(Type.Object({ baseURL: Type.Optional(Type.String()), timeouts: Type.Optional(Timeouts) })),
  fetch: Type.Optional(Type.Object({
    /** True if fetchUrl is allowed to fetch pages of this computer and its private network. */
    allowPrivate: Type.Optional(Type.Boolean())
  })),
  search: Type.Optional(Type.Object({
    provider: oneOf(['duckduckgo', 'tavily', 'brave', 'searxng']),
    /** The value can hold `${VAR}`, which refers to an environment variable. */
    apiKey: Type.Optional(Type.String()),
    baseURL: Type.Optional(HttpAddress)
  })),
  permissions: Type.Optional(Type.Record(Type.String(), oneOf(['allow', 'ask', 'deny']))),
  commands: Type.Optional(Type.Object({
    sandbox: Type.Optional(
      oneOf(['auto', 'required', 'off'], {
        description: 'auto: commands run in a box where one can be had, unless a call asks to run outside; required: in a box or not at all'
      })
    )
  }, { additionalProperties: false })),
  skills: Type.Optional(Type.Object({
    /** Folders of skills, in addition to those in working folders. */
    folders: Type.Optional(Type.Array(AbsolutePath, { maxItems: 20 })),
    /** `false` switches skills off. */
    enabled: Type.Optional(Type.Boolean())
  }, { additionalProperties: false })),
  roots: Type.Optional(Type.Array(AbsolutePath)),
  allowedOrigins: Type.Optional(Type.Array(Type.String({
    pattern: '^[a-z][a-z0-9+.\\-]*://[^\\/\\s]+$',
    description: 'An origin as browsers send it, such as app://my.app or http://localhost:5173, without a path'
  }))),
  limits: Type.Optional(Type.Object({
    liveRuns: Type.Optional(Type.Integer({ minimum: 1, maximum: 1024 }))
  })),
  tasks: Type.Optional(Type.Object({
    /** The maximum number of task runs that execute at the same time. */
    concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 16 })),
    /** How long an approval request of a task stays open, in milliseconds. */
    approvalTtl: Type.Optional(Type.Integer({ minimum: 1000 }))
  })),
  brain: Type.Optional(Type.Object({
    /**
     * How long a thread must be idle before facts are extracted from it, in milliseconds. With `false`, facts are extracted only on
     * request.
     */
    extractAfter: Type.Optional(Type.Union([Type.Literal(false), Type.Integer({ minimum: 1000 })]))
  })),
  undo: Type.Optional(Type.Object({
    /** The largest file that undo keeps a copy of, in MiB. Larger files are changed without a copy. */
    maxFileMb: Type.Optional(Type.Integer({ minimum: 0, maximum: 1024 })),
    /** The maximum size of all copies together, in MiB. The oldest copies are removed first. */
    maxTotalMb: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000 })),
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 }))
  })),
  threads: Type.Optional(Type.Object({
    /** With `false`, titles are made without a model. */
    titles: Type.Optional(Type.Boolean())
  })),
  agent: Type.Optional(Type.Object({
    /**
     * The maximum number of steps with tools of a run, unless its options say otherwise; by default, 100 in conversations and 200 in tasks.
     */
    steps: Type.Optional(Type.Object({ conversation: Type.Optional(Steps), task: Type.Optional(Steps) })),
    /** How long a run may work, in milliseconds, without its waits for people; 4 hours by default. */
    runMs: Type.Optional(Type.Integer({ minimum: 1000 }))
  })),
  awake: Type.Optional(Type.Boolean({ description: 'false: the machine may fall asleep while the agent works' })),
  /** With `false`, requests are not analysed before a run, and each counts as standard. */
  analysis: Type.Optional(Type.Boolean()),
  offline: Type.Optional(Type.Object({ script: Type.Optional(Type.Array(ScriptedTurn)) })),
  log: Type.Optional(Type.Object({
    level: Type.Optional(oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])),
    file: Type.Optional(
      Type.Union([Type.Boolean(), Type.String({ minLength: 1 })], {
        description: 'A file that gets the log, too; true: logs/local-agent.log in the configuration directory'
      })
    ),
    maxBytes: Type.Optional(Type.Integer({
      minimum: 65_536,
      maximum: 1_073_741_824,
      description: 'Size of a file, bytes; by default 10 MiB'
    })),
    keep: Type.Optional(Type.Integer({ minimum: 0, maximum: 100, description: 'Number of older files that are kept; by default 5' }))
  }))
}

/** The content of `{config_dir}/config.json`. */
export const ConfigSchema = Type.Object(ConfigKeys, { $id: 'Config', additionalProperties: true })
export type Config = Static<typeof ConfigSchema>
