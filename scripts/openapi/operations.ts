/** Descriptions of operations by operationId: facts for callers that the summary does not contain. */
export const DESCRIPTIONS: Record<string, string> = {
  about: 'Needs no model and no provider. `endpoints` comes from the routes themselves, so it is always complete.',
  health: 'Needs no token, and answers 200 also while a part is degraded; `checks` names the part.',
  ready: 'Answers 503 while the service starts and while it shuts down. Use `/health` to decide whether the process must be restarted.',
  getConfig: 'Keys, tokens and values of `env` are masked. The answer is what is in effect, also after a reload that was refused.',
  patchConfig: 'The change is on disk when it is answered, and in effect but for the keys in `restart`. What was edited in the file by ' +
    'hand meanwhile is kept; a file that cannot be read is a 409. Keys that decide what the agent may do, whom the service trusts, which ' +
    'addresses it calls or which paths it uses are a 403 where the service has no token. Those who read `/events` get `config:changed`.',
  reloadConfig: 'For a change by hand. Only a change of the port needs a restart.',
  getOpenapi: 'Clients can be generated from it. Later versions add fields, operations and event types, and remove none.',
  getDocs: 'The page loads nothing from other hosts. It asks for the token before it reads `/openapi.json`.',
  getDocsFile: 'Only the files that the page itself names exist. They hold no data and need no token.',
  getConsole: 'It loads nothing from other hosts, and asks for the token when the service needs one.',
  getConsolePage: 'All addresses of the console answer with the same page, which reads its address.',
  getConsoleItem: 'All addresses of the console answer with the same page, which reads its address.',
  getConsoleFile: 'The names hold a digest of the content, so that browsers keep the files.',

  run: 'The stream is the answer: events arrive while the agent works, and the last is `finish`. A tool call that needs approval, a ' +
    'question or a call of an application\'s tool ends the stream with `finishReason` "tool-calls"; the run then waits on disk. ' +
    'Without `resumable` a run ends with its reader. Repeat the request only with an `Idempotency-Key`: it would start a second run. ' +
    'With `dryRun` the run is rehearsed: it has a sheet (`GET /runs/{runId}/sheet`), and the conversation holds nothing of it. ' +
    'With a key the run is resumable, and the same request again, within 24 hours, reads the stream of the first one: live, or replayed.',
  approveRun: 'For clients that hold the conversation: the decisions are the last message. The analysis is not repeated; the answer ' +
    'streams the rest of the run. `POST /approvals/{id}` decides without the conversation.',
  runSync: 'The same work as `/run`, answered when the run ends or waits. A run that waits is answered too, with what it waits for. ' +
    'A failure is an HTTP error with the sentence of the run.',
  followRun: 'For a page that was reloaded, or a second reader. Reading does not keep the run alive; a resumable run ' +
    'needs no reader.' +
    ' A chat client (`ui`, `ui5`) gets the whole message. A run that a kill of the service cut goes on for a reader that is back within ' +
    'a minute of the next start. After that it is replayed as far as it was stored, ' +
    'and ends with `error` (code ERR_INTERRUPTED) and `finish`, until the next message of its thread; by its own id any run is replayed. ' +
    'A reader that sends the `id:` of the last event it has got as Last-Event-ID gets what follows, also of a run that has ended ' +
    'meanwhile, or 204 if nothing does. After a kill of the service the ids are unknown: the answer begins with `start` again.',
  stopRun: 'The run ends with the event `abort`; what it did until then stays.',
  steerRun: 'The message is on disk when this is answered, and a part of the conversation. A run that waits reads it when it goes on; a ' +
    'run that is about to end reads it first. If the run stops or fails before a step has answered it, it is `unread`: the model gets it ' +
    'with the next message, and the thread calls it `read` then. 404 (ERR_NO_LIVE_RUN) when no step follows: send it as a ' +
    'message. The same message with the same `id` takes effect once; with other words it is refused (409, ' +
    'ERR_STEERING_ID_USED).',

  listChatModels: 'Errors of the operations under `/v1` are in the shape of OpenAI. The token of the service is the API key.',
  getChatModel: 'A model that its provider does not list is a 404 here, and can be used if its provider is configured.',
  createResponse: 'Stateless: `input` is the whole conversation, and what names a stored one (`previous_response_id`, `conversation`) is ' +
    'refused. Otherwise as a chat completion. The events of a stream are in the order of OpenAI.',
  createChatCompletion: 'A run as that of `POST /run` without `id`: it finds its conversation by the messages. Nobody is asked: what ' +
    'would wait for a person is denied at once, and a note at the end of the answer says so. `tools` are executed by the caller: a call ' +
    'ends the answer with `tool_calls`, and messages with role `tool` go on. The run ends when its client goes away.',

  listApprovals: 'The inbox: everything that waits for a person. With `state=decided` what became of requests in the last year, with a ' +
    'digest of the input instead of the input.',
  previewCorrection: 'An input is checked as the tool checks it; 400 says what is wrong. Nothing is changed: a command runs in the box, ' +
    'without network and over a layer that is thrown away, for 30 s at most, and `ran` says how it ended. Ask for it when a person does.',
  acceptToolServer: 'The tools are pinned as they are now. One that is new, or whose description, schema or hints change, asks until it ' +
    'is accepted again. Tools that do not say that they only read go on asking. `digest` is that of `GET /mcp/servers/:name` as a person ' +
    'was shown it: tools that have changed since are not accepted (409).',
  takeBackToolServer: 'The server waits for its user in the inbox again, also for tools that were declined. Repeating it changes nothing.',
  eraseAll: 'Nothing can be restored. The store with its keys and copies, the copies for undo and the logs are removed; `stays` names ' +
    'what is left. A kill in between is finished at the next start. The service restarts in the same process.',
  previewApproval: 'Nothing is changed, and nothing is read that the tool itself may not read. Tools of servers have no preview; ' +
    'commands are tried out by POST.',
  decideApproval: 'Calls, results and servers are `approved` or not, questions get `answers`, and a request of kind `task` a `choice`. ' +
    'The first decision counts; the same one again is answered as the first was, another with 409. The run goes on ' +
    'when the last open item of its step is decided, whichever operation decided the others.',
  listBufferRequests: 'For editors in which the user works on the files of the conversation. Ask again at once after each answer, with ' +
    '`waitMs`, while the agent may work: an editor counts as open until two seconds after its last request. Each request is for a file ' +
    'that the agent reads or is about to change. What the editor shows is read in its place, and a file with changes that are not ' +
    'saved is not changed.',
  answerBufferRequest: 'Within two seconds; then the file counts as saved.',
  listCommands: 'What the agent has started with `background`, such as servers: of every conversation and run of a task, with the ports ' +
    'that can be reached at 127.0.0.1.',
  stopCommand: 'What it changed in its folder is then known and can be undone with its run.',
  listPrompts: 'For your user to choose from: send the chosen one as `prompt` of `POST /run`. A server that is not connected has none in ' +
    'the list, and one that does not answer within 5 s is named in `failed`.',
  listSkills: 'Those in `.agents/skills` and `.claude/skills` of the folder and in `skills.folders` of config.json; docs/skills.md says ' +
    'how they are used. A folder with a SKILL.md that cannot be used is listed with the reason.',
  getFolder: 'For a person who looks for a folder: the names of folders, and where links lead; files are neither named nor counted. A ' +
    'folder that may not be read or used has a `problem` and no `folders`. Of a large one the answer holds the first `limit`, by name, ' +
    'and says how many are left out: `prefix` finds them. A drive that does not answer within 10 s is a 504.',
  listFolderPlaces: 'Folders that are not there any more are left out of `recent`.',
  acceptSkill: 'Look at its files first: its text becomes instructions for the agent, also in the runs of tasks, which nobody watches. A ' +
    'skill that is not as `digest` says is not accepted (409).',
  listResources: 'For people and applications; the agent has tools for them. A server that does not answer within 5 s is named in ' +
    '`failed`.',
  readResource: 'A server that is not connected, has no such resource or does not answer within 30 s is a 502 with the reason.',
  listNotifications: 'One for each thing, with a reminder after a day. Read it when a connection to `/events` begins, for what is open ' +
    'by then; `needsShowing` says that it is on no screen yet.',
  showNotification: 'Say so before it is shown, and show it when `first` is true: so one of several pages and shells does. What nobody ' +
    'shows within 5 s goes to the webhook of config.json.',
  listToolCalls: 'Calls of tools that `options.appTools` gave to runs. One that needs approval is listed when it was approved.',
  answerToolCall: 'A claim lasts 60 s and is renewed by the same claim; one that is not makes the call `unknown`, and it is never handed ' +
    'out again. The result is data to the model, not instructions. When it was the last open item of its step, the run goes on.',
  listDevices: 'A device is paired with the code that `local-agent reach` shows. It decides at a port of its own, once or not at all.',
  removeDevice: 'What it decided stays decided. It can be paired again, with a new code.',
  listGrants: 'Each names what it covers in words, and how often it was used.',
  addGrant: 'Nothing wider than the scope that the service would offer for such a call can be granted. Commands need a service that was ' +
    'started with a token. `sheet` and `lines` accept lines of the sheet of a rehearsal, all or none; the answer is their `grants`.',
  removeGrant: 'Later calls ask again. A call that already runs is not stopped.',

  listAgents: 'An agent is a set of options under a name. Conversations (`settings.agent`), requests and tasks (`options.agent`) name it.',
  getAgent: 'A run that has begun keeps what it was given, and shows it in `options`.',
  putAgent: 'The options are checked as those of a request are. Runs that begin later have them; a body without a field removes it.',
  deleteAgent: 'Answers 409 while a conversation or a task has it, and names them in `details`. Runs that have begun keep what they have.',

  addAttachment: 'The body is the file itself, of any type, at most 25 MiB. A message names it in a file part; what no message names ' +
    'goes after a day, and the rest with the last conversation that names it. The same content is stored once.',
  getAttachment: 'A download with the name of its first upload. Pictures have their media type, all else is application/octet-stream.',

  listThreads: 'Threads are listed without their messages. Use `cursor` with `nextCursor` of the previous page.',
  searchThreads: 'Every text that was said is searched, also one of a moment ago; reasoning, tools and files are not. A page takes less ' +
    'than a second: it may be short, or empty, while `nextCursor` leads on.',
  createThread: 'Runs create their threads themselves; this operation imports a conversation, or names one before its first message.',
  deleteThreads: 'Active runs are stopped first. This cannot be undone.',
  getThread: 'The newest messages come first by page and in order within one; `cursor` reads earlier ones. With `protocol=ui` a chat of ' +
    'the AI SDK can begin with them, whichever client wrote them: their ids are those that streams gave.',
  putThread: 'Title, settings and metadata may change while a run is active, and settings count from the next run on; messages may not. ' +
    'Messages that are absent stay. Messages that were read, with or without `protocol`, and are sent back unchanged stay as they are ' +
    'stored; with nothing changed, open approvals stay open.',
  deleteThread: 'What was learned from it stays in the brain and can be erased there.',
  extractFacts: 'The service does this itself when a thread has been idle. What is found is proposed or stored as the settings say.',

  taskEvents: 'Never ends by itself and replays nothing: read `GET /tasks` first for the state. `/events` has ids and can be resumed.',
  taskDigest: 'Meant for a summary at the start of the day: what ended, what failed, what waits and what comes next.',
  seeTaskDigest: 'One place for each reader, whichever device it is on. It never goes back, so that a stale page hides nothing.',
  listTasks: 'Use `status` and `type` to select, and `cursor` with `nextCursor` of the previous page.',
  previewSchedule: 'Nothing is stored or run. The same texts are understood by `schedule.interval` and in conversations; times are those ' +
    'of a task that is started now.',
  createTask: 'The plan is written by the model unless the body has one. The task does nothing before it is started; `start: true` ' +
    'starts it at once. A repeated `Idempotency-Key` gets the first answer.',
  getTask: 'The whole state: goal, plan, schedule, memory, comments and history of approvals.',
  updateTask: 'Only the given fields change. A changed goal or plan ends the grants of the task.',
  getTaskMemory: 'Findings, decisions, sources and files of earlier runs, and what the user said of them. Later runs are told of it.',
  replaceTaskMemory: 'The lists that are given take the place of those of the memory; the feedback of the user stays.',
  clearTaskMemory: 'Also the feedback of the user. It cannot be undone; the runs stay, with their reports.',
  deleteTask: 'Its runs, approvals and grants go with it. This cannot be undone.',
  startTask: 'A task with a schedule waits for its next time; one without begins to run. `schedule.in` is counted from here; a `once` in ' +
    'the past is a 400.',
  pauseTask: 'The run that is under way is stopped and recorded; the schedule rests.',
  resumeTask: 'A task with a schedule waits for its next time again.',
  cancelTask: 'The task stays, with its runs, and can be started again.',
  runTask: 'Also for a task without a schedule; the single time of a one_shot is then used up. `input` is for this run alone: its ' +
    'model gets it as data, not as instructions, and `GET /tasks/{id}/runs/{runId}` shows it. Without `input`, a run that waits for ' +
    'its model provider goes on at once, and the newest run that was ended because of it goes on from its last step. A repeated ' +
    '`Idempotency-Key` gets the first answer.',
  rehearseTask: 'A run in which nobody is asked, with the trigger `rehearsal`; it has no number, and counts in usage alone. File tools ' +
    'and commands in the box work on a copy of the folder; any other call with an effect is not made, and its model is told so. ' +
    '`GET /runs/{runId}?waitMs=` waits for its end, `POST /run/{runId}/stop` ends it, `GET /runs/{runId}/sheet` says what was shown. ' +
    'At most two go on at once.',
  listRehearsals: 'The newest ten are kept.',
  steerTask: 'All comments are told to later runs. With `runNow` a run is queued at once.',
  approveTask: '`notes` are told to later runs. `POST /approvals/{id}` does the same by the id of the approval alone.',
  listTaskRuns: 'Use `cursor` with `nextCursor` of the previous page.',
  getTaskRun: 'Also while the run is under way. A restart of the service loses nothing of it.',
  cancelTaskRun: 'The run ends as cancelled; the task stays as it is.',
  listFirings: 'The state of a trigger says why it does not fire, as of a folder with more than 20,000 files. Use `cursor` with ' +
    '`nextCursor` of the previous page.',
  getTaskSchedule: 'Times are computed in the time zone of the schedule, over changes of daylight saving time.',

  listRuns: 'Runs of conversations and of tasks in one shape. Inputs and outputs of calls are shortened; a single run has them whole.',
  getRun: 'With `waitMs` the answer comes when the run is over, or waits for a person or for the application, or when the time is over.',
  events: '`Last-Event-ID`, or `after`, resumes after an event of the last 10,000; when it is no longer known, as ' +
    'after a restart, a `reset` comes first: read the lists again. With a token, read it by fetch; the client of this package does.',
  listChanges: 'Changes by file tools have their differences; commands are named as not covered. An undo has changes of its own.',
  recordRun: 'Keep the file in the repository of an app: `local-agent test <file>` replays it without key or network. docs/recordings.md.',
  getSheet: 'Of each line one of its `scopes` may be accepted, by `POST /grants {sheet, lines}`. Lines with `guess` follow a call whose ' +
    'outcome nobody knows. A changed goal, plan or folder makes the sheet void, a changed tool its lines.',
  applyRun: 'For runs with `options.workspace` "copy". What the copy of the conversation has by now is made in the folder, of all its ' +
    'runs; `dryRun` lists it. A path that somebody changed in the folder after it was copied stays as it is, and is named with the ' +
    'reason, unless it is as in the copy. What is replaced can be had back by the `applyId`.',
  undoRun: 'Files that are no longer as the run left them are not touched, and are named with the reason.',

  getBrain: '`contextPreview` is the text that models are told, to the letter.',
  clearBrain: 'Cannot be undone. Threads stay as they are.',
  listFacts: 'Proposed and replaced entries have a `state` of their own.',
  changeFact: 'What the user has edited or pinned is not replaced by what is learned later, unless the user accepts a proposal.',
  deleteFact: 'The same statement is not learned again from the same words.',
  learnFact: 'For facts that the user states in the application itself; nothing learned replaces them unasked.',
  forgetFact: 'The text must equal the stored fact; 404 says that none does.',
  setPreference: 'A value of the same key is overwritten. Runs that begin later are told of it.',
  deletePreference: 'The key must equal the stored one; 404 says that none does.',

  listProviders: '`configured` says whether a provider has what it needs, and not whether it can be reached: `POST /providers/test` does.',
  configureProviders: 'Keys are stored encrypted and are never answered; `POST /providers/test` tries one before. A model without a key ' +
    'is accepted, with a `warning`.',
  listModels: 'A provider that cannot be asked is named in `errors`; the others are listed all the same.',
  testProvider: 'A model that fails is an answer with `ok: false` and a sentence, and no HTTP error. The call costs a few tokens. A key ' +
    'in the body is tried and not stored.',

  listToolServers: 'Servers that are not connected are listed with the reason, and are connected again by themselves.',
  getToolServer: 'What the server says of itself is its own text, and not checked.',
  connectToolServer: 'The program runs as the user of the service. Values of `env` are stored encrypted.',
  importToolServers: 'An entry is saved whole or not at all, and all that are saved are saved together. Their connections are not ' +
    'awaited: `GET /mcp/servers` tells them. Values of `env` and `headers`, and secrets among `args` and in `url`, are stored encrypted.',
  configureToolServer: 'Applied without a restart of the server, but for `enabled`, which starts or stops it.',
  disconnectToolServer: 'Its process and the children of it are ended. Runs that are under way get an error for its tools.',

  listVersions: 'A version is made when a request to `/run` sends a message of the user in the place of one of the thread, or the same ' +
    'one for another answer. At most 20 are kept of a message, 200 of a thread, and 8 MiB beside the newest; they are deleted with it.',
  getVersion: 'The first message is what the user said; its answer and all that followed come after it.',
  restoreVersion: 'Nothing is lost: what the thread has in that place becomes an earlier version itself. No model is called. What waits ' +
    'for a person in the conversation is withdrawn; while a run is under way, it is a 409. Readers of `/events` get `thread:changed`.',
  getUsage: 'Days are those of the time zone of this machine. A model without a known price has tokens and no cost.',
  exportAll: 'The passphrase is sent as header `x-export-passphrase`; without it the file cannot be read again.',
  importAll: 'All current data is replaced, after the file was checked as a whole. A failure changes nothing. Without a ' +
    'token, the keys of config.json that `PATCH /config` refuses then stay as they are: the answer names them in `kept`.',
  checkImport: 'For a person who decides about an import: the whole file is decrypted and checked, as an import does it, and its records ' +
    'are counted beside those of the service. The file is sent again to import it. One import or check at a time (409).',
  importProgress: 'Ask each half second while a large backup is imported or checked. While the service starts with it, there is no answer.'
}
